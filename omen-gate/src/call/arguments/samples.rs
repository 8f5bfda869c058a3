//! Sample values for testing rules: for each combination of results that a value can have, some values with that
//! combination.

mod arrays;
mod commands;
mod product;
mod texts;

use std::collections::BTreeSet;
use std::path::Path;

use omen_order::Fit;
use omen_types::pointer::steps;
use serde_json::{Map, Value, json};

use super::number::is_exact;
use super::pointer::PointerStep;
use super::rule::{ArgumentTest, Rule};
use super::rules::ArgumentRules;
use super::rules_test::RulesTest;

/// Maximum length of a sample.
const MAX_LENGTH: u32 = 4096;

impl ArgumentRules {
    /// Pointers of the values of which there are samples: those of the rules, up to a `*`.
    ///
    /// # Errors
    /// If the values cannot be sampled, with the reason.
    pub(crate) fn sampled(&self) -> Result<Vec<&str>, String> {
        let pointers = self.places().into_iter().map(|place| {
            let arrays = place.steps().iter().filter(|step| **step == PointerStep::Each).count();
            if arrays > 1 { Err(format!("`{place}` leads through several arrays")) } else { Ok(place.above_each()) }
        });
        pointers.collect()
    }

    fn at<'r>(&'r self, pointer: &'r str) -> impl Iterator<Item = &'r Rule> {
        self.all().iter().filter(move |rule| rule.place.above_each() == pointer)
    }
}

/// Classes of values at places that are compared with each other: each rule of the places takes all values of a class
/// alike. A class has `distinct` values, or all that there are. If integers are wanted, those from 0 on have classes of their own, in
/// which the wanted ones come first, the largest one and the smallest one.
///
/// # Errors
/// Why they cannot be represented.
pub(crate) fn samples(
    places: &[(&str, &RulesTest)],
    distinct: usize,
    wanted: &[i64],
) -> Result<Vec<Vec<Option<Value>>>, String> {
    let rules = places.iter().copied();
    let rules: Vec<_> =
        rules.flat_map(|(pointer, test)| test.rules().at(pointer).map(|rule| (rule, test.folder()))).collect();
    let mut known = BTreeSet::new();
    let mut classes: Vec<(Vec<Fit>, u8, Vec<Option<Value>>)> = Vec::new();
    let (of_value, of_elements): (Vec<_>, Vec<_>) =
        rules.iter().copied().partition(|(rule, _)| rule.place.below_each().is_empty());
    let lengths = around(&of_value)?;
    let listed = of_value.iter().flat_map(|(rule, _)| &rule.tests).filter(|test| test.is_list()).count();
    let arrays = arrays::arrays(&of_elements, &lengths, listed + 1)?;
    let amounts = wanted.iter().filter(|number| is_exact(**number)).map(|number| Some(Value::from(*number)));
    let values = candidates(&of_value, distinct)?.into_iter().chain(arrays.into_iter().map(Some)).chain(amounts);
    let amount = |value: &Option<Value>| {
        value.as_ref().and_then(Value::as_i64).filter(|number| *number >= 0 && is_exact(*number))
    };
    for value in values {
        if !known.insert(value.as_ref().map(ToString::to_string)) {
            continue;
        }
        let results: Vec<_> = rules.iter().map(|(rule, folder)| result(rule, value.as_ref(), folder)).collect();
        let kind = match &value {
            None => 0,
            Some(_) if !wanted.is_empty() && amount(&value).is_some() => 3,
            Some(Value::String(_) | Value::Bool(_)) => 1,
            Some(Value::Number(number)) if number.as_i64().is_some_and(is_exact) => 1,
            Some(_) => 2,
        };
        match classes.iter_mut().find(|class| class.0 == results && class.1 == kind) {
            Some((_, kind, class)) if class.len() < distinct || *kind == 3 => class.push(value),
            Some(_) => {}
            None => classes.push((results, kind, vec![value])),
        }
    }
    for (.., class) in classes.iter_mut().filter(|(_, kind, _)| *kind == 3) {
        let numbers: BTreeSet<_> = class.iter().filter_map(amount).collect();
        let ends = numbers.last().into_iter().chain(numbers.first());
        let first = wanted.iter().filter(|number| numbers.contains(number)).chain(ends).copied();
        let mut known = BTreeSet::new();
        let ordered = first.chain(numbers.iter().copied()).filter(|number| known.insert(*number));
        *class = ordered.take(distinct.max(wanted.len() + 2)).map(|number| Some(number.into())).collect();
    }
    Ok(classes.into_iter().map(|(.., class)| class).collect())
}

/// Result of a rule for the value at its pointer, or for the array.
fn result(rule: &Rule, value: Option<&Value>, folder: &Path) -> Fit {
    rule.fit(&value.map(|value| nested(rule, value)).unwrap_or_default(), folder)
}

/// Arguments with a value at the pointer of a rule, or the array.
fn nested(rule: &Rule, value: &Value) -> Map<String, Value> {
    let mut args = value.clone();
    let steps: Vec<_> = steps(rule.place.above_each()).collect();
    for step in steps.iter().rev() {
        args = Value::Object(Map::from_iter([(step.clone().into_owned(), args)]));
    }
    args.as_object().cloned().unwrap_or_default()
}

/// Lengths at which results change, with those beside them.
fn around(rules: &[(&Rule, &Path)]) -> Result<BTreeSet<u32>, String> {
    let mut lengths = BTreeSet::from([1u32]);
    for test in rules.iter().flat_map(|(rule, _)| &rule.tests) {
        if let ArgumentTest::Length(length) = test {
            lengths.insert(0);
            lengths.extend([length.min, length.max].into_iter().flatten());
        }
    }
    if let Some(long) = lengths.iter().find(|length| **length > MAX_LENGTH) {
        return Err(format!("a length of {long} is above {MAX_LENGTH}"));
    }
    Ok(lengths.iter().flat_map(|length| [length.saturating_sub(1), *length, length + 1]).collect())
}

impl ArgumentTest {
    /// Whether the test lists the values that pass.
    fn is_list(&self) -> bool {
        matches!(self, Self::In(_) | Self::Equals(_))
    }

    /// Whether the test is about texts, and not about commands.
    fn is_of_texts(&self) -> bool {
        matches!(self, Self::Matches(_) | Self::Host(_) | Self::Under(_) | Self::Length(_))
    }
}

/// Values among which each combination of results is, often enough.
fn candidates(rules: &[(&Rule, &Path)], distinct: usize) -> Result<Vec<Option<Value>>, String> {
    let mut listed = Vec::new();
    // Integers at which results change.
    let mut cuts = BTreeSet::from([0i64]);
    let mut commands = Vec::new();
    for (rule, folder) in rules {
        for test in &rule.tests {
            match test {
                ArgumentTest::In(values) => listed.extend(values.iter().cloned()),
                ArgumentTest::Equals(value) => listed.push(value.clone()),
                ArgumentTest::Min(bound) | ArgumentTest::Max(bound) => drop(cuts.insert(*bound)),
                ArgumentTest::Command(command) => commands.push((command, *folder)),
                ArgumentTest::Length(_)
                | ArgumentTest::Absent
                | ArgumentTest::Matches(_)
                | ArgumentTest::Host(_)
                | ArgumentTest::Under(_) => {}
            }
        }
    }
    let around = around(rules)?;
    cuts.extend(listed.iter().filter_map(Value::as_i64));
    let needed = distinct + listed.len();
    let mut values: Vec<_> = listed.into_iter().map(Some).collect();
    let tests: Vec<_> = rules.iter().flat_map(|(rule, folder)| rule.tests.iter().map(|test| (test, *folder))).collect();
    let texts = match commands.is_empty() {
        true => texts::texts(&tests, needed, distinct)?.unwrap_or_else(|| {
            around.iter().flat_map(|length| (0..needed).map_while(|index| text(*length as usize, index))).collect()
        }),
        false => match tests.iter().map(|(test, _)| test).find(|test| test.is_of_texts()) {
            Some(test) => return Err(format!("`{}` beside `command` is not compared", test.key())),
            None => commands::lines(&commands, needed)?,
        },
    };
    values.extend(texts.into_iter().map(|text| Some(Value::String(text))));
    let reach = i64::try_from(needed).unwrap_or(i64::MAX);
    for cut in cuts {
        let near = (cut.saturating_sub(reach)..=cut.saturating_add(reach)).filter(|number| is_exact(*number));
        values.extend(near.map(|number| Some(number.into())));
    }
    values.extend([json!(true), json!(false), Value::Null, json!(0.5), json!({})].map(Some));
    values.extend(around.iter().map(|length| Some(Value::Array(vec![Value::Null; *length as usize]))));
    values.push(None);
    Ok(values)
}

/// Returns the text at an index among the samples of one length; `None` if there are fewer.
fn text(length: usize, index: usize) -> Option<String> {
    let Some(rest) = length.checked_sub(1) else { return (index == 0).then(String::new) };
    let last = char::from_u32(u32::try_from(index).ok()?.checked_add('a'.into())?)?;
    Some("x".repeat(rest) + &last.to_string())
}
