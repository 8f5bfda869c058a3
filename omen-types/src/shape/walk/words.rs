//! Wording of messages and help texts.

use std::fmt::Write as _;

use crate::scalar::invisible::is_invisible;

/// Maximum length of a list of values in a message, in bytes.
pub(super) const LONGEST_LIST: usize = 80;

pub(super) fn elements(count: usize) -> String {
    if count == 1 { "1 element".to_owned() } else { format!("{count} elements") }
}

/// Returns the input in backticks, truncated to 80 characters, with invisible characters escaped.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("`");
    for (count, c) in text.chars().enumerate() {
        if count == 80 {
            out.push('…');
            break;
        }
        let _ = if is_invisible(c) { write!(out, "{}", c.escape_default()) } else { write!(out, "{c}") };
    }
    out.push('`');
    out
}

pub(super) fn first_sentence(text: &str) -> String {
    let end = text.find(". ").unwrap_or(text.len());
    lower(text.get(..end).unwrap_or(text)).trim_end_matches('.').to_owned()
}

/// Lowers the first letter, unless the word is an acronym or a name in capitals.
fn lower(text: &str) -> String {
    let mut chars = text.chars();
    match (chars.next(), chars.clone().next()) {
        (Some(first), Some(second)) if second.is_lowercase() || second == ' ' => {
            first.to_lowercase().chain(chars).collect()
        }
        _ => text.to_owned(),
    }
}
