//! Packet types, generated from the schema files, and hand-written additions to them.

pub mod builder;
mod convert;
#[doc(hidden)]
pub mod definition;
mod deserialize;
#[doc(hidden)]
pub mod evidence;
pub mod parse;
mod skeleton;
mod unique;

#[allow(clippy::enum_variant_names, reason = "members and values are named by the schemas")]
#[allow(clippy::type_complexity, reason = "the type of a builder states which members are set")]
mod generated {
    use std::borrow::Cow;

    use serde::de::value::MapAccessDeserializer;
    use serde::de::{Deserialize as _, Deserializer, Error, IntoDeserializer, MapAccess, Visitor};

    use super::builder::{AtLeastOne, Given, Origin, PacketParts, PayloadParts, Set, Stamp, Unset, built, written};
    use super::deserialize::present;
    use super::parse::Rejected;
    use crate::code::Code;
    use crate::metadata::Metadata;
    use crate::parser::{
        AnyValue, Array, Bytes, Check, Cursor, FreeObject, FreeText, HasValue, Integer, NonEmpty, NonEmptyText,
        Nullable, Number, PacketKey, Parse, ParseResult, Pattern, PatternScalar, Plain, Refusal, Root, Words, between,
        need, once,
    };
    use crate::scalar::{IntegerScalar, Invalid, NumberLiteral, NumberScalar, TextScalar};
    use crate::shape::{
        ANY, BOOL, ConditionalShape, FieldShape, HasShape, NULLABLE_TEXT, ObjectShape, PLAIN_TEXT, Shape, ShapeKind,
        WhenShape,
    };
    use crate::time::Instant;

    include!(concat!(env!("OUT_DIR"), "/packet.rs"));
}

pub use generated::*;

pub(crate) use generated::SHAPES;
