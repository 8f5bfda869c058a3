//! The Markdown of the generated parts of the docs.

use std::fmt::Write as _;

/// A text as code.
pub(crate) fn code(text: &str) -> String {
    format!("`{text}`")
}

/// A table.
pub(crate) fn table(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut out = format!("| {} |\n|{}\n", head.join(" | "), "---|".repeat(head.len()));
    for row in rows {
        let cells: Vec<_> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    out
}
