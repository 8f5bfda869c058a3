//! Sanitizing of foreign text for messages and logs.

use omen_types::unseen::is_unseen;

/// Truncates a text to [`MAX_TEXT`] bytes, with a final `…` if something was cut. Invisible characters, and those that
/// reorder a line, become blanks, so that foreign text cannot forge lines of a log or a screen. Only the kept part is
/// read.
#[must_use]
pub fn bounded(text: &str) -> String {
    let whole = text.len() <= MAX_TEXT;
    let end = if whole { text.len() } else { text.floor_char_boundary(MAX_TEXT - CUT.len_utf8()) };
    let kept = text.get(..end).unwrap_or_default().chars().map(|c| if is_unseen(c) { ' ' } else { c });
    kept.chain((!whole).then_some(CUT)).collect()
}

/// Limit of foreign text in bytes.
pub const MAX_TEXT: usize = 512;

const CUT: char = '…';
