//! Parts of a scanned text as values, to be judged.

use std::ops::Range;

use serde_json::{Map, Value};

/// The object that stands at a place of a text. Its keys were scanned, so that none is repeated.
pub fn object(text: &str, at: Range<usize>) -> Result<Map<String, Value>, String> {
    serde_json::from_str(text.get(at).unwrap_or_default()).map_err(|error| error.to_string())
}

/// The string that stands at a place of a text.
pub fn text(text: &str, at: Range<usize>) -> Option<String> {
    serde_json::from_str(text.get(at)?).ok()
}

/// A value in a few words, for messages.
pub fn name(text: &str, at: &Range<usize>) -> &'static str {
    match text.as_bytes().get(at.start) {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}
