//! Encoding of foreign text in a TOML file that people will complete.

use std::fmt::Write as _;

use omen::render::human::clean;
use omen_gate::bounded;

/// Writes a text as one line of prose, whatever characters it contains.
pub(super) fn comment(text: &mut String, what: &str) {
    let _ = writeln!(text, "## {}", clean(&bounded(what)).trim_end());
}

/// Quotes a text as a TOML basic string. It may come from a server, so every unusual character is escaped.
pub(crate) fn quoted(what: &str) -> String {
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
