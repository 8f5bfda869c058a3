//! Tokens of a JSON text, as far as they can be recognized, even if a change has broken the text.

use std::ops::Range;

use fastrand::Rng;

/// Role of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A string before a colon.
    Key,
    /// Any other string.
    Text,
    Number,
    /// `true`, `false`, `null`, or any other run of letters.
    Word,
    /// `{` or `[`.
    Open,
    /// `}` or `]`.
    Close,
    /// `,` or `:`.
    Mark,
    Space,
    /// Anything else.
    Other,
}

/// A token. It begins and ends at character boundaries.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) role: Role,
    pub(super) range: Range<usize>,
    /// Position of the enclosing brace or bracket; 0 for the outermost.
    pub(super) around: usize,
}

impl Token {
    pub(super) fn is_string(&self) -> bool {
        matches!(self.role, Role::Key | Role::Text)
    }

    /// Returns whether it is a complete value.
    pub(super) fn is_scalar(&self) -> bool {
        matches!(self.role, Role::Text | Role::Number | Role::Word)
    }

    pub(super) fn text<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.range.clone()).unwrap_or_default()
    }
}

/// Returns the tokens of a text, without gaps.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut start = 0;
    while let Some(rest) = text.get(start..).filter(|rest| !rest.is_empty()) {
        let (role, length) = first(rest);
        if rest.starts_with(':')
            && let Some(before) = tokens.iter_mut().rev().find(|token| token.role != Role::Space)
            && before.role == Role::Text
        {
            before.role = Role::Key;
        }
        if role == Role::Close {
            open.pop();
        }
        let around = open.last().copied().unwrap_or_default();
        if role == Role::Open {
            open.push(start);
        }
        tokens.push(Token { role, range: start..start + length, around });
        start += length;
    }
    tokens
}

/// Returns the role of the first token of a non-empty text, and its length.
fn first(text: &str) -> (Role, usize) {
    let run = |is: fn(u8) -> bool| text.bytes().take_while(|byte| is(*byte)).count();
    match text.bytes().next() {
        Some(b'"') => (Role::Text, string(text)),
        Some(b'{' | b'[') => (Role::Open, 1),
        Some(b'}' | b']') => (Role::Close, 1),
        Some(b',' | b':') => (Role::Mark, 1),
        Some(b' ' | b'\t' | b'\n' | b'\r') => (Role::Space, run(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))),
        Some(b'-' | b'0'..=b'9') => {
            (Role::Number, run(|byte| matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')))
        }
        Some(byte) if byte.is_ascii_alphabetic() => (Role::Word, run(|byte| byte.is_ascii_alphabetic())),
        _ => (Role::Other, text.chars().next().map_or(1, char::len_utf8)),
    }
}

/// Returns the length of a string with its quotes, or to the end of the text if it is not closed.
fn string(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 2)
}

/// Returns a random token among those that match.
pub(super) fn token(text: &str, rng: &mut Rng, is: impl Fn(&Token) -> bool) -> Option<Token> {
    rng.choice(tokens(text).into_iter().filter(is).collect::<Vec<_>>())
}

/// Returns a random position in a range at which a character begins or the text ends.
pub(super) fn boundary(text: &str, range: std::ops::Range<usize>, rng: &mut Rng) -> usize {
    let at = if range.is_empty() { range.start } else { rng.usize(range) };
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// Returns a position inside a random string: after its first quote, or before any of its characters or its last quote.
pub(super) fn inside_a_string(text: &str, rng: &mut Rng) -> Option<usize> {
    let range = token(text, rng, Token::is_string)?.range;
    Some(boundary(text, range.start + 1..range.end.max(range.start + 2), rng))
}

#[cfg(test)]
mod tests {
    use super::{Role, tokens};

    #[test]
    fn the_tokens_of_a_text_make_the_text() {
        for text in [r#"{"a" :[1,"b\"",{}, true],"ä":-1.5e+3 } x"#, "{\"a\":\"\u{feff}", "\u{a0}[}\\", ""] {
            let tokens = tokens(text);
            let joined: String = tokens.iter().map(|token| token.text(text)).collect();
            assert_eq!(joined, text);
        }
    }

    #[test]
    fn keys_are_known_with_their_objects() {
        let text = r#"{"a":{"b" : "c"},"d":1}"#;
        let tokens = tokens(text);
        let keys: Vec<_> =
            tokens.iter().filter(|token| token.role == Role::Key).map(|key| (key.text(text), key.around)).collect();
        assert_eq!(keys, [("\"a\"", 0), ("\"b\"", 5), ("\"d\"", 0)]);
    }
}
