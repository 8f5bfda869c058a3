//! Expected values: their descriptions, and whether a value matches.

use std::borrow::Cow;

use omen_schema::json::{JsonType, Scanner};

use super::super::{Shape, ShapeKind};
use crate::suggest::list;

pub(super) fn json_types(shape: &Shape) -> &'static [JsonType] {
    match shape.kind {
        ShapeKind::Object(_) | ShapeKind::FreeObject { .. } => &[JsonType::Object],
        ShapeKind::Enum(_) | ShapeKind::Text { .. } => &[JsonType::String],
        ShapeKind::NullableText => &[JsonType::String, JsonType::Null],
        ShapeKind::Integer { .. } | ShapeKind::Number { .. } => &[JsonType::Number],
        ShapeKind::Bool => &[JsonType::Bool],
        ShapeKind::Array { .. } => &[JsonType::Array],
        ShapeKind::Union(_) | ShapeKind::Any => &[],
    }
}

pub(super) fn expectation(shape: &Shape) -> Cow<'static, str> {
    match &shape.kind {
        ShapeKind::Object(_) => Cow::Owned(format!("an object ({})", shape.name)),
        ShapeKind::FreeObject { .. } => Cow::Borrowed("an object"),
        ShapeKind::Enum([value]) => Cow::Owned(format!("`{value}`")),
        ShapeKind::Enum(values) => Cow::Owned(format!("one of {}", list(values.iter().copied()))),
        ShapeKind::Text { expects, .. } => Cow::Borrowed(expects),
        ShapeKind::NullableText => Cow::Borrowed("a string or null"),
        ShapeKind::Integer { min, max } => Cow::Owned(format!("an integer from {min} to {max}")),
        ShapeKind::Number { min, max } => Cow::Owned(match (min, max) {
            (None, None) => "a number".to_owned(),
            (Some(min), None) => format!("a number of at least {min}"),
            (None, Some(max)) => format!("a number of at most {max}"),
            (Some(min), Some(max)) => format!("a number from {min} to {max}"),
        }),
        ShapeKind::Bool => Cow::Borrowed("a boolean"),
        ShapeKind::Array { .. } => Cow::Borrowed("an array"),
        ShapeKind::Any => Cow::Borrowed("any value"),
        ShapeKind::Union(branches) => {
            let words: Vec<_> = branches.iter().map(|branch| expectation(branch)).collect();
            Cow::Owned(words.join(" or "))
        }
    }
}

pub(super) fn is_integer(raw: &str, min: u64, max: u64) -> bool {
    let value = raw.parse::<u64>().ok().or_else(|| raw.parse::<f64>().ok().and_then(crate::scalar::integral));
    value.is_some_and(|value| (min..=max).contains(&value))
}

pub(super) fn is_number(raw: &str, min: Option<f64>, max: Option<f64>) -> bool {
    let value: f64 = raw.parse().unwrap_or(f64::NAN);
    !min.is_some_and(|min| value < min) && !max.is_some_and(|max| value > max)
}

/// Returns whether a string contains the expected number or boolean.
pub(super) fn is_written(shape: &Shape, text: &str) -> bool {
    // JSON notation for numbers has no plus sign and no leading zeros.
    let is_finite = || text.parse::<f64>().is_ok_and(f64::is_finite) && serde_json::from_str::<f64>(text).is_ok();
    match &shape.kind {
        ShapeKind::Integer { min, max } => is_finite() && is_integer(text, *min, *max),
        ShapeKind::Number { min, max } => is_finite() && is_number(text, *min, *max),
        ShapeKind::Bool => matches!(text, "true" | "false"),
        ShapeKind::Union(branches) => branches.iter().any(|branch| is_written(branch, text)),
        _ => false,
    }
}

/// Returns whether a branch of a union accepts the next string or number; `true` for other values, which the walk checks.
pub(super) fn takes(branch: &Shape, scanner: &Scanner<'_>) -> bool {
    let mut ahead = scanner.clone();
    match &branch.kind {
        ShapeKind::Enum(values) => values.contains(&ahead.string().0.as_ref()),
        ShapeKind::Integer { min, max } => is_integer(ahead.slice(&ahead.clone().scalar()), *min, *max),
        _ => true,
    }
}
