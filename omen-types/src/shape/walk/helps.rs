//! Helps: what to write instead, or in addition.

use std::fmt::Write as _;

use super::super::example;
use super::super::scan::JsonType;
use super::super::{FieldShape, Shape, ShapeKind};
use super::Walk;
use super::expected::{is_written, json_types};
use super::words::{LONGEST_LIST, first_sentence, quoted};

impl Walk {
    /// How to add a field: its name with an example value, and what it means.
    pub(super) fn add(&self, field: &FieldShape) -> String {
        self.spell("add", field)
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

    /// A value to write at the place that is walked.
    pub(super) fn such_as(&self, shape: &Shape) -> String {
        // An element of a list has no example of its own.
        let value = match self.field {
            Some(field) => example::of_field(field),
            None => example::of(shape),
        };
        format!("write a value such as `{}`", example::short(value, shape))
    }

    /// What to write instead of a value of another type.
    pub(super) fn instead(&self, shape: &Shape, found: JsonType, raw: &str) -> String {
        let unquoted = raw.trim_matches('"');
        let is_short = raw.chars().count() <= LONGEST_LIST;
        let whole = if is_short { raw } else { "…" };
        match (&shape.kind, found) {
            (_, JsonType::String) if is_written(shape, unquoted) => {
                format!("write {} without the quotes", quoted(unquoted))
            }
            (ShapeKind::Text { holds, .. }, JsonType::Number | JsonType::Bool) if holds(raw) => {
                format!("write `\"{raw}\"`, in quotes")
            }
            (ShapeKind::Array { item, .. }, _) if json_types(item).contains(&found) => {
                format!("write `[{whole}]`: a list, even if it has one element")
            }
            _ if self.pointer.is_empty() && found == JsonType::Array => {
                "write each element on a line of its own, without the brackets and the commas between them".to_owned()
            }
            _ if self.pointer.is_empty() => "write one packet per line, as a JSON object".to_owned(),
            _ => self.such_as(shape),
        }
    }
}

/// What to write where a field is `null`.
pub(super) fn instead_of_null(field: &FieldShape) -> String {
    let value = example::short(example::of_field(field), field.shape);
    if field.required {
        format!("`{}` is required; write a value such as `{value}`", field.name)
    } else {
        format!("leave `{}` out, or write a value such as `{value}`", field.name)
    }
}

/// What to write instead of a string that is not in its form, if the string shows it.
pub(super) fn corrected(shape: &Shape, text: &str) -> Option<String> {
    let ShapeKind::Text { example, holds, .. } = &shape.kind else { return None };
    let trimmed = Some(text.trim()).filter(|trimmed| !trimmed.is_empty())?;
    let prefix = example.split_inclusive('_').next().filter(|_| example.contains('_')).unwrap_or_default();
    // Of an identifier in another form, what comes after the prefix is kept.
    let stem = prefix.trim_end_matches('_');
    let rest = trimmed.strip_prefix(stem).unwrap_or(trimmed).trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
    let safe = rest.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' });
    let safe: String = safe.take(LONGEST_LIST).collect();
    let with_t = trimmed.replacen(' ', "T", 1);
    let write = |value: String| holds(&value).then(|| format!("write `\"{value}\"`"));
    let in_utc = |value: String| {
        let offset = "if it is UTC, or its offset instead of the `Z`, such as `+01:00`";
        Some(format!("{} {offset}", write(format!("{value}Z"))?))
    };
    let is_safe = !rest.is_empty() && !prefix.is_empty();
    is_safe
        .then(|| write(format!("{prefix}{safe}")))
        .flatten()
        .or_else(|| write(with_t.clone()))
        .or_else(|| in_utc(with_t.clone()))
        .or_else(|| in_utc(format!("{with_t}T00:00:00")))
}
