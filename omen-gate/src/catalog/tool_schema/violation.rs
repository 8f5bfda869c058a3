//! What a value breaks of a schema, in words.

use crate::base::bounded;

/// One thing that is wrong with a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Violation {
    /// Where: a JSON pointer into the value.
    pub(crate) at: String,
    /// What, cut to a bounded length.
    pub(crate) what: String,
}

/// Writes violations in one line; a long list is cut.
pub(crate) fn format_violations(violations: &[Violation]) -> String {
    let one = |violation: &Violation| match violation.at.as_str() {
        "" => violation.what.clone(),
        at => format!("`{}`: {}", bounded(at), violation.what),
    };
    let shown: Vec<String> = violations.iter().take(SHOWN).map(one).collect();
    let more = if violations.len() > SHOWN { "; and more" } else { "" };
    format!("{}{more}", shown.join("; "))
}

/// The most violations that a message lists.
const SHOWN: usize = 8;
