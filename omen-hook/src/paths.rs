//! Paths in the arguments of calls: where they lead, and which names a text has.

use std::path::{Component, Path, PathBuf};

/// Path without `.` and `..`, and with the links of the file system resolved as far as it exists.
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

/// Text as names in it are compared. File systems that ignore case are taken into account.
pub(crate) fn spelled(text: &str) -> String {
    text.to_lowercase().replace('\\', "/")
}

/// Command without what a shell removes from words: it need not be exact, since nothing is allowed by it.
pub(crate) fn unquoted(command: &str) -> String {
    command.replace("\\\n", "").chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect()
}

/// Whether a spelled text has a name as a word, or as a part of a path. What follows the name decides whether it ends there.
pub(crate) fn is_named(text: &str, name: &str, ends: impl Fn(&str) -> bool) -> bool {
    !name.is_empty()
        && text.match_indices(name).any(|(at, found)| {
            let before = text.get(..at).unwrap_or_default();
            let option = before.strip_suffix(char::is_alphanumeric).filter(|before| before.ends_with('-'));
            // `my.claude` is another name. In `-fNAME`, the name is the value of an option.
            let begins = is_edge(before.chars().next_back()) && !before.ends_with('.');
            (begins || option.is_some()) && ends(text.get(at + found.len()..).unwrap_or_default())
        })
}

/// Whether a word ends before this rest of a text.
pub(crate) fn is_word_end(rest: &str) -> bool {
    is_edge(rest.chars().next())
}

/// Whether a word ends before this rest of a text, and no suffix follows: `.claude.md` is another name than `.claude`.
pub(crate) fn is_plain_end(rest: &str) -> bool {
    is_word_end(rest) && !rest.starts_with('.')
}

fn is_edge(c: Option<char>) -> bool {
    c.is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != '-')
}
