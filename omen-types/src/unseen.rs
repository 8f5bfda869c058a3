//! Invisible characters, and those that change how others are shown: foreign text uses them to look like something else.

/// Whether a character leaves no mark of its own: a control character, a separator of lines, or one that is only there
/// to turn the direction of writing, to join, to select a form, or to carry a tag.
///
/// These are the categories Cc, Cf, Zl and Zp of Unicode 16 and what has the property `Default_Ignorable_Code_Point`,
/// without the signs of Cf that are drawn (`Prepended_Concatenation_Mark`). Blanks are seen by what they part.
#[must_use]
pub const fn is_unseen(c: char) -> bool {
    matches!(c,
        // Control characters.
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        // Soft hyphen, grapheme joiner, mark of Arabic letters.
        | '\u{ad}' | '\u{34f}' | '\u{61c}'
        // Fillers of Hangul, which are letters; inherent vowels of Khmer; selectors of Mongolian.
        | '\u{115f}'..='\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        // Characters without width, joiners, marks of direction; separators and embeddings; isolates and operators.
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        // Selectors of forms; the byte order mark; annotations.
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}'
        // Controls of hieroglyphs, shorthand and music.
        | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        // Tags, in which whole sentences can be hidden, and more selectors.
        | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use super::is_unseen;

    /// That the table is Unicode's is tested where there is a second one: in `omen-gate`, by a regular expression.
    #[test]
    fn what_turns_or_hides_text_is_unseen_and_what_is_drawn_is_not() {
        let unseen = "\0\n\u{1b}\u{7f}\u{85}\u{ad}\u{61c}\u{200b}\u{200d}\u{200e}\u{200f}\u{2028}\u{202a}\u{202e}\
                      \u{2060}\u{2066}\u{2069}\u{fe0f}\u{feff}\u{e0041}\u{e007f}";
        assert!(unseen.chars().all(is_unseen));
        assert!(!"aé日本😀 \u{a0}\u{301}\u{600}\u{70f}\u{fffd}␛…".chars().any(is_unseen));
    }
}
