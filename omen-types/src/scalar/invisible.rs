//! Invisible characters, and characters that change how others are displayed. Untrusted text uses them to disguise itself.

/// Returns whether a character is invisible: a control character, a line separator, or one that only changes the writing
/// direction, joins others, selects a variant, or carries a tag.
///
/// These are the categories Cc, Cf, Zl and Zp of Unicode 16 and the characters with the property
/// `Default_Ignorable_Code_Point`, except for the Cf characters that are drawn (`Prepended_Concatenation_Mark`). Blanks
/// count as visible, because they separate words.
#[must_use]
pub const fn is_invisible(c: char) -> bool {
    matches!(c,
        // Control characters.
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        // Soft hyphen, grapheme joiner, Arabic letter mark.
        | '\u{ad}' | '\u{34f}' | '\u{61c}'
        // Hangul fillers, which are letters; Khmer inherent vowels; Mongolian variation selectors.
        | '\u{115f}'..='\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        // Zero-width characters, joiners, direction marks; separators and embeddings; isolates and operators.
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        // Variation selectors; byte order mark; annotations.
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}'
        // Control characters of hieroglyphs, shorthand and music.
        | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        // Tags, in which whole sentences can be hidden, and more variation selectors.
        | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Returns whether a text is visible to a reader, that is, whether any of its characters is neither invisible nor blank.
#[must_use]
pub const fn is_visible(text: &str) -> bool {
    let mut rest = text.as_bytes();
    loop {
        let (bits, after) = match rest {
            [] => return false,
            [a @ ..0x80, after @ ..] => (*a as u32, after),
            [a @ ..0xe0, b, after @ ..] => (lead(*a, 0x1f) | next(*b), after),
            [a @ ..0xf0, b, c, after @ ..] => ((lead(*a, 0x0f) | next(*b)) << 6 | next(*c), after),
            [a, b, c, d, after @ ..] => (((lead(*a, 0x07) | next(*b)) << 6 | next(*c)) << 6 | next(*d), after),
            // INVARIANT: a `str` ends with a complete character.
            [_, ..] => return false,
        };
        match char::from_u32(bits) {
            // The empty Braille pattern is drawn as a blank.
            Some('\u{2800}') => {}
            Some(c) if !c.is_whitespace() && !is_invisible(c) => return true,
            _ => {}
        }
        rest = after;
    }
}

/// Returns the payload bits of the first byte of a character, above those of the second.
const fn lead(byte: u8, mask: u8) -> u32 {
    ((byte & mask) as u32) << 6
}

/// Returns the payload bits of a continuation byte.
const fn next(byte: u8) -> u32 {
    (byte & 0x3f) as u32
}

#[cfg(test)]
mod tests {
    use super::{is_invisible, is_visible};

    #[test]
    fn a_text_is_visible_if_one_of_its_characters_is() {
        for one in '\0'..=char::MAX {
            let seen = !one.is_whitespace() && !is_invisible(one) && one != '\u{2800}';
            let mut buffer = [0; 4];
            assert_eq!(is_visible(one.encode_utf8(&mut buffer)), seen, "{one:?}");
        }
        for text in ["", "\0", "   ", "\u{200b}\u{feff}", "\u{3000}\u{85}", "\u{2800}\n\t"] {
            assert!(!is_visible(text), "{text:?}");
            for seen in ["a", "é", "日", "😀", "\u{301}", "…"] {
                assert!(is_visible(&format!("{text}{seen}")) && is_visible(&format!("{seen}{text}")), "{text:?}");
            }
        }
    }

    /// The table is compared with Unicode's in `omen-gate`, where a regular expression holds a second copy.
    #[test]
    fn what_turns_or_hides_text_is_unseen_and_what_is_drawn_is_not() {
        let unseen = "\0\n\u{1b}\u{7f}\u{85}\u{ad}\u{61c}\u{200b}\u{200d}\u{200e}\u{200f}\u{2028}\u{202a}\u{202e}\
                      \u{2060}\u{2066}\u{2069}\u{fe0f}\u{feff}\u{e0041}\u{e007f}";
        assert!(unseen.chars().all(is_invisible));
        assert!(!"aé日本😀 \u{a0}\u{301}\u{600}\u{70f}\u{fffd}␛…".chars().any(is_invisible));
    }
}
