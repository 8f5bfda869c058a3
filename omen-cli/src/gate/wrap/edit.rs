//! Changes of a text by spans: what is between them stays, byte for byte.

use std::io::{self, Write};
use std::ops::Range;

/// What stands in place of a span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) span: Range<usize>,
    pub(super) text: String,
}

/// The text with edits, which do not overlap and are in their order.
pub(super) fn apply(text: &str, edits: &[Edit]) -> String {
    part(text, 0..text.len(), edits)
}

/// A part of the text, with the edits in it.
fn part(text: &str, span: Range<usize>, edits: &[Edit]) -> String {
    let (mut new, mut at) = (String::new(), span.start);
    for edit in edits {
        new.push_str(text.get(at..edit.span.start).unwrap_or_default());
        new.push_str(&edit.text);
        at = edit.span.end;
    }
    new.push_str(text.get(at..span.end).unwrap_or_default());
    new
}

/// Prints the lines that edits change, before and after.
pub(super) fn difference(text: &str, edits: &[Edit], out: &mut impl Write) -> io::Result<()> {
    let mut rest = edits;
    while let Some(first) = rest.first() {
        let start = text.get(..first.span.start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
        let end_of_line =
            |at: usize| text.get(at..).and_then(|after| after.find('\n')).map_or(text.len(), |len| at + len);
        let (mut end, mut count) = (end_of_line(first.span.end), 1);
        // Edits of the same lines are one change.
        while let Some(next) = rest.get(count).filter(|next| next.span.start <= end) {
            (end, count) = (end_of_line(next.span.end), count + 1);
        }
        let (these, others) = rest.split_at(count);
        let line = text.get(..start).unwrap_or_default().matches('\n').count() + 1;
        writeln!(out, "@@ line {line} @@")?;
        let old = text.get(start..end).unwrap_or_default();
        let new = part(text, start..end, these);
        for (sign, text) in [('-', old), ('+', new.as_str())] {
            for line in text.lines() {
                writeln!(out, "{sign}{}", omen::render::human::clean(line))?;
            }
        }
        rest = others;
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn edit(span: Range<usize>, text: &str) -> Edit {
        Edit { span, text: text.to_owned() }
    }

    #[test]
    fn what_is_between_edits_stays() {
        assert_eq!(apply("a b c", &[edit(0..1, "x"), edit(2..2, "y"), edit(5..5, "z")]), "x yb cz");
        assert_eq!(apply("a b c", &[]), "a b c");
    }

    #[test]
    fn edits_of_one_line_are_shown_as_one_change() {
        let mut shown = Vec::new();
        let text = "one\ntwo three\nfour\nfive";
        difference(text, &[edit(4..7, "2"), edit(8..13, "3\n3"), edit(19..23, "5")], &mut shown).unwrap();
        let expect = "@@ line 2 @@\n-two three\n+2 3\n+3\n@@ line 4 @@\n-five\n+5\n";
        assert_eq!(String::from_utf8(shown).unwrap(), expect);
    }
}
