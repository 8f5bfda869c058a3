//! JSON as written by the author of a schema file: with the original order of fields and all repeated keys.
//!
//! `serde_json::Value` sorts fields and silently drops all but the last of a repeated key. Code must be generated in
//! schema order, and a repeated key in a schema is a mistake that must be reported.

use omen_schema::json::{JsonType, Scanner};
use serde_json::Value;

/// JSON value with the fields in file order.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// Any number.
    Number(serde_json::Number),
    /// A string.
    String(String),
    /// An array.
    Array(Vec<Json>),
    /// An object; a repeated key occurs as often as in the file.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Parses a text.
    ///
    /// # Errors
    /// If the text is not JSON.
    pub fn parse(text: &str) -> serde_json::Result<Self> {
        serde_json::from_str::<Value>(text).map(|_| Self::scan(&mut Scanner::new(text)))
    }

    fn scan(scanner: &mut Scanner<'_>) -> Self {
        match scanner.json_type() {
            JsonType::Object => {
                let mut members = Vec::new();
                scanner.object(|scanner, key, _| members.push((key.into_owned(), Self::scan(scanner))));
                Json::Object(members)
            }
            JsonType::Array => {
                let mut elements = Vec::new();
                scanner.array(|scanner, _| elements.push(Self::scan(scanner)));
                Json::Array(elements)
            }
            _ => match scanner.scalar_value() {
                Some(Value::Bool(value)) => Json::Bool(value),
                Some(Value::Number(number)) => Json::Number(number),
                Some(Value::String(text)) => Json::String(text),
                _ => Json::Null,
            },
        }
    }

    /// Returns the field `key` of an object (the first one, if repeated).
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.members().iter().find(|(k, _)| k == key).map(|(_, v)| v)
    }

    /// Returns the fields of an object; empty for any other value.
    #[must_use]
    pub fn members(&self) -> &[(String, Json)] {
        match self {
            Json::Object(members) => members,
            _ => &[],
        }
    }

    /// Returns the elements of an array; empty for any other value.
    #[must_use]
    pub fn elements(&self) -> &[Json] {
        match self {
            Json::Array(elements) => elements,
            _ => &[],
        }
    }

    /// Returns the text of a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Json::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the value of a non-negative integer.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Json::Number(number) => number.as_u64(),
            _ => None,
        }
    }

    /// Returns the value of a number.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Json::Number(number) => number.as_f64(),
            _ => None,
        }
    }

    /// Returns the value of a boolean.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Json::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns the strings in an array; other elements are skipped.
    #[must_use]
    pub fn strings(&self) -> Vec<&str> {
        self.elements().iter().filter_map(Json::as_str).collect()
    }

    /// Converts the value to `serde_json`.
    #[must_use]
    pub fn to_value(&self) -> Value {
        match self {
            Json::Null => Value::Null,
            Json::Bool(value) => Value::Bool(*value),
            Json::Number(number) => Value::Number(number.clone()),
            Json::String(text) => Value::String(text.clone()),
            Json::Array(elements) => Value::Array(elements.iter().map(Json::to_value).collect()),
            Json::Object(members) => Value::Object(members.iter().map(|(k, v)| (k.clone(), v.to_value())).collect()),
        }
    }
}
