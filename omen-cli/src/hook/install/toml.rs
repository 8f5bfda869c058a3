//! Hooks in TOML settings: tables after all others, and members before them.

use std::fmt::Write as _;

use serde_json::Value;
use toml::de::{DeTable, DeValue};

use super::parts::{HOOKS, Parts};
use crate::quoting::toml_string;
use crate::text_edit::Edit;

pub(super) fn value(text: &str) -> Result<Value, String> {
    let table = DeTable::parse(text).map_err(|error| error.message().to_owned())?;
    Ok(table.get_ref().iter().map(|(name, value)| (name.get_ref().to_string(), value_of(value.get_ref()))).collect())
}

/// Numbers and times that JSON does not have keep their text.
fn value_of(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => text.as_ref().into(),
        DeValue::Integer(number) => {
            number.to_string().parse::<i64>().map_or_else(|_| number.to_string().into(), Value::from)
        }
        DeValue::Float(number) => number.to_string().into(),
        DeValue::Boolean(boolean) => (*boolean).into(),
        DeValue::Datetime(time) => time.to_string().into(),
        DeValue::Array(items) => items.iter().map(|item| value_of(item.get_ref())).collect(),
        DeValue::Table(table) => {
            table.iter().map(|(name, value)| (name.get_ref().to_string(), value_of(value.get_ref()))).collect()
        }
    }
}

/// Edits that put in the parts that are missing.
pub(super) fn insert(text: &str, missing: &Parts) -> Vec<Edit> {
    let break_ = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let (mut members, mut tables) = (String::new(), String::new());
    for (name, value) in &missing.members {
        let _ = writeln!(members, "{name} = {}", literal(value));
    }
    for (event, element) in &missing.elements {
        let _ = writeln!(tables, "\n[[{HOOKS}.{event}]]");
        for handler in element.get(HOOKS).and_then(Value::as_array).into_iter().flatten() {
            let _ = writeln!(tables, "[[{HOOKS}.{event}.{HOOKS}]]");
            for (name, value) in handler.as_object().into_iter().flatten() {
                let _ = writeln!(tables, "{name} = {}", literal(value));
            }
        }
    }
    let start = text.len() - text.strip_prefix('\u{feff}').unwrap_or(text).len();
    let first = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    let edits = [Edit::insert(start, members), Edit::insert(text.len(), format!("{first}{tables}"))];
    let written = |edit: Edit| Edit { text: edit.text.replace('\n', break_), ..edit };
    edits.into_iter().map(written).filter(|edit| !edit.text.is_empty()).collect()
}

/// Handlers have strings, numbers and booleans.
fn literal(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), toml_string)
}
