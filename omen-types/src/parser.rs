//! Parser on which all verdicts depend: it predicts from the schema what comes next in a line, and either refuses the line or
//! returns the facts that rules check.
//!
//! The code for each definition is generated (`omen-codegen/src/emit/parser.rs`); this module contains what all definitions
//! share. A parser gives no reason for a refusal; [`crate::shape`] lists the errors of a refused line with their positions.
//!
//! The parser is fast because it compares instead of tokenizing: after a field, the text up to the value of the next
//! field is compared as a whole. If a field is in another place, or follows other white space, its name is looked up
//! once; the field after it is predicted again.

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
pub(crate) use cursor::{Cursor, Parse, ParseResult, Refusal, between, refused};
pub(crate) use free::{AnyValue, FreeObject, FreeText, HasValue, Keys};
pub(crate) use members::{need, once};
pub(crate) use number::{Integer, Number};
pub(crate) use root::{PacketKey, Root};
pub(crate) use text::NonEmpty;
pub(crate) use values::{Check, NonEmptyText, Nullable, Pattern, PatternScalar, Plain};
pub(crate) use wide::u8x32 as Bytes;
pub(crate) use words::Words;
