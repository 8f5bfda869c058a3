//! Text of a document, and conversion of editor positions.

use std::ops::Range;

use super::protocol::{TextPosition, TextRange};

/// Unit in which characters of a line are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum PositionEncoding {
    /// Bytes.
    Utf8,
    /// UTF-16 code units, which every editor supports.
    #[default]
    Utf16,
}

impl PositionEncoding {
    /// Returns the name in the protocol.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Utf16 => "utf-16",
        }
    }
}

/// A text with an index of its lines.
#[derive(Debug)]
pub(super) struct IndexedText {
    text: String,
    /// Byte offsets of line starts. A line ends with `\n`, `\r\n` or `\r`.
    starts: Vec<usize>,
    encoding: PositionEncoding,
}

impl IndexedText {
    pub(super) fn new(text: String, encoding: PositionEncoding) -> Self {
        let mut indexed = Self { text, starts: Vec::new(), encoding };
        indexed.index();
        indexed
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Replaces a range, or the whole text. A position beyond the end of a line or of the text is clamped to that end.
    pub(super) fn replace(&mut self, range: Option<TextRange>, text: &str) {
        let range = range.map_or(0..self.text.len(), |range| self.bytes(range));
        self.text.replace_range(range, text);
        self.index();
    }

    pub(super) fn bytes(&self, range: TextRange) -> Range<usize> {
        let start = self.offset(range.start);
        start..self.offset(range.end).max(start)
    }

    /// Returns the byte offset of a position; a position inside a character is moved to its start.
    pub(super) fn offset(&self, position: TextPosition) -> usize {
        let Some((start, line)) = usize::try_from(position.line).ok().and_then(|line| self.line(line)) else {
            return self.text.len();
        };
        let column = usize::try_from(position.character).unwrap_or(usize::MAX);
        if self.encoding == PositionEncoding::Utf8 || line.is_ascii() {
            return start + line.floor_char_boundary(column);
        }
        let mut units = 0;
        for (at, character) in line.char_indices() {
            units += character.len_utf16();
            if units > column {
                return start + at;
            }
        }
        start + line.len()
    }

    pub(super) fn position(&self, offset: usize) -> TextPosition {
        let offset = self.text.floor_char_boundary(offset);
        let line = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let start = self.starts.get(line).copied().unwrap_or_default();
        let before = self.text.get(start..offset).unwrap_or_default();
        let character = match self.encoding {
            PositionEncoding::Utf16 if !before.is_ascii() => before.chars().map(char::len_utf16).sum(),
            _ => before.len(),
        };
        TextPosition { line: narrow(line), character: narrow(character) }
    }

    pub(super) fn range(&self, bytes: &Range<usize>) -> TextRange {
        TextRange { start: self.position(bytes.start), end: self.position(bytes.end.max(bytes.start)) }
    }

    /// Returns the start of a line, and its text without the line end.
    fn line(&self, line: usize) -> Option<(usize, &str)> {
        let start = *self.starts.get(line)?;
        let end = self.starts.get(line + 1).copied().unwrap_or(self.text.len());
        let text = self.text.get(start..end)?;
        let text = text.strip_suffix('\n').unwrap_or(text);
        Some((start, text.strip_suffix('\r').unwrap_or(text)))
    }

    fn index(&mut self) {
        let bytes = self.text.as_bytes();
        self.starts.clear();
        self.starts.push(0);
        let ends = memchr::memchr2_iter(b'\n', b'\r', bytes);
        let ends = ends.filter(|at| bytes.get(*at) == Some(&b'\n') || bytes.get(at + 1) != Some(&b'\n'));
        self.starts.extend(ends.map(|at| at + 1));
    }
}

/// Returns the byte offsets at which the lines of a log start. Unlike an editor's lines, they end only with `\n`.
pub(super) fn log_lines(text: &str) -> Vec<usize> {
    let ends = memchr::memchr_iter(b'\n', text.as_bytes());
    std::iter::once(0).chain(ends.map(|at| at + 1)).collect()
}

/// Converts a number for the protocol, which allows at most 2^31-1.
fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX).min(u32::MAX >> 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(line: u32, character: u32) -> TextPosition {
        TextPosition { line, character }
    }

    #[test]
    fn positions_are_counted_as_negotiated() {
        let text = "a\u{e9}\u{1f600}b\r\n\rc";
        for (encoding, columns) in
            [(PositionEncoding::Utf8, [0, 1, 3, 7, 8]), (PositionEncoding::Utf16, [0, 1, 2, 4, 5])]
        {
            let indexed = IndexedText::new(text.to_owned(), encoding);
            for (column, offset) in columns.into_iter().zip([0, 1, 3, 7, 8]) {
                assert_eq!(indexed.offset(position(0, column)), offset, "{encoding:?}");
                assert_eq!(indexed.position(offset), position(0, column), "{encoding:?}");
            }
            // In turn: the end of a line, the empty line, the last line, the end of the text.
            assert_eq!(indexed.offset(position(0, 99)), 8);
            assert_eq!((indexed.offset(position(1, 0)), indexed.offset(position(1, 9))), (10, 10));
            assert_eq!((indexed.offset(position(2, 1)), indexed.offset(position(9, 0))), (12, 12));
            assert_eq!(indexed.position(11), position(2, 0));
        }
    }

    #[test]
    fn a_position_within_a_character_is_its_start() {
        let indexed = IndexedText::new("\u{1f600}x".to_owned(), PositionEncoding::Utf16);
        assert_eq!(indexed.offset(position(0, 1)), 0);
        let indexed = IndexedText::new("\u{1f600}x".to_owned(), PositionEncoding::Utf8);
        assert_eq!(indexed.offset(position(0, 3)), 0);
    }

    #[test]
    fn an_edit_may_make_and_part_line_ends() {
        let mut indexed = IndexedText::new("a\r\nb".to_owned(), PositionEncoding::Utf16);
        let at = |line, character| position(line, character);
        indexed.replace(Some(TextRange { start: at(0, 1), end: at(0, 1) }), "\n");
        assert_eq!((indexed.as_str(), indexed.starts.len()), ("a\n\r\nb", 3));
        // A reversed range is empty.
        indexed.replace(Some(TextRange { start: at(2, 1), end: at(0, 0) }), "!");
        assert_eq!(indexed.as_str(), "a\n\r\nb!");
        indexed.replace(None, "");
        assert_eq!((indexed.as_str(), indexed.starts.len()), ("", 1));
    }
}
