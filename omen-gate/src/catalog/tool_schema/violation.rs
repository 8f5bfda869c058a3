//! Schema violations as text.

use crate::base::bounded;

/// Violation of a schema by a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Violation {
    /// JSON pointer into the value.
    pub(crate) at: String,
    /// Message, truncated to a bounded length.
    pub(crate) what: String,
    /// Message that quotes nothing from the value.
    pub(crate) unquoted: String,
}

/// Formats violations on one line, and truncates a long list.
pub(crate) fn format_violations(violations: &[Violation]) -> String {
    format_by(violations, |violation| (bounded(&violation.at), violation.what.as_str()))
}

/// Formats violations on one line without quoting anything from the value; `place` masks their pointers.
pub(super) fn format_unquoted(violations: &[Violation], place: impl Fn(&str) -> String) -> String {
    format_by(violations, |violation| (place(&violation.at), violation.unquoted.as_str()))
}

fn format_by<'v>(violations: &'v [Violation], said: impl Fn(&'v Violation) -> (String, &'v str)) -> String {
    let one = |violation| match said(violation) {
        (at, what) if at.is_empty() => what.to_owned(),
        (at, what) => format!("`{at}`: {what}"),
    };
    let shown: Vec<String> = violations.iter().take(SHOWN).map(one).collect();
    let more = if violations.len() > SHOWN { "; and more" } else { "" };
    format!("{}{more}", shown.join("; "))
}

/// Maximum number of violations listed in a message.
const SHOWN: usize = 8;
