//! Excerpts of long lines for terminals.
//!
//! Hand-written: when `annotate-snippets` truncates a line, it leaves no space for the label, and it prints characters
//! of the log that a terminal would interpret.

use std::borrow::Cow;
use std::ops::Range;

use omen_types::scalar::invisible::is_invisible;
use textwrap::core::display_width;

/// Part of a line that is safe to print, and the span within that part, in bytes.
pub(super) struct Excerpt {
    pub(super) text: String,
    pub(super) span: Range<usize>,
    /// Whether the label fits after the caret.
    pub(super) has_label: bool,
}

/// Space available for an excerpt.
#[derive(Clone, Copy)]
pub(super) struct Window {
    /// Columns available for the line, including the marks of truncated sides.
    pub(super) columns: usize,
    /// Columns of a label that may extend beyond the window; `None` if a label of any length is shown.
    pub(super) overhang: Option<usize>,
}

impl Window {
    /// Default if the terminal is unknown.
    pub(super) const UNBOUNDED: Self = Self { columns: 102, overhang: None };
}

/// Returns the part of a line around a span that fits into a window. A truncated side ends with `…`. `label` is the
/// width of the text after the caret, in columns.
pub(super) fn excerpt(line: &str, span: &Range<usize>, label: usize, window: Window) -> Excerpt {
    let (before, inside, after) = split(line, span);
    let columns = window.columns.saturating_sub(2);
    let (inside_text, inside_columns) = head(inside, columns * 3 / 5);
    let inside_cut = inside_text.len() < inside.len();

    // The right side gets space for the label and some text; the left side, which shows the field's name, gets the
    // rest. Space that one side does not need goes to the other. An empty span has a caret, too.
    let room = columns.saturating_sub(inside_columns.max(1));
    let needed = (label + 1).saturating_sub(window.overhang.unwrap_or(OVERHANG));
    let has_label = label > 0 && (window.overhang.is_none() || needed <= room * 3 / 4);
    let needed = if has_label { needed.min(room * 3 / 4) } else { 0 };
    let right = needed.max(head(after, room / 4).1);
    let (before_text, before_columns) = tail(before, room - right);
    let after_text = if inside_cut { "" } else { head(after, room - before_columns).0 };

    let mut text = String::new();
    if before_text.len() < before.len() {
        text.push(CUT);
    }
    text.extend(before_text.chars().map(visible));
    let start = text.len();
    text.extend(inside_text.chars().map(visible));
    let end = text.len();
    text.extend(after_text.chars().map(visible));
    if inside_cut || after_text.len() < after.len() {
        text.push(CUT);
    }
    Excerpt { text, span: start..end, has_label }
}

/// Returns the longest prefix of a text with at most `most` columns, and its width.
fn head(text: &str, most: usize) -> (&str, usize) {
    let (bytes, columns) = fitting(text.chars(), most);
    (text.get(..bytes).unwrap_or(text), columns)
}

/// Returns the longest suffix of a text with at most `most` columns, and its width.
fn tail(text: &str, most: usize) -> (&str, usize) {
    let (bytes, columns) = fitting(text.chars().rev(), most);
    (text.get(text.len() - bytes..).unwrap_or(text), columns)
}

/// Returns the number of bytes of the leading characters that fit into `most` columns, and their width.
fn fitting(chars: impl Iterator<Item = char>, most: usize) -> (usize, usize) {
    let (mut bytes, mut columns, mut count) = (0, 0, 0);
    for c in chars {
        let width = width(c);
        if columns + width > most || count == most * MOST_CHARACTERS {
            break;
        }
        (bytes, columns, count) = (bytes + c.len_utf8(), columns + width, count + 1);
    }
    (bytes, columns)
}

/// Returns the width of a character on a terminal, in columns.
fn width(c: char) -> usize {
    match visible(c) {
        '\t' => TAB,
        seen => display_width(seen.encode_utf8(&mut [0; 4])),
    }
}

/// Makes every character visible, so the text cannot move a terminal's cursor, change its colours or reverse its
/// writing direction.
pub fn clean(text: &str) -> Cow<'_, str> {
    if text.chars().all(|c| visible(c) == c && c != '\t') {
        return Cow::Borrowed(text);
    }
    let mut cleaned = String::with_capacity(text.len());
    for c in text.chars() {
        match visible(c) {
            '\t' => cleaned.push('␉'),
            // Columns do not matter here, so a character without a glyph is escaped.
            char::REPLACEMENT_CHARACTER if c != char::REPLACEMENT_CHARACTER => cleaned.extend(c.escape_unicode()),
            seen => cleaned.push(seen),
        }
    }
    Cow::Owned(cleaned)
}

/// Replaces characters that a terminal would interpret. Tabs are kept because `annotate-snippets` expands them.
fn visible(c: char) -> char {
    match c {
        '\t' => c,
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or(char::REPLACEMENT_CHARACTER),
        '\u{7f}' => '␡',
        // One column per character, which excerpts and carets rely on.
        _ if is_invisible(c) => char::REPLACEMENT_CHARACTER,
        _ => c,
    }
}

/// Splits a line before and after a span. A span outside the line or inside a character is moved, because the line may
/// have been decoded lossily.
fn split<'l>(line: &'l str, span: &Range<usize>) -> (&'l str, &'l str, &'l str) {
    let boundary = |at: usize| (0..=at.min(line.len())).rev().find(|at| line.is_char_boundary(*at)).unwrap_or(0);
    let start = boundary(span.start);
    let (before, rest) = line.split_at_checked(start).unwrap_or((line, ""));
    let (inside, after) = rest.split_at_checked(boundary(span.end).saturating_sub(start)).unwrap_or((rest, ""));
    (before, inside, after)
}

/// Columns by which a label may extend beyond the default window.
const OVERHANG: usize = 20;

/// Columns that `annotate-snippets` prints for a tab.
const TAB: usize = 4;

/// Maximum number of characters per column; some characters have no width.
const MOST_CHARACTERS: usize = 4;

const CUT: char = '…';

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, span: Range<usize>, expect: &str) {
        for columns in [20, 100] {
            let window = Window { columns, overhang: Some(0) };
            let excerpt = excerpt(line, &span, 0, window);
            assert!(display_width(&excerpt.text) <= columns, "{}", excerpt.text);
            assert_eq!(&excerpt.text[excerpt.span], expect);
        }
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
        assert_eq!(excerpt("{\"a\":1}", &(5..6), 10, Window::UNBOUNDED).text, "{\"a\":1}");
    }

    #[test]
    fn cut_sides_are_marked() {
        let line = "-".repeat(1000);
        let text = excerpt(&line, &(500..510), 0, Window::UNBOUNDED).text;
        assert!(text.starts_with(CUT) && text.ends_with(CUT));
        assert_eq!(text.chars().count(), Window::UNBOUNDED.columns);
        assert!(!excerpt(&line, &(0..10), 0, Window::UNBOUNDED).text.starts_with(CUT));
        assert!(!excerpt(&line, &(990..1000), 0, Window::UNBOUNDED).text.ends_with(CUT));
    }

    #[test]
    fn wide_spans_are_cut_at_their_end() {
        let line = "x".repeat(5000);
        let excerpt = excerpt(&line, &(100..4900), 0, Window::UNBOUNDED);
        assert_eq!(excerpt.span.len(), 60);
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

    /// Some characters take two columns and some none: a line of combining characters must not be shown whole.
    #[test]
    fn columns_are_those_of_a_terminal() {
        let wide = "日本".repeat(100);
        check(&format!("{wide}needle{wide}"), 600..606, "needle");
        check(&"\u{301}".repeat(100_000), 0..0, "");
        check(&"\t".repeat(1000), 10..11, "\t");
        let window = Window { columns: 40, overhang: Some(0) };
        assert!(excerpt(&"e\u{301}".repeat(1000), &(30..30), 0, window).text.len() < 1000);
    }

    #[test]
    fn a_label_without_room_is_left_to_the_caller() {
        let line = "x".repeat(500);
        let fits = |columns, label| excerpt(&line, &(250..255), label, Window { columns, overhang: Some(0) }).has_label;
        assert!(fits(40, 20) && !fits(40, 30) && fits(60, 30) && !fits(60, 0));
        assert!(excerpt(&line, &(250..255), 500, Window::UNBOUNDED).has_label);
    }

    #[test]
    fn nothing_unseen_is_printed() {
        let text = excerpt("a\u{1b}[31mb\u{202e}c\u{9b}d\r", &(0..1), 0, Window::UNBOUNDED).text;
        assert_eq!(text, "a␛[31mb\u{fffd}c\u{fffd}d␍");
        assert_eq!(clean("one\ntwo\tthree"), "one␊two␉three");
        let turned = "a\u{202e}b\u{2066}\u{200b}c\u{9b}\u{e0041}\u{fffd}";
        assert_eq!(clean(turned), "a\\u{202e}b\\u{2066}\\u{200b}c\\u{9b}\\u{e0041}\u{fffd}");
        assert!(matches!(clean("naïve 日本 😀"), Cow::Borrowed(_)));
    }
}
