//! The parser behind every verdict: it reads a line from its bytes, knows from the schema what must come next, and
//! either refuses the line or returns the facts that rules check.
//!
//! The code for each definition is generated (`omen-codegen/src/emit/parser.rs`); what all definitions share is here. A
//! parser gives no reason for a refusal. [`crate::shape`] lists the errors of a refused line with their places.
//!
//! It is fast because it compares what it expects instead of finding out what is there: after one member, the text up to
//! the value of the next one is compared as a whole. A member that comes in another order, or after other white space,
//! costs one lookup of its name; the member after it is predicted again.

mod array;
mod cursor;
mod free;
mod members;
mod number;
mod root;
mod text;
mod value;
pub(crate) mod values;
mod words;

pub(crate) use array::{Array, Gather};
pub(crate) use cursor::Cursor;
pub(crate) use free::{AnyValue, FreeObject, FreeText, HasValue, Keys};
pub(crate) use members::{need, once};
pub(crate) use number::{Integer, Number};
pub(crate) use root::{PacketKey, Root};
pub(crate) use text::NonEmpty;
pub(crate) use values::{Check, NonEmptyText, Nullable, Pattern, PatternScalar, Plain, between};
pub(crate) use wide::u8x32 as Bytes;
pub(crate) use words::Words;

/// A text does not match the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused;

/// What a parser returns.
pub(crate) type Parsed<T> = Result<T, Refused>;

/// The refusal. A call of a cold function says to the compiler which of two ways is hardly ever taken.
#[cold]
#[inline(never)]
pub(crate) fn refused<T>() -> Parsed<T> {
    Err(Refused)
}

/// Parses one value of a definition.
pub(crate) trait Parse<'t> {
    /// What is kept of it.
    type Out;

    /// Parses the value at the cursor, and leaves the cursor behind it.
    fn parse(cursor: &mut Cursor<'t>) -> Parsed<Self::Out>;
}
