//! Canonical JSON (RFC 8785): the bytes that hashes are taken of (A4, D48, D49).

use serde::Serialize;
use serde_json::{Map, Number, Value};

use crate::bounded::bounded;
use crate::json::below;

/// The value is one that RFC 8785 cannot carry exactly, so that a hash of it would stand for another one, too.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotExact {
    /// A number as large as this may have been rounded on its way (D49).
    #[error("the number `{number}` at `{at}` is beyond ±9007199254740991")]
    Number {
        /// Where: a JSON pointer, cut to a bounded length.
        at: String,
        /// The number.
        number: String,
    },
    /// Arrays and objects stand within each other more than [`MAX_DEPTH`] levels deep.
    #[error("the value is more than {MAX_DEPTH} levels deep")]
    Deep,
    /// The serializer refused the value.
    #[error("the value cannot be written: {why}")]
    Unwritable {
        /// Why, cut to a bounded length.
        why: String,
    },
}

/// How deep a value may be, in levels. The reader of JSON goes as deep and no deeper, so that canonical text can
/// always be read back.
pub const MAX_DEPTH: usize = 127;

/// The canonical bytes of a value. Reading them gives a value with the same canonical bytes.
///
/// # Errors
/// If a number is beyond ±(2^53−1), wherever it stands, or the value is deeper than [`MAX_DEPTH`]. A number
/// with a fraction part in its text, such as `1e16`, is refused like the integer that it is: canonical text
/// makes no difference between the two.
pub fn canonical(value: &Value) -> Result<Vec<u8>, NotExact> {
    check(value, MAX_DEPTH, &mut Vec::new())?;
    if is_plain(value) { plain(value) } else { write(value) }
}

/// The canonical bytes of something whose values are known to be exact.
pub fn write(value: &impl Serialize) -> Result<Vec<u8>, NotExact> {
    serde_json_canonicalizer::to_vec(value).map_err(|error| NotExact::Unwritable { why: bounded(&error.to_string()) })
}

/// [`canonical`] for an object.
pub fn canonical_object(members: &Map<String, Value>) -> Result<Vec<u8>, NotExact> {
    check_members(members, MAX_DEPTH, &mut Vec::new())?;
    write_members(members)
}

/// [`write`] for an object, several times as fast for the objects that are common.
pub fn write_members(members: &Map<String, Value>) -> Result<Vec<u8>, NotExact> {
    if are_plain(members) { plain(members) } else { write(members) }
}

/// The text of a string, which every writer of JSON gives alike that escapes only what it must.
pub fn write_text(text: &str) -> Result<Vec<u8>, NotExact> {
    plain(text)
}

/// Checks an object that will stand within another one.
pub fn check_inner(members: &Map<String, Value>) -> Result<(), NotExact> {
    check_members(members, MAX_DEPTH - 1, &mut Vec::new())
}

fn check<'v>(value: &'v Value, levels: usize, at: &mut Vec<Segment<'v>>) -> Result<(), NotExact> {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => Ok(()),
        Value::Number(number) if is_exact(number) => Ok(()),
        Value::Number(number) => Err(NotExact::Number { at: pointer(at), number: number.to_string() }),
        Value::Array(_) | Value::Object(_) if levels == 0 => Err(NotExact::Deep),
        Value::Array(items) => items.iter().enumerate().try_for_each(|(index, item)| {
            at.push(Segment::Index(index));
            check(item, levels - 1, at)?;
            at.pop();
            Ok(())
        }),
        Value::Object(members) => check_members(members, levels, at),
    }
}

fn check_members<'v>(
    members: &'v Map<String, Value>,
    levels: usize,
    at: &mut Vec<Segment<'v>>,
) -> Result<(), NotExact> {
    members.iter().try_for_each(|(key, member)| {
        at.push(Segment::Key(key));
        check(member, levels - 1, at)?;
        at.pop();
        Ok(())
    })
}

/// Whether the text that `serde_json` writes of a value is canonical as it is. Keys of ASCII that ascend by bytes do so by
/// UTF-16, too; integers have one text; a string has one, for only quotation marks, backslashes and control characters are
/// escaped, in the same way. What is left, numbers with a fraction and keys beyond ASCII, is rare in a log.
fn is_plain(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => true,
        // With a number kept as text, `-0` would be an integer.
        Value::Number(number) => number.as_i64().is_some_and(|integer| integer != 0 || number.to_string() == "0"),
        Value::Array(items) => items.iter().all(is_plain),
        Value::Object(members) => are_plain(members),
    }
}

/// The order is checked, for another crate may have switched on that objects keep the order of their text.
fn are_plain(members: &Map<String, Value>) -> bool {
    let keys = members.keys();
    keys.clone().zip(keys.skip(1)).all(|(key, next)| key < next)
        && members.iter().all(|(key, value)| key.is_ascii() && is_plain(value))
}

fn plain(value: &(impl Serialize + ?Sized)) -> Result<Vec<u8>, NotExact> {
    serde_json::to_vec(value).map_err(|error| NotExact::Unwritable { why: bounded(&error.to_string()) })
}

/// A step of the way to a value.
enum Segment<'v> {
    Index(usize),
    Key(&'v str),
}

fn pointer(at: &[Segment<'_>]) -> String {
    let pointer = at.iter().fold(String::new(), |above, segment| match segment {
        Segment::Index(index) => below(&above, &index.to_string()),
        Segment::Key(key) => below(&above, key),
    });
    bounded(&pointer)
}

fn is_exact(number: &Number) -> bool {
    match (number.as_i64(), number.as_f64()) {
        (Some(integer), _) => integer.unsigned_abs() <= MAX_INTEGER,
        (None, Some(float)) => float.abs() <= MAX_INTEGER as f64,
        (None, None) => false,
    }
}

/// 2^53−1: up to here, every integer is a double of its own.
pub const MAX_INTEGER: u64 = (1 << 53) - 1;

#[cfg(test)]
mod tests {
    use super::*;

    /// Text of JSON from a sequence of numbers: strings of every character that has to do with escaping or order.
    fn value(next: &mut impl FnMut(usize) -> usize, depth: usize) -> Value {
        const TEXT: [&str; 16] = [
            "a", "B", "_", " ", "\"", "\\", "/", "\n", "\u{8}", "\u{c}", "\u{0}", "\u{1f}", "\u{7f}", "é", "\u{fb33}",
            "😀",
        ];
        let text = |next: &mut dyn FnMut(usize) -> usize, of: usize| -> String {
            (0..next(5)).map(|_| TEXT.get(next(of)).copied().unwrap_or_default()).collect()
        };
        match next(if depth == 0 { 6 } else { 9 }) {
            0 => Value::Null,
            1 => Value::Bool(next(2) == 0),
            2 => Value::from(next(3) as u64),
            3 => Value::from(-(next(MAX_INTEGER as usize) as i64)),
            4 => Value::from([0.0, -0.0, 1.0, 1.5, -2.25, 1e-7].get(next(6)).copied().unwrap_or_default()),
            5 => Value::from(text(next, 16)),
            6 => Value::Array((0..next(4)).map(|_| value(next, depth - 1)).collect()),
            _ => {
                // Half of the objects have keys of ASCII only.
                let of = if next(2) == 0 { 13 } else { 16 };
                Value::Object((0..next(5)).map(|_| (text(next, of), value(next, depth - 1))).collect())
            }
        }
    }

    #[test]
    fn the_quick_way_writes_what_the_other_one_writes() {
        let mut state = 42_u64;
        let mut next = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below.max(1)
        };
        let (mut plain_ones, mut others) = (0, 0);
        for _ in 0..20_000 {
            let value = value(&mut next, 4);
            *if is_plain(&value) { &mut plain_ones } else { &mut others } += 1;
            assert_eq!(canonical(&value), write(&value), "{value}");
            if let Value::String(text) = &value {
                assert_eq!(write_text(text), write(text));
            }
        }
        assert!(plain_ones > 3_000 && others > 3_000, "{plain_ones} of 20,000 are plain");
    }
}
