//! Bounds of the texts that a test accepts, as regular expressions.

use std::fmt::Write as _;

/// Regular languages between which the texts are that a test accepts.
pub(super) struct TextBounds {
    /// Expression of texts that pass.
    pub(super) sure: String,
    /// Expression of texts that may pass; nothing if no others do.
    pub(super) possible: Option<String>,
}

/// Class of a regular expression with the characters that a test accepts.
pub(super) fn characters(is_in: impl Fn(char) -> bool) -> String {
    let mut class = String::from("[");
    let mut all = ('\0'..=char::MAX).filter(|c| is_in(*c)).peekable();
    while let Some(first) = all.next() {
        let mut last = first;
        while let Some(next) = all.next_if(|next| u32::from(*next) == u32::from(last) + 1) {
            last = next;
        }
        let _ = write!(class, r"\x{{{:x}}}-\x{{{:x}}}", u32::from(first), u32::from(last));
    }
    class + "]"
}
