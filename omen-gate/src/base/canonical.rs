//! Canonical JSON (RFC 8785): the bytes that hashes are taken of (A4, D48, D49).

use serde::Serialize;
use serde_json::{Map, Number, Value};

use crate::base::bounded::bounded;
use crate::base::json::below;

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
    write(value)
}

/// The canonical bytes of something whose values are known to be exact.
pub(crate) fn write(value: &impl Serialize) -> Result<Vec<u8>, NotExact> {
    serde_json_canonicalizer::to_vec(value).map_err(|error| NotExact::Unwritable { why: bounded(&error.to_string()) })
}

/// [`canonical`] for an object.
pub(crate) fn canonical_object(members: &Map<String, Value>) -> Result<Vec<u8>, NotExact> {
    check_members(members, MAX_DEPTH, &mut Vec::new())?;
    write(members)
}

/// Checks an object that will stand within another one.
pub(crate) fn check_inner(members: &Map<String, Value>) -> Result<(), NotExact> {
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
pub(crate) const MAX_INTEGER: u64 = (1 << 53) - 1;
