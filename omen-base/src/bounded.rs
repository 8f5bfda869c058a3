//! Foreign text, made fit for messages and logs.

use omen_types::unseen::is_unseen;

/// The text, cut to [`MAX_TEXT`] bytes at most, with a `…` at the end if something was cut. What
/// cannot be seen, or reorders a line, becomes a blank, so that foreign text cannot forge lines of a log or a screen.
/// Only the part that is kept is read.
#[must_use]
pub fn bounded(text: &str) -> String {
    let whole = text.len() <= MAX_TEXT;
    let end = if whole { text.len() } else { text.floor_char_boundary(MAX_TEXT - CUT.len_utf8()) };
    let kept = text.get(..end).unwrap_or_default().chars().map(|c| if is_unseen(c) { ' ' } else { c });
    kept.chain((!whole).then_some(CUT)).collect()
}

/// How much foreign text is kept, in bytes.
pub const MAX_TEXT: usize = 512;

const CUT: char = '…';
