//! Changes to the form of a text: other notations of the same values, and texts that are nearly JSON.
//!
//! Each makes a reader that predicts what comes next take another path.

use fastrand::Rng;

use super::mutate::Kind;
use super::token::{Role, Token, boundary, inside_a_string, token};

mod escapes;
mod numbers;
mod spaces;

/// Changes a text, if this kind of change applies to it.
pub(super) fn apply(kind: Kind, text: &mut String, rng: &mut Rng) {
    match kind {
        Kind::Space => *text = spaces::respaced(text, rng),
        Kind::Escape => escapes::respell(text, rng),
        Kind::BadEscape => escapes::insert(text, rng),
        Kind::Notation => numbers::respell(text, rng),
        Kind::Repeated => repeat(text, rng),
        Kind::Control => control(text, rng),
        Kind::Block => block(text, rng),
        Kind::Mark => mark(text, rng),
        Kind::Levels => levels(text, rng),
        Kind::Ends => ends(text, rng),
        Kind::Cut => text.truncate(boundary(text, 0..text.len() + 1, rng)),
        Kind::Syntax => super::mutate::break_text(text, rng),
        // The other kinds change the values.
        _ => {}
    }
}

/// Returns a text in the default form of Python's `json.dumps`: with a space after every comma and colon.
pub(super) fn python(text: &str) -> String {
    spaces::python(text)
}

/// Repeats a key of an object, mostly with escapes, so that only the unescaped keys are equal.
fn repeat(text: &mut String, rng: &mut Rng) {
    let Some(key) = token(text, rng, |token| token.role == Role::Key) else { return };
    let Some(place) = token(text, rng, |token| token.role == Role::Key && token.around == key.around) else { return };
    let spelled = match rng.u8(..4) {
        0 => key.text(text).to_owned(),
        _ => escapes::spelled(key.text(text), rng),
    };
    let value = *rng.choice(&["null", "1", "\"\"", "{}", "[]", "{\"a\":1}"]).unwrap_or(&"null");
    text.insert_str(place.range.start, &format!("{spelled}:{value},"));
}

/// Characters that some readers, terminals or editors treat specially.
const CONTROLS: &[char] = &[
    '\0',
    '\u{1}',
    '\u{8}',
    '\t',
    '\n',
    '\u{b}',
    '\u{c}',
    '\r',
    '\u{1b}',
    '\u{1f}',
    '\u{7f}',
    '\u{80}',
    '\u{85}',
    '\u{a0}',
    '\u{ad}',
    '\u{200b}',
    '\u{2028}',
    '\u{2029}',
    '\u{202e}',
    '\u{3000}',
    '\u{d7ff}',
    '\u{e000}',
    '\u{fdd0}',
    '\u{feff}',
    '\u{fffd}',
    '\u{fffe}',
    '\u{ffff}',
    '\u{10000}',
    '\u{1ffff}',
    '\u{10ffff}',
];

/// Inserts a control character or a rare character, usually into a string.
fn control(text: &mut String, rng: &mut Rng) {
    let char = *rng.choice(CONTROLS).unwrap_or(&'\0');
    let in_string = if rng.u8(..3) > 0 { inside_a_string(text, rng) } else { None };
    let at = in_string.unwrap_or_else(|| boundary(text, 0..text.len() + 1, rng));
    text.insert(at, char);
}

/// Lengthens a string to the block edges of readers that process many bytes at once, with or without a special character.
fn block(text: &mut String, rng: &mut Rng) {
    let Some(token) = token(text, rng, Token::is_string) else { return };
    let filler = *rng.choice(&["a", "a", "a", "\u{e4}", "\u{20ac}", "\u{1f600}"]).unwrap_or(&"a");
    let count = match rng.u8(..8) {
        0 => rng.usize(250..260),
        1 => rng.usize(4_090..4_100),
        _ => rng.usize(..70),
    };
    let special = *rng
        .choice(&["", "", "", "\\n", "\\\\", "\\\"", "\\u00e4", "\\/", "\"", "\\", "\u{1f}", "\u{7f}"])
        .unwrap_or(&"");
    let more = if rng.bool() { filler.repeat(rng.usize(..40)) } else { String::new() };
    let at =
        if rng.bool() { token.range.start + 1 } else { token.range.end.saturating_sub(1).max(token.range.start + 1) };
    if text.is_char_boundary(at) {
        text.insert_str(at, &format!("{}{special}{more}", filler.repeat(count)));
    }
}

/// Drops, duplicates or replaces a brace, a bracket, a comma, a colon, a quote or a word.
fn mark(text: &mut String, rng: &mut Rng) {
    let wanted =
        *rng.choice(&[Role::Open, Role::Close, Role::Mark, Role::Word, Role::Text, Role::Key]).unwrap_or(&Role::Mark);
    let Some(token) = token(text, rng, |token| token.role == wanted) else { return };
    let old = token.text(text);
    let new = match rng.u8(..6) {
        0 => String::new(),
        1 => format!("{old}{old}"),
        2 => format!("{old},"),
        3 => format!(",{old}"),
        4 => old.trim_matches('"').to_owned(),
        _ => {
            let others = [
                "{",
                "}",
                "[",
                "]",
                ",",
                ":",
                "=",
                ";",
                "null",
                "true",
                "false",
                "nul",
                "nulll",
                "True",
                "NULL",
                "fals",
                "truefalse",
                "''",
                "\"\"",
                "undefined",
                "//",
                "/**/",
                "#",
            ];
            rng.choice(others).unwrap_or("").to_owned()
        }
    };
    text.replace_range(token.range, &new);
}

/// Replaces a value by nested arrays or objects around the nesting limit, and far beyond it; some of them are not closed.
fn levels(text: &mut String, rng: &mut Rng) {
    let Some(token) = token(text, rng, Token::is_scalar) else { return };
    let levels = match rng.u8(..64) {
        // A reader without a limit would overflow its stack.
        0 => rng.usize(50_000..100_000),
        1..4 => rng.usize(1_000..3_000),
        4..8 => rng.usize(125..131),
        _ => rng.usize(55..70),
    };
    let (open, close) =
        *rng.choice(&[("[", "]"), ("{\"a\":", "}"), ("[{\"\":", "}]"), ("[[],", "]")]).unwrap_or(&("[", "]"));
    let ends = match rng.u8(..8) {
        0 => levels.saturating_sub(1),
        1 => levels + 1,
        2 => 0,
        _ => levels,
    };
    let inner = *rng.choice(&["null", "1", "\"[[[\"", "{}", "[]", "x"]).unwrap_or(&"null");
    let nested = format!("{}{inner}{}", open.repeat(levels), close.repeat(ends));
    if rng.bool() {
        text.replace_range(token.range, &nested);
    } else if text.starts_with('{') {
        // Most values may not be nested at all, but metadata may.
        text.insert_str(1, &format!("\"_levels\":{nested},"));
    }
}

/// Puts something before or after the text.
fn ends(text: &mut String, rng: &mut Rng) {
    let ends = [
        " ", "\t", "\n", "\r", "\r\n", "\n\n", "  \n ", "\u{b}", "\u{c}", "\0", "\u{1a}", "\u{7f}", "\u{85}", "\u{a0}",
        "\u{2028}", "\u{feff}", "\u{1e}", ",", "}", "]", "{}", "null", "0", "\"\"", "x", "//", "\\", "\\n", ";",
    ];
    let end = rng.choice(ends).unwrap_or(" ");
    if rng.u8(..3) == 0 { text.insert_str(0, end) } else { text.push_str(end) }
}
