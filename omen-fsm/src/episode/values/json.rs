//! Free-form JSON values that fit into a packet.

use std::borrow::Cow;
use std::fmt;

use omen_types::fit::{is_deeper, size};
use omen_types::limits::{MAX_VALUE_BYTES, MAX_VALUE_DEPTH};
use omen_types::serde_json::{self, Map, Number, Value};
use omen_types::{CorrelationId, PacketId, TaskId, Text, Timestamp, TokenId, UnitInterval};
use serde::Serialize;

use super::finite;

/// Free-form JSON value that fits into a packet: nested at most 48 levels deep and at most 4 MiB long
/// ([`limits`](omen_types::limits)). It is checked when it is created, so it cannot make a move fail.
///
/// ```
/// use omen_fsm::episode::{Belief, DoesNotFit, Json};
/// use omen_types::serde_json::{Value, json};
///
/// let answer: Value = json!({ "pool": [40, 80] });
/// let belief = Belief::new("db", "pool", Json::new(answer)?);
///
/// let deep = (0..200).fold(json!(1), |value, _| json!([value]));
/// assert!(matches!(Json::new(deep), Err(DoesNotFit::Deep { .. })));
/// # Ok::<(), DoesNotFit>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Json(Value);

impl Json {
    /// `null`.
    pub const NULL: Self = Self(Value::Null);

    /// Checks a value. The macro `json!` of `serde_json` writes a non-finite number as `null`, so pass a computed
    /// number through [`Json::of`] or [`fields!`](crate::fields).
    ///
    /// # Errors
    /// A value that is nested too deeply or is too large.
    pub fn new(value: Value) -> Result<Self, DoesNotFit> {
        check(&value, MAX_VALUE_DEPTH)?;
        Ok(Self(value))
    }

    /// Serializes a value as JSON and checks it.
    ///
    /// # Errors
    /// A value that cannot be serialized, contains NaN or an infinity, or whose JSON is nested too deeply or too large.
    pub fn of(value: &(impl Serialize + ?Sized)) -> Result<Self, DoesNotFit> {
        if let Some(number) = finite::not_finite(value) {
            return Err(DoesNotFit::NotFinite(number.to_string()));
        }
        Self::new(serde_json::to_value(value).map_err(|error| DoesNotFit::NotJson(error.to_string()))?)
    }

    /// Checks a number.
    ///
    /// # Errors
    /// The number is NaN or infinite.
    ///
    /// ```
    /// use omen_fsm::episode::{DoesNotFit, Json};
    ///
    /// assert!(Json::number(0.02).is_ok());
    /// assert!(matches!(Json::number(1.0 / 0.0), Err(DoesNotFit::NotFinite(_))));
    /// ```
    pub fn number(number: impl Into<f64>) -> Result<Self, DoesNotFit> {
        let number = number.into();
        let finite = Number::from_f64(number).ok_or_else(|| DoesNotFit::NotFinite(number.to_string()))?;
        Ok(Self(Value::Number(finite)))
    }

    /// Wraps a number that was checked by the macro `number!`.
    #[doc(hidden)]
    #[must_use]
    pub fn __finite(number: f64) -> Self {
        Self(Number::from_f64(number).map_or_else(|| Value::String(number.to_string()), Value::Number))
    }

    /// Returns the value.
    #[must_use]
    pub fn as_value(&self) -> &Value {
        &self.0
    }

    /// Returns the value.
    #[must_use]
    pub fn into_value(self) -> Value {
        self.0
    }
}

impl TryFrom<Value> for Json {
    type Error = DoesNotFit;

    fn try_from(value: Value) -> Result<Self, DoesNotFit> {
        Self::new(value)
    }
}

impl From<Json> for Value {
    fn from(json: Json) -> Self {
        json.0
    }
}

/// Reason why a value does not fit into a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DoesNotFit {
    /// The value is nested deeper than `limit` levels.
    Deep {
        /// Maximum number of levels.
        limit: u8,
    },
    /// The value is too large.
    Large {
        /// Size in bytes of JSON.
        bytes: usize,
        /// Limit in bytes.
        limit: usize,
    },
    /// The value is not an object.
    NotAnObject,
    /// The value is an empty object.
    Empty,
    /// The value contains this number, which is NaN or infinite; JSON cannot represent it.
    NotFinite(String),
    /// The value cannot be serialized as JSON.
    NotJson(String),
}

impl fmt::Display for DoesNotFit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deep { limit } => {
                write!(
                    f,
                    "the value is nested deeper than {limit} levels; flatten it, or pass the inner part as JSON text"
                )
            }
            Self::Large { bytes, limit } => write!(
                f,
                "the value exceeds {limit} bytes of JSON ({bytes} bytes); store it elsewhere, and pass its URI"
            ),
            Self::NotAnObject => f.write_str("expected a JSON object, such as `{\"value\": 1}`"),
            Self::Empty => f.write_str("the object is empty; expected at least one member, such as `{\"value\": 1}`"),
            Self::NotFinite(number) => {
                write!(f, "JSON has no number `{number}`; omit it, or pass it as a text or as `None`")
            }
            Self::NotJson(why) => write!(f, "cannot serialize the value as JSON: {why}"),
        }
    }
}

impl std::error::Error for DoesNotFit {}

pub(super) fn check(value: &Value, deepest: u8) -> Result<(), DoesNotFit> {
    if is_deeper(value, deepest) {
        return Err(DoesNotFit::Deep { limit: deepest });
    }
    let bytes = size(value);
    if bytes > MAX_VALUE_BYTES {
        return Err(DoesNotFit::Large { bytes, limit: MAX_VALUE_BYTES });
    }
    Ok(())
}

/// Value that becomes [`Json`] without a check: an integer, a text, an id, or a value that was already checked. For
/// other values, use `Json::new(value)?` or `Json::of(&value)?`; for a number that may be NaN or infinite, which JSON
/// cannot represent, `Json::number(value)?`; for a constant number, [`number!`](crate::number).
///
/// A text may have any length. A record, such as an observation or a belief, is shortened if it is too long for a line;
/// a directive is refused. To reject a long text as soon as it is created, use `Json::of(text)?`.
#[diagnostic::on_unimplemented(
    message = "SCHEMA: a `{Self}` may not fit into a packet: too deep, too large, or a number that is not finite",
    label = "not checked",
    note = "check a `serde_json::Value` with `Json::new(value)?`, a type that implements `Serialize` with `Json::of(&value)?`, a float with `Json::number(value)?`"
)]
pub trait ToJson {
    /// Returns the JSON value.
    fn to_json(&self) -> Json;

    /// Converts into the JSON value.
    fn into_json(self) -> Json
    where
        Self: Sized,
    {
        self.to_json()
    }
}

impl<T: ToJson + ?Sized> ToJson for &T {
    fn to_json(&self) -> Json {
        T::to_json(self)
    }
}

impl ToJson for Json {
    fn to_json(&self) -> Json {
        self.clone()
    }

    fn into_json(self) -> Json {
        self
    }
}

/// Converts `None` to `null`.
impl<T: ToJson> ToJson for Option<T> {
    fn to_json(&self) -> Json {
        self.as_ref().map_or(Json::NULL, ToJson::to_json)
    }
}

/// Converts to `null`.
impl ToJson for () {
    fn to_json(&self) -> Json {
        Json::NULL
    }
}

macro_rules! numbers {
    ($($number:ty),*) => {
        $(impl ToJson for $number {
            fn to_json(&self) -> Json {
                Json(Value::from(*self))
            }
        })*
    };
}
numbers!(bool, i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);

macro_rules! texts {
    ($($text:ty),*) => {
        $(impl ToJson for $text {
            fn to_json(&self) -> Json {
                Json(Value::String(self.to_string()))
            }
        })*
    };
}
texts!(str, String, Cow<'_, str>, char, Text, PacketId, TaskId, TokenId, CorrelationId, Timestamp);

impl ToJson for UnitInterval {
    fn to_json(&self) -> Json {
        Json(Value::from(self.get()))
    }
}

/// Data of a SUCCESS: a value that becomes [`Json`] without a check, or a `serde_json::Value`. Parts of the latter that
/// are nested too deeply are replaced by their JSON text.
#[diagnostic::on_unimplemented(
    message = "SCHEMA: a `{Self}` may not fit into a packet: too large, or a number that is not finite",
    label = "not checked",
    note = "check a type that implements `Serialize` with `Json::of(&value)?`, a float with `Json::number(value)?`"
)]
pub trait ResultData {
    /// Converts into the value.
    fn into_data(self) -> Value;
}

impl<T: ToJson> ResultData for T {
    fn into_data(self) -> Value {
        self.into_json().into_value()
    }
}

impl ResultData for Value {
    fn into_data(self) -> Value {
        self
    }
}

impl ResultData for Map<String, Value> {
    fn into_data(self) -> Value {
        Value::Object(self)
    }
}

/// Literal of the macro [`fields!`](crate::fields).
#[doc(hidden)]
pub trait Literal {
    /// Returns the value.
    fn __value(self) -> Value;
}

macro_rules! literals {
    ($($literal:ty),*) => {
        $(impl Literal for $literal {
            fn __value(self) -> Value {
                self.to_json().into_value()
            }
        })*
    };
}
literals!(&str, char, bool, i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);

impl Literal for f64 {
    fn __value(self) -> Value {
        Json::__finite(self).into_value()
    }
}

impl Literal for f32 {
    fn __value(self) -> Value {
        Json::__finite(self.into()).into_value()
    }
}
