//! The part of a long line that a person can look at.

use std::borrow::Cow;
use std::ops::Range;

use omen_types::unseen::is_unseen;

/// Part of a line, safe to print, and where the span stands in it, in bytes.
pub(super) struct Excerpt {
    pub(super) text: String,
    pub(super) span: Range<usize>,
}

/// Cuts a window of about [`WINDOW`] columns around a span out of a line. Sides that are cut off
/// show `…`. `label` is how many columns the words after the caret need.
pub(super) fn excerpt(line: &str, span: &Range<usize>, label: usize) -> Excerpt {
    let (before, inside, after) = split(line, span);
    let inside_shown = inside.chars().count().min(WIDEST_SPAN);
    let (before_all, after_all) = (before.chars().count(), after.chars().count());

    // To the right: room for the label, and for some of what comes next. To the left: what remains,
    // for the member's name stands there. What one side does not need, the other gets.
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

/// The text with everything in it visible: nothing that moves the cursor, changes colours or turns
/// the direction of writing reaches the terminal.
pub fn clean(text: &str) -> Cow<'_, str> {
    if text.chars().all(|c| visible(c) == c && c != '\t') {
        return Cow::Borrowed(text);
    }
    let mut cleaned = String::with_capacity(text.len());
    for c in text.chars() {
        match visible(c) {
            '\t' => cleaned.push('␉'),
            // What has no picture is named: here, nobody counts columns.
            char::REPLACEMENT_CHARACTER if c != char::REPLACEMENT_CHARACTER => cleaned.extend(c.escape_unicode()),
            seen => cleaned.push(seen),
        }
    }
    Cow::Owned(cleaned)
}

/// Tabs stay; `annotate-snippets` sets them itself.
fn visible(c: char) -> char {
    match c {
        '\t' => c,
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or(char::REPLACEMENT_CHARACTER),
        '\u{7f}' => '␡',
        // One column for each character, which windows and carets count on.
        _ if is_unseen(c) => char::REPLACEMENT_CHARACTER,
        _ => c,
    }
}

/// The line in three parts. A span that does not fit the line, because the line was decoded lossily,
/// is moved to where it does.
fn split<'l>(line: &'l str, span: &Range<usize>) -> (&'l str, &'l str, &'l str) {
    let boundary = |at: usize| (0..=at.min(line.len())).rev().find(|at| line.is_char_boundary(*at)).unwrap_or(0);
    let start = boundary(span.start);
    let (before, rest) = line.split_at_checked(start).unwrap_or((line, ""));
    let (inside, after) = rest.split_at_checked(boundary(span.end).saturating_sub(start)).unwrap_or((rest, ""));
    (before, inside, after)
}

/// Columns that are shown of a line.
const WINDOW: usize = 100;

/// Columns that a label may stand out of the window.
const OVERHANG: usize = 20;

/// Columns of a span that are shown at most: a span may be a whole packet.
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
        #[expect(clippy::reversed_empty_ranges, reason = "that is the point")]
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
