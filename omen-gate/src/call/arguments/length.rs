//! How long a value may be.

use std::fmt;

use serde_json::Value;

use super::broken::Why;
use super::types::Types;

/// Bounds on the characters of a string (Unicode code points, as JSON Schema counts them), or on the members of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Length {
    pub(crate) min: Option<u32>,
    pub(crate) max: Option<u32>,
}

impl Length {
    pub(super) fn judge(self, value: &Value) -> Result<(), Why> {
        let (length, what) = match value {
            Value::String(text) => (text.chars().count(), "character"),
            Value::Array(items) => (items.len(), "member"),
            _ => return Err(Why::other_type(Types::STRING.or(Types::ARRAY), value)),
        };
        let few = self.min.filter(|min| length < *min as usize);
        let many = self.max.filter(|max| length > *max as usize);
        let s = if length == 1 { "" } else { "s" };
        match (few, many) {
            (Some(min), _) => {
                Err(Why::new(format!("it has {length} {what}{s}"), format!("pass at least {min} {what}s")))
            }
            (_, Some(max)) => {
                Err(Why::new(format!("it has {length} {what}{s}"), format!("pass at most {max} {what}s")))
            }
            (None, None) => Ok(()),
        }
    }

    /// Whether no length is within the bounds.
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
