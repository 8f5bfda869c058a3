//! Help texts, which state what to write instead or in addition.

use std::fmt::Write as _;

use omen_schema::json::JsonType;
use serde_json::value::RawValue;

use super::super::example;
use super::super::{FieldShape, Shape, ShapeKind};
use super::expected::{is_written, json_types};
use super::remedy::Remedy;
use super::words::{LONGEST_LIST, first_sentence, quoted};
use super::{Walk, walk};
use crate::time::Instant;

impl Walk {
    /// Returns the help for a missing field: its name with an example value, and its meaning.
    pub(super) fn add(&self, field: &FieldShape) -> String {
        self.spell("add", field)
    }

    /// Returns how to add a field, and one that its value requires.
    pub(super) fn add_both(&self, field: &FieldShape, also: &FieldShape) -> String {
        let value = |field: &FieldShape| example::short(example::of_field(field), field.shape);
        let both = [field, also].map(|field| format!("`\"{}\": {}`", field.name, value(field)));
        format!("add {}: {}", both.join(" and "), first_sentence(also.description))
    }

    pub(super) fn spell(&self, verb: &str, field: &FieldShape) -> String {
        let whole = example::of_field(field);
        let value = example::short(whole.clone(), field.shape);
        let mut help = format!("{verb} `\"{}\": {value}`: {}", field.name, first_sentence(field.description));
        if value != whole && self.root.name.starts_with(char::is_uppercase) {
            let _ = write!(help, "; `omen new {}` prints a whole packet", self.root.name);
        }
        help
    }

    /// Returns a value for the current position.
    pub(super) fn such_as(&self, shape: &Shape) -> String {
        // An element of a list has no example of its own.
        let value = match self.field {
            Some(field) => example::of_field(field),
            None => example::of_shape(shape),
        };
        format!("{SUCH_AS}{}`", example::short(value, shape))
    }

    /// Like `such_as`, with the meaning of the field added, for values that are not self-explanatory.
    pub(super) fn such_as_described(&self, shape: &Shape) -> String {
        let about = self.field.map(|field| format!("; {}", first_sentence(field.description)));
        format!("{}{}", self.such_as(shape), about.unwrap_or_default())
    }

    /// Returns the remedy for a value of the wrong type.
    pub(super) fn instead(&self, shape: &'static Shape, found: JsonType, raw: &str) -> Remedy {
        let unquoted = raw.trim_matches('"');
        let is_short = raw.chars().count() <= LONGEST_LIST;
        let whole = if is_short { raw } else { "…" };
        match (&shape.kind, found) {
            (_, JsonType::String) if is_written(shape, unquoted) => Remedy::unquoted(unquoted, &quoted(unquoted)),
            (ShapeKind::Text { holds, .. }, JsonType::Number | JsonType::Bool) if holds(raw) => {
                format!("write `\"{raw}\"`, in quotes").into()
            }
            (ShapeKind::Text { holds, .. }, JsonType::Number) if let Some((time, unit)) = unix_time(raw, *holds) => {
                format!("write `\"{time}\"`, if this is in {unit} since 1970").into()
            }
            (ShapeKind::Object(_) | ShapeKind::FreeObject { .. } | ShapeKind::Array { .. }, JsonType::String)
                if is_json_within(raw, shape) =>
            {
                "remove the quotes around it and the backslashes in it: this is JSON within a string".to_owned().into()
            }
            (ShapeKind::Array { item, .. }, _) if json_types(item).contains(&found) => {
                format!("write `[{whole}]`: a list, even if it has one element").into()
            }
            (_, JsonType::Array) if let Some(only) = only_element(raw, shape).filter(|_| !self.pointer.is_empty()) => {
                format!("write {} without the brackets", quoted(only)).into()
            }
            _ if self.pointer.is_empty() && found == JsonType::Array => {
                let help = "write each element on a line of its own, without the brackets and the commas between them";
                help.to_owned().into()
            }
            _ if self.pointer.is_empty() => "write one packet per line, as a JSON object".to_owned().into(),
            _ => self.such_as(shape).into(),
        }
    }
}

/// Beginning of a help text that gives an example.
pub const SUCH_AS: &str = "write a value such as `";

/// Returns whether a JSON string contains JSON of the expected type.
fn is_json_within(raw: &str, shape: &Shape) -> bool {
    let text: String = serde_json::from_str(raw).unwrap_or_default();
    let bracket = if matches!(shape.kind, ShapeKind::Array { .. }) { '[' } else { '{' };
    text.trim_start().starts_with(bracket) && super::super::syntax(&text).is_ok()
}

/// Returns the only element of a list, if that element is expected instead of the list.
fn only_element<'t>(raw: &'t str, shape: &'static Shape) -> Option<&'t str> {
    let [only] = serde_json::from_str::<[&RawValue; 1]>(raw).ok()?;
    walk(only.get(), shape).is_empty().then(|| only.get())
}

/// Returns the time represented by a number, and its unit, where a timestamp is expected.
fn unix_time(raw: &str, holds: fn(&str) -> bool) -> Option<(String, &'static str)> {
    let number = raw.split('.').next().filter(|number| number.bytes().all(|byte| byte.is_ascii_digit()))?;
    let (seconds, unit) = match number.len() {
        10 => (number, "seconds"),
        13 => (number.get(..10)?, "milliseconds"),
        _ => return None,
    };
    let time = Instant::from_unix(seconds.parse().ok()?, 0).to_string();
    // A scalar that also accepts other texts is not a timestamp.
    (holds(&time) && !holds("x")).then_some((time, unit))
}

/// Returns the help for `null` where a value is required.
pub(super) fn instead_of_null(field: &FieldShape) -> String {
    let value = example::short(example::of_field(field), field.shape);
    if field.required {
        format!("`{}` is required; write a value such as `{value}`", field.name)
    } else {
        format!("leave `{}` out, or write a value such as `{value}`", field.name)
    }
}

/// Returns the remedy for a string in the wrong form, if the string shows what was meant.
pub(super) fn corrected(shape: &Shape, text: &str) -> Option<Remedy> {
    let ShapeKind::Text { example, holds, .. } = &shape.kind else { return None };
    let trimmed = Some(text.trim()).filter(|trimmed| !trimmed.is_empty())?;
    let prefix = example.split_inclusive('_').next().filter(|_| example.contains('_')).unwrap_or_default();
    // If an identifier has another form, the part after the prefix is kept.
    let stem = prefix.trim_end_matches('_');
    let rest = trimmed.strip_prefix(stem).unwrap_or(trimmed).trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
    let safe = rest.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' });
    let safe: String = safe.take(LONGEST_LIST).collect();
    let with_t = trimmed.replacen(' ', "T", 1);
    let write = |value: String| holds(&value).then(|| Remedy::written(&value));
    let in_utc = |value: String| {
        let Remedy { help, edit } = write(format!("{value}Z"))?;
        let help = format!("{help} if it is UTC, or its offset instead of the `Z`, such as `+01:00`");
        Some(Remedy { help, edit })
    };
    let is_safe = !rest.is_empty() && !prefix.is_empty();
    is_safe
        .then(|| write(format!("{prefix}{safe}")))
        .flatten()
        // Other packets may refer to the id as it is written now.
        .map(Remedy::in_words)
        .or_else(|| write(with_t.clone()))
        .or_else(|| in_utc(with_t.clone()))
        .or_else(|| in_utc(format!("{with_t}T00:00:00")).map(Remedy::in_words))
}
