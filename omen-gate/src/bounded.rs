//! Foreign text, made fit for messages and logs.

/// The text, cut to [`MAX_TEXT`] bytes at most, with a `…` at the end if something was cut. Control characters
/// and those that reorder a line become blanks, so that foreign text cannot forge lines of a log or a screen.
/// No more of the text is looked at than is kept.
#[must_use]
pub fn bounded(text: &str) -> String {
    let whole = text.len() <= MAX_TEXT;
    let end = if whole { text.len() } else { text.floor_char_boundary(MAX_TEXT - CUT.len_utf8()) };
    let kept = text.get(..end).unwrap_or_default().chars().map(|c| if is_harmless(c) { c } else { ' ' });
    kept.chain((!whole).then_some(CUT)).collect()
}

/// How much foreign text is kept, in bytes.
pub const MAX_TEXT: usize = 512;

const CUT: char = '…';

fn is_harmless(c: char) -> bool {
    // Beside control characters: line separators, and what turns the direction of writing.
    let turns = matches!(c, '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{061C}');
    !c.is_control() && !turns
}
