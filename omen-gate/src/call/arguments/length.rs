//! Length bounds.

use std::fmt;

use serde_json::Value;

use super::types::ValueTypes;
use super::violation::RefusalReason;

/// Bounds on the number of characters in a string (Unicode code points, as in JSON Schema) or of elements in an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Length {
    pub(crate) min: Option<u32>,
    pub(crate) max: Option<u32>,
}

impl Length {
    pub(super) fn judge(self, value: &Value) -> Result<(), RefusalReason> {
        let (length, what) = match value {
            Value::String(text) => (text.chars().count(), "character"),
            Value::Array(items) => (items.len(), "member"),
            _ => return Err(RefusalReason::other_type(ValueTypes::STRING.or(ValueTypes::ARRAY), value)),
        };
        let few = self.min.filter(|min| length < *min as usize);
        let many = self.max.filter(|max| length > *max as usize);
        let s = if length == 1 { "" } else { "s" };
        match (few, many) {
            (Some(min), _) => {
                Err(RefusalReason::new(format!("it has {length} {what}{s}"), format!("pass at least {min} {what}s")))
            }
            (_, Some(max)) => {
                Err(RefusalReason::new(format!("it has {length} {what}{s}"), format!("pass at most {max} {what}s")))
            }
            (None, None) => Ok(()),
        }
    }

    /// Returns whether no length satisfies the bounds.
    pub(super) fn is_empty(self) -> bool {
        self.min.zip(self.max).is_some_and(|(min, max)| min > max)
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bound = |name: &str, bound: Option<u32>| bound.map(|bound| format!("{name} = {bound}"));
        let bounds: Vec<_> = [bound("min", self.min), bound("max", self.max)].into_iter().flatten().collect();
        write!(f, "length = {{ {} }}", bounds.join(", "))
    }
}
