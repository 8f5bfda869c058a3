//! Size limits of values in a line, and truncation of larger values.

use std::io;

use serde::Serialize;
use serde_json::Value;

use crate::limits::{MAX_DEPTH, MAX_ENVELOPE_BYTES, MAX_FIELDS_DEPTH};
use crate::packet::{IntentScope, McpEnvelope, RefType, ScopeText};
use crate::scalar::FromChecked as _;

/// Mark that replaces the removed part of a text.
const CUT: &str = "…";

/// Maximum length of texts and lists in the first attempt to shorten an envelope.
const FIRST: usize = MAX_ENVELOPE_BYTES / 8;

/// Returns the size of a value in bytes of JSON.
#[must_use]
pub fn size(value: &(impl Serialize + ?Sized)) -> usize {
    struct Bytes(usize);
    impl io::Write for Bytes {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.saturating_add(bytes.len());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut bytes = Bytes(0);
    match serde_json::to_writer(&mut bytes, value) {
        Ok(()) => bytes.0,
        // A value that cannot be serialized exceeds every limit.
        Err(_) => usize::MAX,
    }
}

/// Returns whether the arrays and objects of a value nest deeper than `levels`. Does not recurse, so a value of any
/// depth can be refused.
#[must_use]
pub fn is_deeper(value: &Value, levels: u8) -> bool {
    let mut level = vec![value];
    for _ in 0..levels {
        level = level.into_iter().flat_map(children).filter(|child| child.is_array() || child.is_object()).collect();
    }
    level.iter().any(|value| value.is_array() || value.is_object())
}

fn children(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Value::Array(elements) => Box::new(elements.iter()),
        Value::Object(members) => Box::new(members.values()),
        _ => Box::new(std::iter::empty()),
    }
}

/// Truncates a text to at most `most` bytes, or to the mark alone. The mark replaces the middle: both ends are kept,
/// because rules search for words at either end.
pub fn cut(text: &mut String, most: usize) {
    if text.len() > most {
        let half = most.saturating_sub(CUT.len()) / 2;
        let (begin, end) = (text.floor_char_boundary(half), text.ceil_char_boundary(text.len() - half));
        text.replace_range(begin..end, CUT);
    }
}

/// Truncates texts and lists to at most `most` bytes and elements.
pub fn shorten(value: &mut Value, most: usize) {
    shorten_at(value, most, MAX_DEPTH);
}

fn shorten_at(value: &mut Value, most: usize, levels: u8) {
    let Some(below) = levels.checked_sub(1) else { return };
    match value {
        Value::String(text) => cut(text, most),
        Value::Array(elements) => {
            // The first elements show the subject, and the last are the most recent.
            let half = most / 2;
            if elements.len() > most {
                elements.drain(half..elements.len() - half);
            }
            elements.iter_mut().for_each(|element| shorten_at(element, most, below));
        }
        Value::Object(members) => members.values_mut().for_each(|member| shorten_at(member, most, below)),
        _ => {}
    }
}

/// Returns an envelope that leaves space for a payload in its line. An envelope that is too large is shortened, but its
/// facts and thus the verdicts of rules on it do not change.
#[must_use]
pub fn envelope(mut mcp: McpEnvelope) -> McpEnvelope {
    if let IntentScope::JsonObject(scope) = &mut mcp.intent.scope {
        let object = Value::Object(std::mem::take(scope));
        if is_deeper(&object, MAX_FIELDS_DEPTH) || size(&object) > MAX_ENVELOPE_BYTES / 2 {
            let mut text = object.to_string();
            cut(&mut text, FIRST);
            mcp.intent.scope = IntentScope::ScopeText(ScopeText::trusted(text));
        } else if let Value::Object(object) = object {
            *scope = object;
        }
    }
    let mut most = FIRST;
    while size(&mcp) > MAX_ENVELOPE_BYTES && most > 0 {
        if let Some(shorter) = shorter(&mcp, most) {
            mcp = shorter;
        }
        most /= 2;
    }
    mcp
}

fn shorter(mcp: &McpEnvelope, most: usize) -> Option<McpEnvelope> {
    let is_live = |kind: &RefType| matches!(kind, RefType::ToolOutput | RefType::UserObservation);
    let live = mcp.evidence.evidence_refs.iter().rfind(|piece| is_live(&piece.ref_type));
    let mut value = serde_json::to_value(mcp).ok()?;
    shorten(&mut value, most);
    let mut shorter: McpEnvelope = crate::parse::Checked::parse(&value.to_string()).ok()?;
    // A claim about the present must still rest on live evidence (INV-004).
    let pieces = &mut shorter.evidence.evidence_refs;
    if let Some(live) = live.filter(|_| !pieces.iter().any(|piece| is_live(&piece.ref_type))) {
        pieces.pop();
        pieces.push(live.clone());
    }
    Some(shorter)
}
