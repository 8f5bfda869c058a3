//! Edits to spans of a text; everything between the spans stays the same, byte for byte.

use std::io::{self, IsTerminal as _, Write};
use std::ops::Range;

/// Replacement for a span of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) span: Range<usize>,
    pub(crate) text: String,
}

impl Edit {
    /// Creates an insertion at an offset.
    pub(crate) fn insert(at: usize, text: impl Into<String>) -> Self {
        Self { span: at..at, text: text.into() }
    }
}

/// Applies edits, which must be sorted and must not overlap.
pub(crate) fn apply(text: &str, edits: &[Edit]) -> String {
    part(text, 0..text.len(), edits)
}

/// Applies edits within a part of the text.
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

/// Prints the hunks of a unified diff.
pub(crate) fn hunks(text: &str, edits: &[Edit], out: &mut impl Write) -> io::Result<()> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let number = |at: usize| text.get(..at).unwrap_or_default().matches('\n').count();
    let offset = |line: usize| lines.iter().take(line).map(|line| line.len()).sum();
    let is_terminal = io::stdout().is_terminal();
    let mut write = |sign: char, line: &str| {
        let end = if line.ends_with('\n') { "" } else { "\n\\ No newline at end of file" };
        let line = line.strip_suffix('\n').unwrap_or(line);
        match is_terminal {
            true => writeln!(out, "{sign}{}{end}", omen::render::human::clean(line)),
            false => writeln!(out, "{sign}{line}{end}"),
        }
    };
    let (mut rest, mut growth) = (edits, 0_isize);
    while let Some(first) = rest.first() {
        let start = number(first.span.start).saturating_sub(CONTEXT);
        // Edits whose context would overlap share a hunk.
        let last_line = |edit: &Edit| (number(edit.span.end) + 1).min(lines.len());
        let mut count = 1;
        while let [_, next, ..] = rest.get(count - 1..).unwrap_or_default()
            && number(next.span.start) <= rest.get(count - 1).map_or(0, last_line) + 2 * CONTEXT
        {
            count += 1;
        }
        let (these, others) = rest.split_at(count);
        let end = (these.last().map_or(start, last_line) + CONTEXT).min(lines.len());
        let new = part(text, offset(start)..offset(end), these);
        let (old, new): (&[&str], Vec<&str>) =
            (lines.get(start..end).unwrap_or_default(), new.split_inclusive('\n').collect());
        let of = |start: isize, count: usize| format!("{},{count}", if count == 0 { start } else { start + 1 });
        let from = isize::try_from(start).unwrap_or_default();
        write('@', &format!("@ -{} +{} @@\n", of(from, old.len()), of(from + growth, new.len())))?;
        growth += isize::try_from(new.len()).unwrap_or_default() - isize::try_from(old.len()).unwrap_or_default();
        let same = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| pairs.take_while(|(old, new)| old == new).count();
        let before = same(&mut old.iter().zip(&new));
        let after = same(&mut old.iter().skip(before).rev().zip(new.iter().skip(before).rev()));
        let cut = |lines: &[&str], sign, write: &mut dyn FnMut(char, &str) -> io::Result<()>| {
            lines.get(before..lines.len() - after).unwrap_or_default().iter().try_for_each(|line| write(sign, line))
        };
        old.iter().take(before).try_for_each(|line| write(' ', line))?;
        cut(old, '-', &mut write)?;
        cut(&new, '+', &mut write)?;
        old.iter().skip(old.len() - after).try_for_each(|line| write(' ', line))?;
        rest = others;
    }
    Ok(())
}

/// Number of context lines around changes.
const CONTEXT: usize = 3;

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
    fn edits_that_are_close_are_one_hunk() {
        let shown = |text: &str, edits: &[Edit]| {
            let mut shown = Vec::new();
            hunks(text, edits, &mut shown).unwrap();
            String::from_utf8(shown).unwrap()
        };
        let text = "one\ntwo three\nfour\nfive";
        assert_eq!(
            shown(text, &[edit(4..7, "2"), edit(8..13, "3\n3")]),
            "@@ -1,4 +1,5 @@\n one\n-two three\n+2 3\n+3\n four\n five\n\\ No newline at end of file\n"
        );
        let text: String = (1..=20).map(|line| format!("{line}\n")).collect();
        assert_eq!(
            shown(&text, &[edit(0..0, "0\n"), edit(51..51, "21\n")]),
            "@@ -1,4 +1,5 @@\n+0\n 1\n 2\n 3\n 4\n@@ -18,3 +19,4 @@\n 18\n 19\n 20\n+21\n"
        );
        assert_eq!(shown("", &[edit(0..0, "x\n")]), "@@ -0,0 +1,1 @@\n+x\n");
    }
}
