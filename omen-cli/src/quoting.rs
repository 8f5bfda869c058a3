//! Quoting of foreign text: words of a shell, and strings and comments of a TOML file that people will complete.

use std::fmt::Write as _;

use omen::render::human::clean;
use omen_gate::bounded;

/// Quotes a word for a POSIX shell, if necessary.
pub(crate) fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@,+%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Writes a text as one line of prose, whatever characters it contains.
pub(crate) fn toml_comment(text: &mut String, what: &str) {
    let _ = writeln!(text, "## {}", clean(&bounded(what)).trim_end());
}

/// Quotes a text as a TOML basic string. It may come from a server, so every unusual character is escaped.
pub(crate) fn toml_string(what: &str) -> String {
    let mut text = String::from('"');
    for c in what.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            c if c.is_ascii_graphic() || c.is_alphanumeric() || c == ' ' => text.push(c),
            c => {
                let _ = write!(text, "\\U{:08X}", u32::from(c));
            }
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::shell_word;

    #[test]
    fn a_word_stays_one_word() {
        for (plain, expected) in
            [("a/b-c.toml", "a/b-c.toml"), ("", "''"), ("a b", "'a b'"), ("it's", r"'it'\''s'"), ("$HOME;", "'$HOME;'")]
        {
            assert_eq!(shell_word(plain), expected);
        }
    }
}
