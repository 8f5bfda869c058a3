//! Deserializer for a text that the parser has accepted.
//!
//! `serde_json` would repeat the checks, and inspect each byte of a string separately.

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor, value::Error};
use serde::forward_to_deserialize_any;

use super::number::Short;
use super::{Cursor, Refusal};

/// A refusal here contradicts the parser's verdict, which is a bug in this crate.
impl From<Refusal> for Error {
    #[cold]
    fn from(Refusal: Refusal) -> Self {
        Self::custom("the text was not accepted before")
    }
}

impl<'de> Deserializer<'de> for &mut Cursor<'de> {
    type Error = Error;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.peek() {
            b'"' => self.deserialize_str(visitor),
            b'{' => self.deserialize_map(visitor),
            b'[' => self.deserialize_seq(visitor),
            b't' | b'f' => self.deserialize_bool(visitor),
            b'n' => {
                self.expect(b"null")?;
                visitor.visit_unit()
            }
            _ => self.deserialize_f64(visitor),
        }
    }

    #[inline]
    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let text = self.string()?;
        match text.plain() {
            Some(text) => visitor.visit_borrowed_str(text),
            None => visitor.visit_string(text.text()?.into_owned()),
        }
    }

    #[inline]
    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let value = self.eat(b"true");
        if !value {
            self.expect(b"false")?;
        }
        visitor.visit_bool(value)
    }

    /// Deserializes a number in its original notation.
    #[inline]
    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.short_number() {
            Some(Short::Integer(value)) => return visitor.visit_u64(value),
            Some(Short::Double(value)) => return visitor.visit_f64(value),
            None => {}
        }
        let number = self.number()?;
        match (number.as_u64(), number.as_i64(), number.as_f64()) {
            (Some(value), ..) => visitor.visit_u64(value),
            (None, Some(value), _) => visitor.visit_i64(value),
            (None, None, Some(value)) => visitor.visit_f64(value),
            (None, None, None) => Err(Refusal.into()),
        }
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.eat(b"null") { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    #[inline]
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.expect(b"[")?;
        visitor.visit_seq(Parts { cursor: self, is_first: true })
    }

    #[inline]
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.expect(b"{")?;
        visitor.visit_map(Parts { cursor: self, is_first: true })
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_map(visitor)
    }

    #[inline]
    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    #[inline]
    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    #[inline]
    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_f64(visitor)
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u128 f32 char bytes byte_buf unit unit_struct tuple tuple_struct enum ignored_any
    }
}

/// Iteration over the fields of an object or the elements of an array.
struct Parts<'c, 'de> {
    cursor: &'c mut Cursor<'de>,
    is_first: bool,
}

impl Parts<'_, '_> {
    /// Moves to the next part; at the end, skips `end` and returns `false`.
    #[inline]
    fn next(&mut self, end: &[u8; 1]) -> Result<bool, Error> {
        self.cursor.space();
        if self.cursor.eat(end) {
            return Ok(false);
        }
        if !self.is_first {
            self.cursor.expect(b",")?;
            self.cursor.space();
        }
        self.is_first = false;
        Ok(true)
    }
}

impl<'de> SeqAccess<'de> for Parts<'_, 'de> {
    type Error = Error;

    #[inline]
    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Error> {
        if self.next(b"]")? { seed.deserialize(&mut *self.cursor).map(Some) } else { Ok(None) }
    }
}

impl<'de> MapAccess<'de> for Parts<'_, 'de> {
    type Error = Error;

    #[inline]
    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Error> {
        if self.next(b"}")? { seed.deserialize(&mut *self.cursor).map(Some) } else { Ok(None) }
    }

    #[inline]
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Error> {
        self.cursor.colon()?;
        seed.deserialize(&mut *self.cursor)
    }
}
