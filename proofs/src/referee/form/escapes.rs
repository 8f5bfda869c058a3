//! Escapes in strings: redundant ones, which change nothing, and broken ones.

use fastrand::Rng;

use super::super::token::{inside_a_string, token};
use crate::referee::token::{Role, tokens};

/// Rewrites a string, or all of them, with redundant escapes.
pub(super) fn respell(text: &mut String, rng: &mut Rng) {
    let role = if rng.bool() { Role::Key } else { Role::Text };
    if rng.u8(..6) > 0 {
        let Some(token) = token(text, rng, |token| token.role == role) else { return };
        let spelled = spelled(token.text(text), rng);
        text.replace_range(token.range, &spelled);
        return;
    }
    *text = tokens(text)
        .iter()
        .map(|token| if token.role == role { spelled(token.text(text), rng) } else { token.text(text).to_owned() })
        .collect();
}

/// Returns a string, given with its quotes, with at least one more escape if it is not empty.
pub(super) fn spelled(string: &str, rng: &mut Rng) -> String {
    let inner = string.get(1..string.len().saturating_sub(1)).unwrap_or_default();
    let count = inner.chars().count();
    let (one, density) = (rng.usize(..count.max(1)), rng.u8(..3));
    let mut out = String::from("\"");
    let mut chars = inner.chars().enumerate();
    while let Some((index, char)) = chars.next() {
        if char == '\\' {
            // Existing escapes are kept.
            out.push('\\');
            out.extend(chars.next().map(|(_, char)| char));
            continue;
        }
        let is_escaped = match density {
            0 => index == one,
            1 => index == one || rng.u8(..6) == 0,
            _ => true,
        };
        if is_escaped { escape(&mut out, char, rng) } else { out.push(char) }
    }
    out.push('"');
    out
}

fn escape(out: &mut String, char: char, rng: &mut Rng) {
    if char == '/' && rng.bool() {
        out.push_str("\\/");
        return;
    }
    for unit in char.encode_utf16(&mut [0; 2]) {
        out.push_str("\\u");
        for digit in format!("{unit:04x}").chars() {
            out.push(if rng.bool() { digit.to_ascii_uppercase() } else { digit });
        }
    }
}

/// Escapes at the limits of what is valid, most of them invalid.
const ESCAPES: &[&str] = &[
    "\\",
    "\\\\",
    "\\\"",
    "\\/",
    "\\b",
    "\\f",
    "\\n",
    "\\r",
    "\\t",
    "\\u0000",
    "\\u001f",
    "\\u007F",
    "\\u2028",
    "\\uFDD0",
    "\\ufffE",
    "\\uFFFF",
    "\\ud83d\\ude00",
    "\\uD83D\\uDE00",
    "\\uDBFF\\uDFFF",
    "\\uD800\\uDC00",
    "\\uD800",
    "\\uDBFF",
    "\\uDC00",
    "\\udfff",
    "\\ud83d\\u0041",
    "\\ud83d\\ud83d",
    "\\ud83d\\ud83d\\ude00",
    "\\ude00\\ud83d",
    "\\ud83dx",
    "\\ud83d\\",
    "\\ud83d\\n",
    "\\ud83d\\u",
    "\\ud83d\\ude0",
    "\\ud83d\\ude0g",
    "\\ud83d\\xde00",
    "\\u",
    "\\u0",
    "\\u004",
    "\\u004g",
    "\\u 041",
    "\\u+041",
    "\\u-041",
    "\\u{41}",
    "\\U0041",
    "\\x41",
    "\\0",
    "\\a",
    "\\v",
    "\\'",
    "\\e",
    "\\N",
    "\\\u{e4}",
    "\\\n",
    "\\u\u{661}\u{661}\u{661}\u{661}",
    "\\u00\u{e4}",
];

/// Inserts an escape into a string.
pub(super) fn insert(text: &mut String, rng: &mut Rng) {
    let Some(at) = inside_a_string(text, rng) else { return };
    text.insert_str(at, rng.choice(ESCAPES).unwrap_or(&"\\"));
}
