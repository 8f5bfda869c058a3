//! Free-form JSON objects.

use omen_types::limits::{MAX_FIELDS_DEPTH, MAX_LITERAL_DEPTH};
use omen_types::serde_json::{Map, Value};

use super::json::{self, DoesNotFit};

/// Free-form JSON object with at least one field, for observations and tool parameters. The macro
/// [`fields!`](crate::fields) creates one from a literal.
#[derive(Clone, Debug, PartialEq)]
pub struct Fields(Map<String, Value>);

impl Fields {
    /// Converts an object. Returns `None` if the value is not an object, is empty, or does not fit into a packet;
    /// `try_new` returns the reason.
    #[must_use]
    pub fn new(value: Value) -> Option<Self> {
        Self::try_new(value).ok()
    }

    /// Converts an object.
    ///
    /// # Errors
    /// A value that is not an object, is empty, is nested too deeply, or is too large.
    pub fn try_new(value: Value) -> Result<Self, DoesNotFit> {
        json::check(&value, MAX_FIELDS_DEPTH)?;
        match value {
            Value::Object(map) if map.is_empty() => Err(DoesNotFit::Empty),
            Value::Object(map) => Ok(Self(map)),
            _ => Err(DoesNotFit::NotAnObject),
        }
    }

    /// Returns the fields as a map.
    #[must_use]
    pub fn into_map(self) -> Map<String, Value> {
        self.0
    }

    /// Returns whether the macro accepts a literal of this depth.
    #[doc(hidden)]
    #[must_use]
    pub const fn __may_be_written(depth: u8) -> bool {
        depth <= MAX_LITERAL_DEPTH
    }

    /// Returns the largest number.
    #[doc(hidden)]
    #[must_use]
    pub const fn __deepest(depths: &[u8]) -> u8 {
        let (mut rest, mut deepest) = (depths, 0);
        while let [depth, more @ ..] = rest {
            if *depth > deepest {
                deepest = *depth;
            }
            rest = more;
        }
        deepest
    }

    /// Converts the value of the macro: a non-empty object of checked values. If a value is nested too deeply
    /// nevertheless, it becomes its JSON text; a value that is not an object becomes the field `value`.
    #[doc(hidden)]
    #[must_use]
    pub fn __written(mut value: Value) -> Self {
        flatten(&mut value, MAX_FIELDS_DEPTH);
        match value {
            Value::Object(map) if !map.is_empty() => Self(map),
            other => Self(Map::from_iter([("value".to_owned(), other)])),
        }
    }
}

/// Keeps as many levels of a free-form object as fit into a packet; deeper values are replaced by their JSON text.
pub(super) fn flatten_map(members: &mut Map<String, Value>) {
    members.values_mut().for_each(|member| flatten(member, MAX_FIELDS_DEPTH - 1));
}

/// Keeps `levels` levels of arrays and objects; deeper values are replaced by their JSON text.
pub(super) fn flatten(value: &mut Value, levels: u8) {
    match value {
        Value::Array(_) | Value::Object(_) if levels == 0 => *value = Value::String(value.to_string()),
        Value::Array(elements) => elements.iter_mut().for_each(|element| flatten(element, levels - 1)),
        Value::Object(members) => members.values_mut().for_each(|member| flatten(member, levels - 1)),
        _ => {}
    }
}

/// Creates [`Fields`](crate::episode::Fields) from a literal: `fields!({ "pool": 40 })`. The object needs at least one
/// field. A computed value must be an integer, a text, an id, or a [`Json`](crate::episode::Json), which was checked
/// when it was created (see [`ToJson`](crate::episode::ToJson)).
///
/// ```
/// use omen_fsm::episode::{DoesNotFit, Json};
/// use omen_fsm::fields;
/// use omen_types::serde_json::json;
///
/// let (size, name) = (40, String::from("orders"));
/// let found = Json::new(json!([1, { "deep": null }]))?;
/// let fields = fields!({ "pool": { "size": size, "name": name, "found": [found, -1, 2.5, true, null] } });
/// assert_eq!(fields.into_map()["pool"]["found"][0][1]["deep"], json!(null));
/// # Ok::<(), DoesNotFit>(())
/// ```
///
/// ```compile_fail,E0277
/// # use omen_fsm::fields;
/// let unchecked = omen_types::serde_json::json!([1]);
/// let fields = fields!({ "found": unchecked });
/// ```
///
/// ```compile_fail,E0277
/// # use omen_fsm::fields;
/// let rate: f64 = "NaN".parse().unwrap(); // JSON has no NaN: use `Json::number(rate)?`
/// let fields = fields!({ "rate": rate });
/// ```
#[macro_export]
macro_rules! fields {
    ({ $($member:tt)+ }) => {{
        const {
            ::core::assert!(
                $crate::episode::Fields::__may_be_written($crate::__depth!({ $($member)+ })),
                "SCHEMA: this object is nested too deep for a literal; make the inner part with `Json::new(value)?`"
            );
        }
        $crate::episode::Fields::__written($crate::__written!({ $($member)+ }))
    }};
    ({}) => {
        ::core::compile_error!("SCHEMA: expected at least one member, such as `fields!({ \"value\": 1 })`")
    };
}

/// Returns the nesting depth of braces and brackets.
#[doc(hidden)]
#[macro_export]
macro_rules! __depth {
    ({ $($inner:tt)* }) => { 1 + $crate::episode::Fields::__deepest(&[$($crate::__depth!($inner)),*]) };
    ([ $($inner:tt)* ]) => { 1 + $crate::episode::Fields::__deepest(&[$($crate::__depth!($inner)),*]) };
    ($other:tt) => { 0 };
}

/// Parses a JSON literal like `serde_json::json!`, except that computed values must implement `ToJson`.
#[doc(hidden)]
#[macro_export]
macro_rules! __written {
    (@array $array:ident) => {};
    (@array $array:ident null $(, $($rest:tt)*)?) => {
        $array.push($crate::__written!(null));
        $($crate::__written!(@array $array $($rest)*);)?
    };
    (@array $array:ident [ $($inner:tt)* ] $(, $($rest:tt)*)?) => {
        $array.push($crate::__written!([ $($inner)* ]));
        $($crate::__written!(@array $array $($rest)*);)?
    };
    (@array $array:ident { $($inner:tt)* } $(, $($rest:tt)*)?) => {
        $array.push($crate::__written!({ $($inner)* }));
        $($crate::__written!(@array $array $($rest)*);)?
    };
    (@array $array:ident $value:expr $(, $($rest:tt)*)?) => {
        $array.push($crate::__written!($value));
        $($crate::__written!(@array $array $($rest)*);)?
    };

    (@object $object:ident) => {};
    (@object $object:ident $key:tt : null $(, $($rest:tt)*)?) => {
        let _ = $object.insert($key.into(), $crate::__written!(null));
        $($crate::__written!(@object $object $($rest)*);)?
    };
    (@object $object:ident $key:tt : [ $($inner:tt)* ] $(, $($rest:tt)*)?) => {
        let _ = $object.insert($key.into(), $crate::__written!([ $($inner)* ]));
        $($crate::__written!(@object $object $($rest)*);)?
    };
    (@object $object:ident $key:tt : { $($inner:tt)* } $(, $($rest:tt)*)?) => {
        let _ = $object.insert($key.into(), $crate::__written!({ $($inner)* }));
        $($crate::__written!(@object $object $($rest)*);)?
    };
    (@object $object:ident $key:tt : $value:expr $(, $($rest:tt)*)?) => {
        let _ = $object.insert($key.into(), $crate::__written!($value));
        $($crate::__written!(@object $object $($rest)*);)?
    };

    (null) => { $crate::__json::Value::Null };
    ([ $($element:tt)* ]) => {{
        #[allow(unused_mut, reason = "it may stay empty")]
        let mut array = ::std::vec::Vec::<$crate::__json::Value>::new();
        $crate::__written!(@array array $($element)*);
        $crate::__json::Value::Array(array)
    }};
    ({ $($member:tt)* }) => {{
        #[allow(unused_mut, reason = "it may stay empty")]
        let mut object = $crate::__json::Map::<::std::string::String, $crate::__json::Value>::new();
        $crate::__written!(@object object $($member)*);
        $crate::__json::Value::Object(object)
    }};
    ($value:literal) => { $crate::episode::Literal::__value($value) };
    ($value:expr) => { $crate::__json::Value::from($crate::episode::ToJson::to_json(&$value)) };
}

/// Creates a [`Json`](crate::episode::Json) from a constant number; a number that is not finite does not compile. For
/// a number known only at run time, use `Json::number(number)?`.
///
/// ```
/// use omen_fsm::{episode::Belief, number};
///
/// let belief = Belief::new("web", "error_rate", number!(0.02));
/// ```
///
/// ```compile_fail,E0080
/// let ratio = omen_fsm::number!(1.0 / 0.0);
/// ```
#[macro_export]
macro_rules! number {
    ($number:expr $(,)?) => {{
        // As in `text!`: rustc makes no suggestions for code inside this macro.
        struct __OmenNumber;
        impl __OmenNumber {
            const GIVEN: f64 = $number as f64;
        }
        const _: () = ::core::assert!(__OmenNumber::GIVEN.is_finite(), "SCHEMA: JSON has no number that is not finite");
        $crate::episode::Json::__finite(__OmenNumber::GIVEN)
    }};
}
