//! Sanitizing of foreign text for messages and logs.

use omen_types::scalar::invisible::is_invisible;

/// Truncates a text to [`MAX_TEXT`] bytes, ending in `…` if something was cut. Invisible characters and those that reorder a
/// line become blanks, so foreign text cannot forge lines in a log or on a screen. Only the kept part is read.
#[must_use]
pub fn bounded(text: &str) -> String {
    let whole = text.len() <= MAX_TEXT;
    let end = if whole { text.len() } else { text.floor_char_boundary(MAX_TEXT - CUT.len_utf8()) };
    let kept = text.get(..end).unwrap_or_default().chars().map(|c| if is_invisible(c) { ' ' } else { c });
    kept.chain((!whole).then_some(CUT)).collect()
}

/// Maximum length of foreign text in bytes.
pub const MAX_TEXT: usize = 512;

const CUT: char = '…';
