//! Detection of numbers that JSON cannot represent. `serde_json` would write NaN and infinities as `null`.

use std::fmt;

use serde::Serialize;
use serde::ser::{self, Serializer};

/// Returns a NaN or an infinity contained in a value, if any.
pub(super) fn not_finite(value: &(impl Serialize + ?Sized)) -> Option<f64> {
    match value.serialize(Search) {
        Err(SearchError::Number(number)) => Some(number),
        Ok(()) | Err(SearchError::Otherwise) => None,
    }
}

/// Serializer without output that stops at a non-finite number.
#[derive(Clone, Copy)]
struct Search;

/// Reason for stopping the search.
#[derive(Debug)]
enum SearchError {
    Number(f64),
    /// The value cannot be serialized. The serializer that runs next reports that.
    Otherwise,
}

impl fmt::Display for SearchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the value cannot be serialized")
    }
}

impl std::error::Error for SearchError {}

impl ser::Error for SearchError {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self::Otherwise
    }
}

type SearchResult = Result<(), SearchError>;

/// Values without parts, which contain no floating-point number.
macro_rules! leaves {
    ($($name:ident($($ty:ty),*)),*) => { $(fn $name(self $(, _: $ty)*) -> SearchResult { Ok(()) })* };
}

/// Values that wrap another one.
macro_rules! wrappers {
    ($($name:ident($($ty:ty),*)),*) => {
        $(fn $name<T: Serialize + ?Sized>(self $(, _: $ty)*, value: &T) -> SearchResult { value.serialize(self) })*
    };
}

/// Values with parts, each with the trait that serializes the parts, and the method of that trait.
macro_rules! containers {
    ($($name:ident($($ty:ty),*): $parts:ident::$part:ident($($label:ty)?)),*) => {
        impl Serializer for Search {
            type Ok = ();
            type Error = SearchError;
            $(type $parts = Self;)*

            $(fn $name(self $(, _: $ty)*) -> Result<Self, SearchError> { Ok(self) })*

            leaves!(
                serialize_bool(bool), serialize_i8(i8), serialize_i16(i16), serialize_i32(i32), serialize_i64(i64),
                serialize_i128(i128), serialize_u8(u8), serialize_u16(u16), serialize_u32(u32), serialize_u64(u64),
                serialize_u128(u128), serialize_char(char), serialize_str(&str), serialize_bytes(&[u8]), serialize_none(),
                serialize_unit(), serialize_unit_struct(&'static str),
                serialize_unit_variant(&'static str, u32, &'static str)
            );

            wrappers!(
                serialize_some(), serialize_newtype_struct(&'static str),
                serialize_newtype_variant(&'static str, u32, &'static str)
            );

            fn serialize_f32(self, value: f32) -> SearchResult {
                self.serialize_f64(value.into())
            }

            fn serialize_f64(self, value: f64) -> SearchResult {
                if value.is_finite() { Ok(()) } else { Err(SearchError::Number(value)) }
            }
        }

        $(impl ser::$parts for Search {
            type Ok = ();
            type Error = SearchError;

            fn $part<T: Serialize + ?Sized>(&mut self $(, _: $label)?, value: &T) -> SearchResult {
                value.serialize(*self)
            }

            containers!(@keys $parts);

            fn end(self) -> SearchResult {
                Ok(())
            }
        })*
    };
    (@keys SerializeMap) => {
        fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> SearchResult {
            key.serialize(*self)
        }
    };
    (@keys $other:ident) => {};
}
containers!(
    serialize_seq(Option<usize>): SerializeSeq::serialize_element(),
    serialize_tuple(usize): SerializeTuple::serialize_element(),
    serialize_tuple_struct(&'static str, usize): SerializeTupleStruct::serialize_field(),
    serialize_tuple_variant(&'static str, u32, &'static str, usize): SerializeTupleVariant::serialize_field(),
    serialize_map(Option<usize>): SerializeMap::serialize_value(),
    serialize_struct(&'static str, usize): SerializeStruct::serialize_field(&'static str),
    serialize_struct_variant(&'static str, u32, &'static str, usize): SerializeStructVariant::serialize_field(&'static str)
);
