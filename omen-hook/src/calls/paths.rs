//! Paths in the arguments of calls: their targets, and names that occur in texts.

use std::path::{Component, Path, PathBuf};

/// Returns a path without `.` and `..`, with links resolved as far as the path exists.
pub(crate) fn resolved(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            other => plain.push(other),
        }
        if let Ok(real) = plain.canonicalize() {
            plain = real;
        }
    }
    plain
}

/// Normalizes a text for comparing names, also for file systems that ignore case.
pub(crate) fn spelled(text: &str) -> String {
    text.to_lowercase().replace('\\', "/")
}

/// Removes what a shell would remove from words. It need not be exact, since the result is used only to refuse.
pub(crate) fn unquoted(command: &str) -> String {
    command.replace("\\\n", "").chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect()
}

/// Returns whether a normalized text contains a name as a word or as part of a path. `ends` decides whether the name ends there.
pub(crate) fn is_named(text: &str, name: &str, ends: impl Fn(&str) -> bool) -> bool {
    !name.is_empty()
        && text.match_indices(name).any(|(at, found)| {
            let before = text.get(..at).unwrap_or_default();
            let option = before.strip_suffix(char::is_alphanumeric).filter(|before| before.ends_with('-'));
            // In `my.claude`, the name is a different one. In `-fNAME`, it is the value of an option.
            let begins = is_edge(before.chars().next_back()) && !before.ends_with('.');
            (begins || option.is_some()) && ends(text.get(at + found.len()..).unwrap_or_default())
        })
}

/// Returns whether a word ends before this rest of a text.
pub(crate) fn is_word_end(rest: &str) -> bool {
    is_edge(rest.chars().next())
}

/// Returns whether a word ends before this rest of a text, without a suffix: `.claude.md` is a different name than `.claude`.
pub(crate) fn is_plain_end(rest: &str) -> bool {
    is_word_end(rest) && !rest.starts_with('.')
}

fn is_edge(c: Option<char>) -> bool {
    c.is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != '-')
}
