//! White space between tokens, where it is valid and where it is not.

use fastrand::Rng;

use crate::referee::token::{Role, boundary, tokens};

/// Style of the added white space.
#[derive(Clone, Copy)]
enum Style {
    /// After every comma and colon, as in Python's `json.dumps`.
    Python,
    /// As in Python, except in one place.
    NearlyPython,
    /// Lines and indentation.
    Lines,
    /// Around every token.
    Everywhere,
    /// In a quarter of all places.
    Anywhere,
    /// In one place.
    Once,
    /// In one place, a character that is not white space in JSON.
    Foreign,
    /// Inside a token.
    Within,
}

const STYLES: [Style; 8] = [
    Style::Python,
    Style::NearlyPython,
    Style::Lines,
    Style::Everywhere,
    Style::Anywhere,
    Style::Once,
    Style::Foreign,
    Style::Within,
];

const SPACES: &[&str] = &[" ", "  ", "\t", "\n", "\r", "\r\n", " \t\n\r ", "                                  "];

const FOREIGN: &[&str] = &[
    "\u{b}", "\u{c}", "\0", "\u{85}", "\u{a0}", "\u{2003}", "\u{2028}", "\u{3000}", "\u{feff}", "/**/", "//", "\\n",
    "\u{8}",
];

/// Returns the text with a space after every comma and colon.
pub(super) fn python(text: &str) -> String {
    let spaced =
        tokens(text).into_iter().flat_map(|token| [token.text(text), if token.role == Role::Mark { " " } else { "" }]);
    spaced.collect()
}

/// Returns the text with more white space.
pub(super) fn respaced(text: &str, rng: &mut Rng) -> String {
    let style = rng.choice(STYLES).unwrap_or(Style::Python);
    let tokens = tokens(text);
    let odd = rng.usize(..tokens.len().max(1));
    let mut out = String::with_capacity(text.len() * 2);
    for (index, token) in tokens.iter().enumerate() {
        let (old, is_odd) = (token.text(text), index == odd);
        let mut any = || *rng.choice(SPACES).unwrap_or(&" ");
        let (mut before, mut after) = ("", "");
        match style {
            Style::Python if token.role == Role::Mark => after = " ",
            Style::NearlyPython if token.role == Role::Mark && !is_odd => after = " ",
            Style::NearlyPython | Style::Once if is_odd => after = any(),
            Style::Lines if token.role == Role::Open || old == "," => after = "\n    ",
            Style::Lines if token.role == Role::Close => before = "\n",
            Style::Lines if old == ":" => after = " ",
            Style::Everywhere => (before, after) = (any(), any()),
            Style::Anywhere if rng.u8(..4) == 0 => after = *rng.choice(SPACES).unwrap_or(&" "),
            Style::Foreign if is_odd => after = rng.choice(FOREIGN).unwrap_or(&"\u{b}"),
            _ => {}
        }
        out.push_str(before);
        if is_odd && matches!(style, Style::Within) {
            let at = boundary(old, 0..old.len(), rng);
            let (left, right) = old.split_at(at);
            out.push_str(left);
            out.push_str(rng.choice(SPACES).unwrap_or(&" "));
            out.push_str(right);
        } else {
            out.push_str(old);
        }
        out.push_str(after);
    }
    out
}
