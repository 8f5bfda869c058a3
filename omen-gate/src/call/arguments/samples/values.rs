//! Values that produce each combination of rule results often enough.

use std::collections::BTreeSet;
use std::path::Path;

use omen_order::Fit;
use omen_types::pointer::steps;
use serde_json::{Map, Value, json};

use super::{commands, texts};
use crate::call::arguments::number::is_exact;
use crate::call::arguments::rule::{ArgumentTest, Rule};

/// Maximum length of a sample.
const MAX_LENGTH: u32 = 4096;

/// Result of a rule for the value at its pointer, or for the array.
pub(super) fn result(rule: &Rule, value: Option<&Value>, folder: &Path) -> Fit {
    rule.fit(&value.map(|value| nested(rule, value)).unwrap_or_default(), folder)
}

/// Arguments with a value at the pointer of a rule, or the array.
pub(super) fn nested(rule: &Rule, value: &Value) -> Map<String, Value> {
    let mut args = value.clone();
    let steps: Vec<_> = steps(rule.place.above_each()).collect();
    for step in steps.iter().rev() {
        args = Value::Object(Map::from_iter([(step.clone().into_owned(), args)]));
    }
    args.as_object().cloned().unwrap_or_default()
}

/// Lengths at which results change, with those beside them.
pub(super) fn around(rules: &[(&Rule, &Path)]) -> Result<BTreeSet<u32>, String> {
    let mut lengths = BTreeSet::from([1u32]);
    for test in rules.iter().flat_map(|(rule, _)| &rule.tests) {
        if let ArgumentTest::Length(length) = test {
            lengths.insert(0);
            lengths.extend([length.min, length.max].into_iter().flatten());
        }
    }
    if let Some(long) = lengths.iter().find(|length| **length > MAX_LENGTH) {
        return Err(format!("a length of {long} exceeds {MAX_LENGTH}"));
    }
    Ok(lengths.iter().flat_map(|length| [length.saturating_sub(1), *length, length + 1]).collect())
}

impl ArgumentTest {
    /// Whether the test lists the values that pass.
    pub(super) fn is_list(&self) -> bool {
        matches!(self, Self::In(_) | Self::Equals(_))
    }

    /// Whether the test is about texts, and not about commands.
    fn is_of_texts(&self) -> bool {
        matches!(self, Self::Matches(_) | Self::Host(_) | Self::Under(_) | Self::Length(_))
    }
}

/// Values among which each combination of results is, often enough.
pub(super) fn candidates(rules: &[(&Rule, &Path)], distinct: usize) -> Result<Vec<Option<Value>>, String> {
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
            Some(test) => return Err(format!("`{}` combined with `command` is not compared", test.key())),
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
