//! TOML text as a JSON value with source positions.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{ConfigError, ConfigErrors, MAX_ERRORS};
use crate::base::bounded;
use crate::base::json::below;

/// TOML text as a JSON value. Dates become strings. Floats become `null`, which the schema rejects because no key
/// accepts a fraction.
pub(super) struct TomlSource<'t> {
    text: &'t str,
    /// Parsed value.
    pub(super) value: Value,
    /// Byte ranges of keys and array items, by JSON pointer.
    places: BTreeMap<String, Range<usize>>,
}

impl<'t> TomlSource<'t> {
    pub(super) fn read(text: &'t str) -> Result<Self, ConfigErrors> {
        let mut source = Self { text, value: Value::Null, places: BTreeMap::new() };
        if text.len() > MAX_BYTES {
            let message = format!("the configuration is longer than {MAX_BYTES} bytes");
            return Err(ConfigErrors(vec![source.whole(message, "shorten it")]));
        }
        let (table, errors) = DeTable::parse_recoverable(text);
        let errors: Vec<_> = errors
            .into_iter()
            .take(MAX_ERRORS)
            .map(|error| {
                let message = format!("invalid TOML: {}", error.message().to_lowercase());
                source.at(error.span(), String::new(), message, "see https://toml.io for the syntax")
            })
            .collect();
        if !errors.is_empty() {
            return Err(ConfigErrors(errors));
        }
        source.value = Value::Object(source.table(table.get_ref(), ""));
        Ok(source)
    }

    /// Creates an error at a part of the value, or at its nearest existing ancestor.
    pub(super) fn error(&self, pointer: &str, message: impl Into<String>, help: impl Into<String>) -> ConfigError {
        let mut place = pointer;
        while !self.places.contains_key(place) && !place.is_empty() {
            place = place.rsplit_once('/').map_or("", |(parent, _)| parent);
        }
        self.at(self.places.get(place).cloned(), path(&self.value, pointer), message, help)
    }

    /// Creates an error about the text as a whole.
    fn whole(&self, message: impl Into<String>, help: impl Into<String>) -> ConfigError {
        self.at(None, String::new(), message, help)
    }

    fn at(
        &self,
        span: Option<Range<usize>>,
        path: String,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> ConfigError {
        let before = span.and_then(|span| self.text.get(..span.start));
        let (line, column) = before.map_or((0, 0), |before| {
            let start = before.rfind('\n').map_or(0, |at| at + 1);
            (before.matches('\n').count() + 1, before.get(start..).unwrap_or_default().chars().count() + 1)
        });
        ConfigError { line, column, path, message: message.into(), help: help.into() }
    }

    fn table(&mut self, table: &DeTable<'_>, pointer: &str) -> Map<String, Value> {
        let mut members = Map::new();
        for (key, value) in table {
            let pointer = below(pointer, key.get_ref());
            self.places.insert(pointer.clone(), key.span());
            members.insert(key.get_ref().to_string(), self.convert(value.get_ref(), &pointer));
        }
        members
    }

    fn convert(&mut self, value: &DeValue<'_>, pointer: &str) -> Value {
        match value {
            DeValue::String(text) => Value::String(text.to_string()),
            DeValue::Boolean(yes) => Value::Bool(*yes),
            DeValue::Datetime(time) => Value::String(time.to_string()),
            DeValue::Table(table) => Value::Object(self.table(table, pointer)),
            DeValue::Float(_) => Value::Null,
            DeValue::Integer(integer) => match i64::from_str_radix(integer.as_str(), integer.radix()) {
                Ok(integer) => integer.into(),
                // Out of every range; an approximation is enough to report that.
                Err(_) => integer.as_str().parse::<f64>().map_or(Value::Null, Value::from),
            },
            DeValue::Array(items) => {
                let item = |(index, item): (usize, &Spanned<DeValue<'_>>)| {
                    let pointer = below(pointer, &index.to_string());
                    self.places.insert(pointer.clone(), item.span());
                    self.convert(item.get_ref(), &pointer)
                };
                Value::Array(items.iter().enumerate().map(item).collect())
            }
        }
    }
}

/// Returns a key in TOML notation: `allow[0].tool`. The value decides whether a number is an index or a key.
pub(super) fn path(value: &Value, pointer: &str) -> String {
    let mut text = String::new();
    let mut value = Some(value);
    for key in omen_types::pointer::steps(pointer) {
        if value.is_some_and(Value::is_array) {
            let _ = write!(text, "[{key}]");
        } else {
            let bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
            let dot = if text.is_empty() { "" } else { "." };
            let _ = if bare { write!(text, "{dot}{key}") } else { write!(text, "{dot}{key:?}") };
        }
        value = match value {
            Some(Value::Array(items)) => key.parse::<usize>().ok().and_then(|index| items.get(index)),
            Some(value) => value.get(key.as_ref()),
            None => None,
        };
    }
    bounded(&text)
}

/// Maximum size of a configuration in bytes.
pub const MAX_BYTES: usize = 1 << 20;
