//! Pins: hashes of approved tool forms.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::base::{NotExact, bounded, canonical};
use crate::call::Tool;

/// Hash of a tool's description and schemas: `v1:` and 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Pin([u8; 32]);

/// Error returned when parsing an invalid pin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid pin `{0}`; expected `v1:` and 64 lowercase hexadecimal digits")]
pub struct BadPin(String);

/// Computes the pin of a tool: SHA-256 of `omen-tool-pin/v1`, a line feed, and the canonical bytes (RFC 8785) of an
/// object with the members `name`, `description`, `inputSchema` and `outputSchema`, as far as the tool has them.
///
/// Planners choose tools, and the gate checks them, by these members. `title` and `annotations` are left out: they are
/// claims that grant nothing, so the gate uses neither (D47). Do not show them to a planner either.
///
/// # Errors
/// If a schema has a number without an exact canonical form (D49).
pub fn pin(tool: &Tool) -> Result<Pin, NotExact> {
    let mut said = Map::new();
    said.insert("name".to_owned(), tool.name.as_str().into());
    if let Some(description) = &tool.description {
        said.insert("description".to_owned(), description.as_str().into());
    }
    said.insert("inputSchema".to_owned(), Value::Object(tool.input_schema.clone()));
    if let Some(schema) = &tool.output_schema {
        said.insert("outputSchema".to_owned(), Value::Object(schema.clone()));
    }
    let mut hash = Sha256::new_with_prefix(DOMAIN);
    hash.update(canonical(&Value::Object(said))?);
    Ok(Pin(hash.finalize().into()))
}

impl fmt::Display for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(VERSION)?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pin({self})")
    }
}

impl FromStr for Pin {
    type Err = BadPin;

    fn from_str(text: &str) -> Result<Self, BadPin> {
        let bad = || BadPin(bounded(text));
        let digits = text.strip_prefix(VERSION).ok_or_else(bad)?.as_bytes();
        let small = digits.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
        let (pairs, rest) = digits.as_chunks::<2>();
        let byte = |pair: &[u8; 2]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        let bytes = pairs.iter().map(byte).collect::<Option<Vec<u8>>>().ok_or_else(bad)?;
        match bytes.try_into() {
            Ok(bytes) if small && rest.is_empty() => Ok(Self(bytes)),
            _ => Err(bad()),
        }
    }
}

impl TryFrom<String> for Pin {
    type Error = BadPin;

    fn try_from(text: String) -> Result<Self, BadPin> {
        text.parse()
    }
}

impl From<Pin> for String {
    fn from(pin: Pin) -> Self {
        pin.to_string()
    }
}

const VERSION: &str = "v1:";
/// Domain separator that keeps hashes of other data from being valid pins.
const DOMAIN: &[u8] = b"omen-tool-pin/v1\n";
