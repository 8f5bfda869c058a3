//! Detection of numbers that JSON does not have. `serde_json` would write NaN and infinities as `null`.

use std::fmt;

use serde::Serialize;
use serde::ser::{self, Serializer};

/// Returns a NaN or an infinity in a value, if there is one.
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
    /// The value cannot be serialized. The serializer that runs next reports it.
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

macro_rules! leaves {
    ($($name:ident($ty:ty)),*) => { $(fn $name(self, _: $ty) -> SearchResult { Ok(()) })* };
}

impl Serializer for Search {
    type Ok = ();
    type Error = SearchError;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    leaves!(
        serialize_bool(bool),
        serialize_i8(i8),
        serialize_i16(i16),
        serialize_i32(i32),
        serialize_i64(i64),
        serialize_i128(i128),
        serialize_u8(u8),
        serialize_u16(u16),
        serialize_u32(u32),
        serialize_u64(u64),
        serialize_u128(u128),
        serialize_char(char),
        serialize_str(&str),
        serialize_bytes(&[u8]),
        serialize_unit_struct(&'static str)
    );

    fn serialize_f32(self, value: f32) -> SearchResult {
        self.serialize_f64(value.into())
    }

    fn serialize_f64(self, value: f64) -> SearchResult {
        if value.is_finite() { Ok(()) } else { Err(SearchError::Number(value)) }
    }

    fn serialize_none(self) -> SearchResult {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> SearchResult {
        value.serialize(self)
    }

    fn serialize_unit(self) -> SearchResult {
        Ok(())
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> SearchResult {
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> SearchResult {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> SearchResult {
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self, SearchError> {
        Ok(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, SearchError> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, SearchError> {
        Ok(self)
    }

    fn serialize_tuple_variant(self, _: &'static str, _: u32, _: &'static str, _: usize) -> Result<Self, SearchError> {
        Ok(self)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self, SearchError> {
        Ok(self)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, SearchError> {
        Ok(self)
    }

    fn serialize_struct_variant(self, _: &'static str, _: u32, _: &'static str, _: usize) -> Result<Self, SearchError> {
        Ok(self)
    }
}

macro_rules! parts {
    ($($part:ident::$element:ident),*) => {
        $(impl ser::$part for Search {
            type Ok = ();
            type Error = SearchError;

            fn $element<T: Serialize + ?Sized>(&mut self, value: &T) -> SearchResult {
                value.serialize(*self)
            }

            fn end(self) -> SearchResult {
                Ok(())
            }
        })*
    };
}
parts!(
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field
);

macro_rules! fields {
    ($($part:ident),*) => {
        $(impl ser::$part for Search {
            type Ok = ();
            type Error = SearchError;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, _: &'static str, value: &T) -> SearchResult {
                value.serialize(*self)
            }

            fn end(self) -> SearchResult {
                Ok(())
            }
        })*
    };
}
fields!(SerializeStruct, SerializeStructVariant);

impl ser::SerializeMap for Search {
    type Ok = ();
    type Error = SearchError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> SearchResult {
        key.serialize(*self)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> SearchResult {
        value.serialize(*self)
    }

    fn end(self) -> SearchResult {
        Ok(())
    }
}
