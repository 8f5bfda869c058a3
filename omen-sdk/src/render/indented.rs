//! Display of single-line JSON as indented lines.
//!
//! Hand-written, because JSON parsers do not report positions and refuse lines with syntax errors.

use std::ops::Range;

/// Row of indented JSON: an opening or closing bracket or a value, each with its key and its comma.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IndentedRow {
    depth: usize,
    start: usize,
    /// Position of the value after a key; without a key, the start of the row.
    value: usize,
    end: usize,
    /// Whether the row ends with an opening bracket.
    is_opening: bool,
}

impl IndentedRow {
    /// Returns the text of the row with `outdent` fewer levels of indentation, and the position of a span of the line in it.
    pub(super) fn text(&self, line: &str, span: &Range<usize>, outdent: usize) -> (String, Range<usize>) {
        let indent = INDENT.repeat(self.depth.saturating_sub(outdent));
        let key = line.get(self.start..self.value).unwrap_or_default().trim_end();
        let key = key.strip_suffix(':').unwrap_or(key).trim_end();
        let colon = if self.value > self.start { ": " } else { "" };
        let text = [&indent, key, colon, line.get(self.value..self.end).unwrap_or_default()].concat();
        let place = |at: usize, of_colon: usize| {
            let at = at.clamp(self.start, self.end);
            indent.len()
                + match at < self.value + of_colon {
                    true if at - self.start <= key.len() => at - self.start,
                    true => key.len() + of_colon,
                    false => key.len() + colon.len() + at - self.value,
                }
        };
        let start = place(span.start, 0);
        (text, start..place(span.end, 1).max(start))
    }
}

/// Rows of a line of JSON. A syntax error affects at most the indentation.
#[derive(Debug)]
struct Rows<'l> {
    line: &'l str,
    at: usize,
    depth: usize,
}

impl Iterator for Rows<'_> {
    type Item = IndentedRow;

    fn next(&mut self) -> Option<IndentedRow> {
        let start = self.skip_blanks();
        let bytes = self.line.as_bytes();
        let first = *bytes.get(start)?;
        let is_closing = matches!(first, b'}' | b']');
        self.depth = self.depth.saturating_sub(usize::from(is_closing));
        let (depth, mut value) = (self.depth, start);
        let mut is_opening = false;
        if is_closing {
            self.at += 1;
        }
        while let Some(byte) = bytes.get(self.at).filter(|_| !is_closing) {
            match byte {
                b'"' => self.at = text_end(bytes, self.at),
                b':' if value == start => {
                    self.at += 1;
                    value = self.skip_blanks();
                }
                b'{' | b'[' => {
                    self.at += 1;
                    let inside = self.at;
                    self.skip_blanks();
                    if matches!(bytes.get(self.at), Some(b'}' | b']')) {
                        self.at += 1;
                    } else {
                        self.at = inside;
                        self.depth += 1;
                        is_opening = true;
                    }
                    break;
                }
                b',' | b'}' | b']' => break,
                _ => self.at += 1,
            }
        }
        let mut end = self.at;
        if !is_opening {
            self.skip_blanks();
            if bytes.get(self.at) == Some(&b',') {
                self.at += 1;
                end = self.at;
            }
        }
        Some(IndentedRow { depth, start, value, end, is_opening })
    }
}

impl Rows<'_> {
    fn skip_blanks(&mut self) -> usize {
        let rest = self.line.as_bytes().get(self.at..).unwrap_or_default();
        self.at += rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        self.at
    }
}

/// Returns the position after a string.
fn text_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        at += if *byte == b'\\' { 2 } else { 1 };
        if *byte == b'"' {
            break;
        }
    }
    at.min(bytes.len())
}

/// Returns all rows of a line, up to a limit, and the index of the row that contains a position.
pub(super) fn whole(line: &str, at: usize) -> Option<(Vec<Option<IndentedRow>>, usize)> {
    let rows: Vec<_> = rows(line).take(MOST_ROWS).map(Some).collect();
    let marked = rows.iter().position(|row| row.is_some_and(|row| at < row.end))?;
    Some((rows, marked))
}

/// Returns the row that contains a position, those of the objects and arrays around it, and the rows before and after
/// it; `None` represents omitted rows. Also returns the index of the row that contains the position.
pub(super) fn around(line: &str, at: usize) -> Option<(Vec<Option<IndentedRow>>, usize)> {
    let mut open: Vec<IndentedRow> = Vec::new();
    let mut before: Option<IndentedRow> = None;
    let mut rows = rows(line);
    let marked = rows.by_ref().find(|row| {
        if at < row.end {
            return true;
        }
        open.truncate(row.depth);
        if row.is_opening {
            open.push(*row);
        }
        before = Some(*row);
        false
    })?;
    open.truncate(marked.depth);
    // The bracket of the packet itself carries no information.
    let outer = open.len().saturating_sub(MOST_OUTER).max(1);
    let mut shown: Vec<Option<IndentedRow>> = Vec::new();
    let mut last = None;
    let rest = open.get(outer..).unwrap_or_default().iter().copied();
    for row in rest.chain(before.filter(|row| row.depth > 0 && !row.is_opening)).chain([marked]).chain(rows.next()) {
        // A closing bracket after the row adds nothing.
        if row.start > marked.start && row.depth < marked.depth {
            break;
        }
        if last.is_some_and(|last: IndentedRow| !line.get(last.end..row.start).unwrap_or_default().trim().is_empty()) {
            shown.push(None);
        }
        shown.push(Some(row));
        last = Some(row);
    }
    let at = shown.iter().position(|row| *row == Some(marked))?;
    Some((shown, at))
}

fn rows(line: &str) -> Rows<'_> {
    Rows { line, at: 0, depth: 0 }
}

/// Returns the smallest indentation of some rows.
pub(super) fn outdent(rows: &[Option<IndentedRow>]) -> usize {
    rows.iter().flatten().map(|row| row.depth).min().unwrap_or_default()
}

/// Returns the row that represents omitted rows before another row.
pub(super) fn gap(next: Option<&IndentedRow>, outdent: usize) -> String {
    INDENT.repeat(next.map_or(0, |row| row.depth.saturating_sub(outdent))) + "…"
}

const INDENT: &str = "  ";

/// Maximum number of enclosing objects and arrays that are shown.
const MOST_OUTER: usize = 3;

/// Maximum number of rows of a whole packet.
const MOST_ROWS: usize = 2_000;

#[cfg(test)]
#[allow(clippy::indexing_slicing, reason = "tests")]
mod tests {
    use super::*;

    fn text(line: &str, (rows, marked): (Vec<Option<IndentedRow>>, usize), span: &Range<usize>) -> (String, String) {
        let out = outdent(&rows);
        let next = |at: usize| rows.get(at + 1).and_then(Option::as_ref);
        let all: Vec<_> = rows
            .iter()
            .enumerate()
            .map(|(at, row)| row.map_or_else(|| gap(next(at), out), |row| row.text(line, span, out).0))
            .collect();
        let (row, place) = rows[marked].unwrap_or_else(|| unreachable!()).text(line, span, out);
        (all.join("\n"), row[place].to_owned())
    }

    #[test]
    fn rows_are_those_of_indented_json() {
        for line in [
            r#"{"a":1,"b":{"c":[1,{"d":"x,}\"]"}],"e":{}},"f":[]}"#,
            "{ \"a\" : 1 , \"b\" : { \"c\" : [ ] } }",
            "[]",
            "7",
        ] {
            let value: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
            let expect = serde_json::to_string_pretty(&value).unwrap_or_default();
            let (all, _) = text(line, whole(line, 0).unwrap_or_default(), &(0..0));
            assert_eq!(all.replace("[ ]", "[]").replace(" ,", ","), expect);
        }
    }

    #[test]
    fn what_is_around_a_position_is_shown() {
        let line = r#"{"h":{"id":1},"p":{"a":1,"b":{"x":2},"c":[1,2,{"d":"needle","e":0,"f":1}],"g":2}}"#;
        let at = line.find("\"needle").unwrap_or_default();
        let span = at..at + 8;
        let (all, marked) = text(line, around(line, at).unwrap_or_default(), &span);
        assert_eq!(marked, "\"needle\"");
        assert_eq!(all, "\"p\": {\n  …\n  \"c\": [\n    …\n    {\n      \"d\": \"needle\",\n      \"e\": 0,");
        // An opening bracket is shown with the first field after it.
        let at = line.find("{\"x\"").unwrap_or_default();
        let (all, marked) = text(line, around(line, at).unwrap_or_default(), &(at..at + 1));
        assert_eq!(marked, "{");
        assert_eq!(all, "\"p\": {\n  \"a\": 1,\n  \"b\": {\n    \"x\": 2");
    }

    /// Every position of a line has a row, which contains the same text.
    #[test]
    fn syntax_errors_do_no_harm() {
        for line in [
            "{\"a\":tru,}",
            "}}]",
            "{\"a\":\"\\",
            "{\"a\":{\"b\":[",
            "{\"é\":: \"日\" ,,",
            "{:}",
            "\u{1b}[",
            "{\"a\"  :1}",
        ] {
            for (at, c) in line.char_indices().filter(|(_, c)| !c.is_whitespace()) {
                let span = at..at + c.len_utf8();
                for found in [around(line, at), whole(line, at)].into_iter().flatten() {
                    let (_, marked) = text(line, found, &span);
                    assert_eq!(marked, c.to_string(), "{at} in {line}");
                }
            }
        }
    }
}
