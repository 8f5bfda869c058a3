//! Sample values for testing rules: for each combination of results that a value can have, some values with that
//! combination.

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
    /// Returns the pointers of the rules.
    ///
    /// # Errors
    /// If the values cannot be sampled, with the reason.
    pub(crate) fn sampled(&self) -> Result<Vec<&str>, String> {
        let pointers = self.places().into_iter().map(|place| match place.steps().contains(&PointerStep::Each) {
            true => Err(format!("`{place}` leads to every element of an array")),
            false => Ok(place.as_str()),
        });
        pointers.collect()
    }

    fn at<'r>(&'r self, pointer: &'r str) -> impl Iterator<Item = &'r Rule> {
        self.all().iter().filter(move |rule| rule.place.as_str() == pointer)
    }
}

/// Returns classes of values for pointers that are compared with each other: every rule treats all values of a class
/// alike. A class has `distinct` values, or all that exist.
///
/// # Errors
/// If the values cannot be sampled, with the reason.
pub(crate) fn samples(places: &[(&str, &RulesTest)], distinct: usize) -> Result<Vec<Vec<Option<Value>>>, String> {
    let rules = places.iter().copied();
    let rules: Vec<_> =
        rules.flat_map(|(pointer, test)| test.rules().at(pointer).map(|rule| (rule, test.folder()))).collect();
    let mut known = BTreeSet::new();
    let mut classes: Vec<(Vec<Fit>, u8, Vec<Option<Value>>)> = Vec::new();
    for value in candidates(&rules, distinct)? {
        if !known.insert(value.as_ref().map(ToString::to_string)) {
            continue;
        }
        let results: Vec<_> = rules.iter().map(|(rule, folder)| result(rule, value.as_ref(), folder)).collect();
        let kind = match &value {
            None => 0,
            Some(Value::String(_) | Value::Bool(_)) => 1,
            Some(Value::Number(number)) if number.as_i64().is_some_and(is_exact) => 1,
            Some(_) => 2,
        };
        match classes.iter_mut().find(|class| class.0 == results && class.1 == kind) {
            Some((.., class)) if class.len() < distinct => class.push(value),
            Some(_) => {}
            None => classes.push((results, kind, vec![value])),
        }
    }
    Ok(classes.into_iter().map(|(.., class)| class).collect())
}

/// Returns a rule's result for the value at its pointer.
fn result(rule: &Rule, value: Option<&Value>, folder: &Path) -> Fit {
    let mut args = value.cloned();
    let steps: Vec<_> = steps(rule.place.as_str()).collect();
    for step in steps.iter().rev() {
        args = args.map(|value| Value::Object(Map::from_iter([(step.clone().into_owned(), value)])));
    }
    let args = args.and_then(|args| args.as_object().cloned()).unwrap_or_default();
    rule.fit(&args, folder)
}

/// Returns values that include each combination of results, each often enough.
fn candidates(rules: &[(&Rule, &Path)], distinct: usize) -> Result<Vec<Option<Value>>, String> {
    let mut listed = Vec::new();
    // Integers at which results change, and text lengths.
    let (mut cuts, mut lengths) = (BTreeSet::from([0i64]), BTreeSet::from([1u32]));
    for (rule, _) in rules {
        for test in &rule.tests {
            match test {
                ArgumentTest::In(values) => listed.extend(values.iter().cloned()),
                ArgumentTest::Equals(value) => listed.push(value.clone()),
                ArgumentTest::Min(bound) | ArgumentTest::Max(bound) => drop(cuts.insert(*bound)),
                ArgumentTest::Length(length) => {
                    lengths.insert(0);
                    lengths.extend([length.min, length.max].into_iter().flatten());
                }
                ArgumentTest::Absent | ArgumentTest::Matches(_) | ArgumentTest::Host(_) | ArgumentTest::Under(_) => {}
                ArgumentTest::Command(_) => {
                    return Err(format!("`{}` of `{}` is not compared", test.key(), rule.place));
                }
            }
        }
    }
    if let Some(long) = lengths.iter().find(|length| **length > MAX_LENGTH) {
        return Err(format!("a length of {long} is above {MAX_LENGTH}"));
    }
    cuts.extend(listed.iter().filter_map(Value::as_i64));
    let around: BTreeSet<_> =
        lengths.iter().flat_map(|length| [length.saturating_sub(1), *length, length + 1]).collect();
    let needed = distinct + listed.len();
    let mut values: Vec<_> = listed.into_iter().map(Some).collect();
    let tests: Vec<_> = rules.iter().flat_map(|(rule, folder)| rule.tests.iter().map(|test| (test, *folder))).collect();
    let texts = texts::texts(&tests, needed, distinct)?.unwrap_or_else(|| {
        around.iter().flat_map(|length| (0..needed).map_while(|index| text(*length as usize, index))).collect()
    });
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
