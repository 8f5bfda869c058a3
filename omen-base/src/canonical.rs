//! Canonical JSON (RFC 8785), the input of hashes (A4, D48, D49).

use serde::Serialize;
use serde_json::{Map, Number, Value};

use crate::foreign_text::bounded;
use crate::json::{MAX_INTEGER, below};

/// Error for a value that RFC 8785 cannot represent exactly, so its hash would also be the hash of another value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotExact {
    /// A number this large may have been rounded in transit (D49).
    #[error("the number `{number}` at `{at}` is outside ±9007199254740991")]
    Number {
        /// JSON pointer, truncated to a bounded length.
        at: String,
        /// Text of the number.
        number: String,
    },
    /// Arrays and objects are nested more than [`MAX_DEPTH`] levels deep.
    #[error("the value is more than {MAX_DEPTH} levels deep")]
    Deep,
    /// The serializer refused the value.
    #[error("the value cannot be written: {why}")]
    Unwritable {
        /// Reason, truncated to a bounded length.
        why: String,
    },
}

/// Maximum nesting of a value. The JSON reader has the same limit, so canonical text can always be read back.
pub const MAX_DEPTH: usize = 127;

/// Returns the canonical bytes of a value. Parsing them yields a value with the same canonical bytes.
///
/// # Errors
/// If a number is beyond ±(2^53−1), or the value is nested deeper than [`MAX_DEPTH`]. A float with an integral value,
/// such as `1e16`, is refused like the integer, because canonical text does not distinguish the two.
pub fn canonical(value: &Value) -> Result<Vec<u8>, NotExact> {
    check(value, MAX_DEPTH, &mut Vec::new())?;
    if is_plain(value) { plain(value) } else { write(value) }
}

/// Serializes a value that is known to be exact.
pub fn write(value: &impl Serialize) -> Result<Vec<u8>, NotExact> {
    serde_json_canonicalizer::to_vec(value).map_err(|error| NotExact::Unwritable { why: bounded(&error.to_string()) })
}

/// Same as [`canonical`], for an object.
pub fn canonical_object(members: &Map<String, Value>) -> Result<Vec<u8>, NotExact> {
    check_members(members, MAX_DEPTH, &mut Vec::new())?;
    write_members(members)
}

/// Same as [`write`](write()), for an object; several times faster for common objects.
pub fn write_members(members: &Map<String, Value>) -> Result<Vec<u8>, NotExact> {
    if are_plain(members) { plain(members) } else { write(members) }
}

/// Returns the canonical text of a string: it has only the escapes that JSON requires, so all minimal writers agree.
pub fn write_text(text: &str) -> Result<Vec<u8>, NotExact> {
    plain(text)
}

/// Checks an object that will be nested in another one.
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

/// Returns whether `serde_json` writes a value in canonical form. ASCII keys in byte order are also in UTF-16 order;
/// integers have only one text; and so do strings, because only quotation marks, backslashes and control characters are
/// escaped, and always in the same way. Other values, such as fractions and non-ASCII keys, are rare in a log.
fn is_plain(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => true,
        // If numbers are kept as text, `-0` would be an integer.
        Value::Number(number) => number.as_i64().is_some_and(|integer| integer != 0 || number.to_string() == "0"),
        Value::Array(items) => items.iter().all(is_plain),
        Value::Object(members) => are_plain(members),
    }
}

/// Checks the order of keys, because another crate may enable the feature that preserves the source order.
fn are_plain(members: &Map<String, Value>) -> bool {
    let keys = members.keys();
    keys.clone().zip(keys.skip(1)).all(|(key, next)| key < next)
        && members.iter().all(|(key, value)| key.is_ascii() && is_plain(value))
}

fn plain(value: &(impl Serialize + ?Sized)) -> Result<Vec<u8>, NotExact> {
    serde_json::to_vec(value).map_err(|error| NotExact::Unwritable { why: bounded(&error.to_string()) })
}

/// Segment of a path to a value.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Generates JSON from a sequence of numbers, with strings of all characters that affect escaping or order.
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
                // Half of the objects have only ASCII keys.
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
