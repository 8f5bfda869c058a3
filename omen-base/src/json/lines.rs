//! Characters that line readers treat as line endings.
//!
//! JSON allows a carriage return between two values and a line separator in a string. Some line readers split a text with such a
//! character into several lines.

use memchr::memmem;
use omen_schema::json::StringTracker;

/// Rewrites JSON so that it is a single line for every reader: these characters become blanks between values, and `\uXXXX` in
/// strings, which is the same value. A text without them keeps its bytes.
#[must_use]
pub fn one_line(bytes: Vec<u8>) -> Vec<u8> {
    if may_break(&bytes) { unbroken(&bytes) } else { bytes }
}

/// NEL (U+0085).
const NEXT_LINE: &[u8] = "\u{85}".as_bytes();
/// First bytes of the line separator (U+2028) and the paragraph separator (U+2029).
const SEPARATOR: &[u8] = b"\xE2\x80";

/// Returns whether a message may have to be rewritten. Most do not, and checking is faster than rewriting.
fn may_break(bytes: &[u8]) -> bool {
    let has_control = bytes.iter().fold(false, |found, byte| found | is_break(*byte));
    has_control || memmem::find(bytes, NEXT_LINE).is_some() || memmem::find(bytes, SEPARATOR).is_some()
}

/// Returns whether a byte is a control character other than the tab, which ends a line for no reader. JSON allows only line feeds
/// and carriage returns of these, between values; the others are replaced too, so that a line is one line in any case.
fn is_break(byte: u8) -> bool {
    byte < b' ' && byte != b'\t'
}

fn unbroken(bytes: &[u8]) -> Vec<u8> {
    let mut line = Vec::with_capacity(bytes.len() + 16);
    let (mut rest, mut strings) = (bytes, StringTracker::default());
    while let Some((&byte, after)) = rest.split_first() {
        let found = match rest {
            [0xC2, 0x85, ..] => Some((0x85, 2)),
            [0xE2, 0x80, last @ (0xA8 | 0xA9), ..] => Some((0x2000 | u32::from(last & 0x3F), 3)),
            _ if is_break(byte) => Some((u32::from(byte), 1)),
            _ => None,
        };
        if let Some((code, length)) = found {
            if strings.in_string() {
                line.extend_from_slice(format!("\\u{code:04x}").as_bytes());
            } else {
                line.push(b' ');
            }
            strings.step(b' ');
            rest = rest.get(length..).unwrap_or_default();
        } else {
            line.push(byte);
            strings.step(byte);
            rest = after;
        }
    }
    line
}
