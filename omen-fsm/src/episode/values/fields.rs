//! Free-form JSON objects.

use omen_types::limits::{MAX_FIELDS_DEPTH, MAX_LITERAL_DEPTH};
use omen_types::serde_json::{Map, Value};

use super::json::{self, DoesNotFit};

/// A free-form JSON object with at least one member, as observations and tools take it. The macro
/// [`fields!`](crate::fields) writes one out.
#[derive(Clone, Debug, PartialEq)]
pub struct Fields(Map<String, Value>);

impl Fields {
    /// Takes an object; none if it is empty or no object at all, or does not fit a packet. `try_new` says why.
    #[must_use]
    pub fn new(value: Value) -> Option<Self> {
        Self::try_new(value).ok()
    }

    /// Takes an object.
    ///
    /// # Errors
    /// If it is empty or no object at all, nested too deep, or too large.
    pub fn try_new(value: Value) -> Result<Self, DoesNotFit> {
        json::check(&value, MAX_FIELDS_DEPTH)?;
        match value {
            Value::Object(map) if map.is_empty() => Err(DoesNotFit::Empty),
            Value::Object(map) => Ok(Self(map)),
            _ => Err(DoesNotFit::NotAnObject),
        }
    }

    /// The members.
    #[must_use]
    pub fn into_map(self) -> Map<String, Value> {
        self.0
    }

    /// Whether the macro lets an object that is so deep be written out.
    #[doc(hidden)]
    #[must_use]
    pub const fn __may_be_written(depth: u8) -> bool {
        depth <= MAX_LITERAL_DEPTH
    }

    /// The greatest of some numbers.
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

    /// From the macro, which writes an object with a member, out of values that were checked. What is nested too deep all
    /// the same becomes its JSON text, and what is no object the member `value`.
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

/// Leaves as many levels of a free-form object as fit a packet; what is below becomes its JSON text.
pub(super) fn flatten_map(members: &mut Map<String, Value>) {
    members.values_mut().for_each(|member| flatten(member, MAX_FIELDS_DEPTH - 1));
}

/// Leaves so many levels of arrays and objects; what is below becomes its JSON text.
pub(super) fn flatten(value: &mut Value, levels: u8) {
    match value {
        Value::Array(_) | Value::Object(_) if levels == 0 => *value = Value::String(value.to_string()),
        Value::Array(elements) => elements.iter_mut().for_each(|element| flatten(element, levels - 1)),
        Value::Object(members) => members.values_mut().for_each(|member| flatten(member, levels - 1)),
        _ => {}
    }
}

/// Writes a free-form JSON object out: `fields!({ "pool": 40 })`. It needs at least one member. A value in it that the
/// program computes is a number, a text, an id, or a [`Json`](crate::episode::Json), which was checked where it was made
/// (see [`ToJson`](crate::episode::ToJson)).
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
#[macro_export]
macro_rules! fields {
    ({ $($member:tt)+ }) => {{
        const {
            ::core::assert!(
                $crate::episode::Fields::__may_be_written($crate::__depth!({ $($member)+ })),
                "SCHEMA: this object is nested too deep to be written out; make the inner part with `Json::new(value)?`"
            );
        }
        $crate::episode::Fields::__written($crate::__written!({ $($member)+ }))
    }};
    ({}) => {
        ::core::compile_error!("SCHEMA: an object of `fields!` has at least one member")
    };
}

/// How deep the braces and brackets of some tokens nest.
#[doc(hidden)]
#[macro_export]
macro_rules! __depth {
    ({ $($inner:tt)* }) => { 1 + $crate::episode::Fields::__deepest(&[$($crate::__depth!($inner)),*]) };
    ([ $($inner:tt)* ]) => { 1 + $crate::episode::Fields::__deepest(&[$($crate::__depth!($inner)),*]) };
    ($other:tt) => { 0 };
}

/// JSON that is written out, as `serde_json::json!` reads it; what the program computes has to be `ToJson`.
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
    ($value:expr) => { $crate::__json::Value::from($crate::episode::ToJson::to_json(&$value)) };
}
