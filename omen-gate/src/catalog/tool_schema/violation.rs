//! What a value breaks of a schema, in words.

use crate::base::bounded;

/// One thing that is wrong with a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Violation {
    /// Where: a JSON pointer into the value.
    pub(crate) at: String,
    /// What, cut to a bounded length.
    pub(crate) what: String,
    /// What, without anything of the value.
    pub(crate) unquoted: String,
}

/// Writes violations in one line; a long list is cut.
pub(crate) fn format_violations(violations: &[Violation]) -> String {
    format_by(violations, |violation| (bounded(&violation.at), violation.what.as_str()))
}

/// Writes violations in one line without anything of the value, with places as they are shown then.
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

/// The most violations that a message lists.
const SHOWN: usize = 8;
