//! Texts of packets, with common parts stored once.
//!
//! The packets of an episode repeat most of their envelope, so lines are cut between the members of their objects, and equal
//! pieces are stored once. The pieces of a line, concatenated, are the line.

use std::collections::HashMap;
use std::rc::Rc;

use omen_schema::json::StringTracker;

/// Store of line pieces.
#[derive(Debug, Default)]
pub(super) struct Texts {
    pub(super) pieces: Vec<Rc<str>>,
    numbers: HashMap<Rc<str>, usize>,
    bytes: usize,
}

impl Texts {
    /// Stores a line, and returns the indices of its pieces.
    pub(super) fn keep(&mut self, line: &str) -> Vec<usize> {
        cut(line).map(|piece| self.number(piece)).collect()
    }

    /// Returns the total size of the stored pieces in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    fn number(&mut self, piece: &str) -> usize {
        if let Some(number) = self.numbers.get(piece) {
            return *number;
        }
        let piece: Rc<str> = piece.into();
        self.bytes += piece.len();
        self.pieces.push(Rc::clone(&piece));
        self.numbers.insert(piece, self.pieces.len() - 1);
        self.pieces.len() - 1
    }
}

/// Cuts a line after commas in the outer two levels, into pieces that are not too short.
fn cut(line: &str) -> impl Iterator<Item = &str> {
    let (mut depth, mut start) = (0_usize, 0);
    let (mut strings, mut at) = (StringTracker::default(), 0);
    std::iter::from_fn(move || {
        for byte in line.as_bytes().get(at..)? {
            at += 1;
            match byte {
                _ if !strings.step(*byte) => {}
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.saturating_sub(1),
                b',' if depth <= LEVELS && at - start >= SHORT => {
                    let piece = line.get(start..at);
                    start = at;
                    return piece;
                }
                _ => {}
            }
        }
        let rest = line.get(start..).filter(|rest| !rest.is_empty());
        start = line.len();
        rest
    })
}

/// Number of object levels in which lines are cut: the packet, and its header, envelope and payload.
const LEVELS: usize = 2;

/// Minimum size of a piece in bytes, except for the last one of a line; a shorter one would hardly be longer than its index.
const SHORT: usize = 24;

/// Formats a number with its digits in groups of three.
pub(super) fn grouped(number: impl Into<u64>) -> String {
    let digits = number.into().to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn the_pieces_of_every_example_are_its_lines_and_much_shorter_together() {
        let mut texts = Texts::default();
        let mut bytes = 0;
        for (_, log) in omen_schema::EXAMPLES.iter().filter(|(path, _)| path.ends_with(".jsonl")) {
            for line in log.lines() {
                bytes += line.len();
                let pieces = texts.keep(line);
                let joined: String = pieces.iter().map(|number| &*texts.pieces[*number]).collect();
                assert_eq!(joined, line);
            }
        }
        assert!(texts.bytes() * 3 < bytes, "{} of {bytes}", texts.bytes());
    }

    #[test]
    fn any_text_is_the_sum_of_its_pieces() {
        for line in ["", "{", "]]]],,,,", "\"\\\"", "{\"a\":\"é,,,,,,,,,,,,,,,,,,,,,,,,,\",\"b\":1}", "\u{feff}x"] {
            assert_eq!(cut(line).collect::<String>(), line);
        }
        let long = format!("{}é{}", ",".repeat(100), ",".repeat(100));
        assert_eq!(cut(&long).collect::<String>(), long);
    }
}
