//! Copy of a log with some lines replaced, and everything else byte for byte the same.

use std::collections::BTreeMap;
use std::io::{self, Read};

use super::edits::{Edits, Replacement};
use crate::input;

/// Replaced lines without their line ends; an empty line is removed.
#[derive(Debug, Default)]
pub(super) struct Rewritten {
    lines: BTreeMap<u64, String>,
    count: u64,
}

impl Rewritten {
    /// Applies edits to the lines in which they were found. Of two overlapping edits, the first is applied. Returns whether
    /// anything has changed.
    pub(super) fn apply(&mut self, edits: Edits) -> bool {
        let mut is_changed = false;
        for (number, (text, mut replacements)) in edits.lines {
            replacements.sort_by_key(|replacement| (replacement.span.start, replacement.span.end));
            let (mut line, mut at, mut count) = (String::with_capacity(text.len()), 0, 0);
            for Replacement { span, text: replacement, .. } in replacements {
                if let Some(between) = text.get(at..span.start).filter(|_| span.end <= text.len()) {
                    line.push_str(between);
                    line.push_str(&replacement);
                    at = span.end;
                    count += 1;
                }
            }
            line.push_str(text.get(at..).unwrap_or_default());
            if line != text {
                is_changed = true;
                self.count += count;
                self.lines.insert(number, line);
            }
        }
        is_changed
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Returns the number of applied edits.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// The lines by their numbers.
    pub(super) fn into_lines(self) -> BTreeMap<u64, String> {
        self.lines
    }

    pub(super) fn line(&self, number: u64) -> Option<&str> {
        self.lines.get(&number).map(String::as_str)
    }
}

/// Passes on a log with the replaced lines. If `is_final`, lines that became empty are removed, which changes the numbers of the
/// lines after them.
pub(super) fn rewrite<E: From<io::Error>>(
    mut reader: impl Read,
    rewritten: &Rewritten,
    is_final: bool,
    mut write: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut buffer = vec![0; READ_BYTES];
    let mut number = 1;
    // State of the replaced line: whether it has begun, and whether its last byte so far is a carriage return.
    let (mut is_inside, mut is_return) = (false, false);
    loop {
        let count = match reader.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.into()),
        };
        let mut rest = buffer.get(..count).unwrap_or_default();
        while !rest.is_empty() {
            let end = memchr::memchr(b'\n', rest);
            let (piece, after) = rest.split_at(end.map_or(rest.len(), |end| end + 1));
            rest = after;
            let Some(line) = rewritten.line(number) else {
                write(piece)?;
                number += u64::from(end.is_some());
                continue;
            };
            if !std::mem::replace(&mut is_inside, true) {
                if number == 1 && piece.starts_with(input::MARK) {
                    write(input::MARK)?;
                }
                write(line.as_bytes())?;
            }
            let content = piece.strip_suffix(b"\n").unwrap_or(piece);
            is_return = content.last().map_or(is_return, |byte| *byte == b'\r');
            if end.is_some() {
                if !is_final || !line.is_empty() {
                    write(if is_return { b"\r\n" } else { b"\n" })?;
                }
                number += 1;
                (is_inside, is_return) = (false, false);
            }
        }
    }
    Ok(())
}

const READ_BYTES: usize = 256 * 1024;
