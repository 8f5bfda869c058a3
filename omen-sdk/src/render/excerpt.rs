//! The part of a long line that is shown to people.
//!
//! Written by hand: `annotate-snippets` leaves no room for the label when it cuts a line, and prints characters of the log that
//! a terminal would obey.

use std::borrow::Cow;
use std::ops::Range;

use omen_types::unseen::is_unseen;

/// Part of a line that is safe to print, and the span within it, in bytes.
pub(super) struct Excerpt {
    pub(super) text: String,
    pub(super) span: Range<usize>,
}

/// Returns about [`WINDOW`] columns of a line around a span. A side that is cut off ends in `…`. `label` is the number of
/// columns of the words after the caret.
pub(super) fn excerpt(line: &str, span: &Range<usize>, label: usize) -> Excerpt {
    let (before, inside, after) = split(line, span);
    let inside_shown = inside.chars().count().min(WIDEST_SPAN);
    let (before_all, after_all) = (before.chars().count(), after.chars().count());

    // To the right: room for the label, and for some of the text. To the left: the rest, since the name of the field is
    // there. Room that one side does not need goes to the other.
    let room = WINDOW.saturating_sub(inside_shown);
    let right = (label + 1).saturating_sub(OVERHANG).min(room * 3 / 4).max(after_all.min(room / 4));
    let before_shown = before_all.min(room - right);
    let after_shown = after_all.min(room - before_shown);

    let inside_cut = inside_shown < inside.chars().count();
    let mut text = String::new();
    if before_shown < before_all {
        text.push(CUT);
    }
    text.extend(before.chars().skip(before_all - before_shown).map(visible));
    let start = text.len();
    text.extend(inside.chars().take(inside_shown).map(visible));
    let end = text.len();
    if !inside_cut {
        text.extend(after.chars().take(after_shown).map(visible));
    }
    if inside_cut || after_shown < after_all {
        text.push(CUT);
    }
    Excerpt { text, span: start..end }
}

/// Makes every character visible: none of the text can move the cursor, change colours or reverse the writing direction of
/// a terminal.
pub fn clean(text: &str) -> Cow<'_, str> {
    if text.chars().all(|c| visible(c) == c && c != '\t') {
        return Cow::Borrowed(text);
    }
    let mut cleaned = String::with_capacity(text.len());
    for c in text.chars() {
        match visible(c) {
            '\t' => cleaned.push('␉'),
            // A character without a picture is escaped: columns do not matter here.
            char::REPLACEMENT_CHARACTER if c != char::REPLACEMENT_CHARACTER => cleaned.extend(c.escape_unicode()),
            seen => cleaned.push(seen),
        }
    }
    Cow::Owned(cleaned)
}

/// Tabs are kept: `annotate-snippets` expands them.
fn visible(c: char) -> char {
    match c {
        '\t' => c,
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or(char::REPLACEMENT_CHARACTER),
        '\u{7f}' => '␡',
        // One column for each character: excerpts and carets rely on it.
        _ if is_unseen(c) => char::REPLACEMENT_CHARACTER,
        _ => c,
    }
}

/// The line before, in and after the span. A span outside the line, or inside a character, is moved: the line may have been
/// decoded lossily.
fn split<'l>(line: &'l str, span: &Range<usize>) -> (&'l str, &'l str, &'l str) {
    let boundary = |at: usize| (0..=at.min(line.len())).rev().find(|at| line.is_char_boundary(*at)).unwrap_or(0);
    let start = boundary(span.start);
    let (before, rest) = line.split_at_checked(start).unwrap_or((line, ""));
    let (inside, after) = rest.split_at_checked(boundary(span.end).saturating_sub(start)).unwrap_or((rest, ""));
    (before, inside, after)
}

/// Columns of a line that are shown.
const WINDOW: usize = 100;

/// Columns of a label that may be outside the window.
const OVERHANG: usize = 20;

/// Most columns of a span that are shown: a span may be a whole packet.
const WIDEST_SPAN: usize = 60;

const CUT: char = '…';

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, span: Range<usize>, expect: &str) {
        let excerpt = excerpt(line, &span, 0);
        assert!(excerpt.text.chars().count() <= WINDOW + 2, "{}", excerpt.text);
        assert_eq!(&excerpt.text[excerpt.span], expect);
    }

    #[test]
    fn the_span_stays_the_same_text_wherever_it_stands() {
        let line = format!("{}needle{}", "<".repeat(500), ">".repeat(500));
        check(&line, 500..506, "needle");
        check("needle", 0..6, "needle");
        check(&line, 0..3, "<<<");
        check(&line, 1003..1006, ">>>");
        check(&line, 1006..1006, "");
    }

    #[test]
    fn short_lines_are_not_cut() {
        assert_eq!(excerpt("{\"a\":1}", &(5..6), 10).text, "{\"a\":1}");
    }

    #[test]
    fn cut_sides_are_marked() {
        let line = "-".repeat(1000);
        let text = excerpt(&line, &(500..510), 0).text;
        assert!(text.starts_with(CUT) && text.ends_with(CUT));
        assert_eq!(text.chars().count(), WINDOW + 2);
        assert!(!excerpt(&line, &(0..10), 0).text.starts_with(CUT));
        assert!(!excerpt(&line, &(990..1000), 0).text.ends_with(CUT));
    }

    #[test]
    fn wide_spans_are_cut_at_their_end() {
        let line = "x".repeat(5000);
        let excerpt = excerpt(&line, &(100..4900), 0);
        assert_eq!(excerpt.span.len(), WIDEST_SPAN);
        assert!(excerpt.text.ends_with("x…"));
    }

    #[test]
    fn spans_inside_a_character_or_beyond_the_line_do_no_harm() {
        check("aéb", 2..3, "é");
        check("aé", 7..9, "");
        check("", 0..1, "");
        #[expect(clippy::reversed_empty_ranges, reason = "this is what is tested")]
        check("abc", 2..1, "");
    }

    #[test]
    fn nothing_unseen_is_printed() {
        let text = excerpt("a\u{1b}[31mb\u{202e}c\u{9b}d\r", &(0..1), 0).text;
        assert_eq!(text, "a␛[31mb\u{fffd}c\u{fffd}d␍");
        assert_eq!(clean("one\ntwo\tthree"), "one␊two␉three");
        let turned = "a\u{202e}b\u{2066}\u{200b}c\u{9b}\u{e0041}\u{fffd}";
        assert_eq!(clean(turned), "a\\u{202e}b\\u{2066}\\u{200b}c\\u{9b}\\u{e0041}\u{fffd}");
        assert!(matches!(clean("naïve 日本 😀"), Cow::Borrowed(_)));
    }
}
