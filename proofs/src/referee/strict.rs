//! The referee's own JSON reader, which follows RFC 8259 to the letter.
//!
//! It shares no code with the readers that it judges, nor with `serde_json`, on which the `jsonschema` crate depends. Beyond the
//! grammar, it refuses what the protocol forbids: a number without a finite value, half of a surrogate pair, and nesting beyond
//! the limit.

use std::str::CharIndices;

use super::json::Json;

/// Maximum nesting of arrays and objects.
pub(super) const MAX_DEPTH: usize = 64;

/// Reason why a text is unreadable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// It is not JSON.
    Syntax,
    /// It nests beyond [`MAX_DEPTH`], with no earlier error.
    TooDeep,
}

/// Reads one JSON value, surrounded only by white space.
pub(super) fn read(text: &str) -> Result<Json, Unreadable> {
    let mut reader = Reader { text, rest: text.char_indices(), depth: 0 };
    let value = reader.value()?;
    reader.space();
    if reader.peek().is_none() { Ok(value) } else { Err(Unreadable::Syntax) }
}

struct Reader<'t> {
    text: &'t str,
    rest: CharIndices<'t>,
    depth: usize,
}

impl<'t> Reader<'t> {
    fn peek(&self) -> Option<char> {
        self.rest.as_str().chars().next()
    }

    fn next(&mut self) -> Result<char, Unreadable> {
        self.rest.next().map(|(_, char)| char).ok_or(Unreadable::Syntax)
    }

    /// Skips the next character if it is `char`.
    fn skip(&mut self, char: char) -> bool {
        let is_next = self.peek() == Some(char);
        if is_next {
            self.rest.next();
        }
        is_next
    }

    fn expect(&mut self, char: char) -> Result<(), Unreadable> {
        if self.skip(char) { Ok(()) } else { Err(Unreadable::Syntax) }
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t' | '\n' | '\r')) {
            self.rest.next();
        }
    }

    fn value(&mut self) -> Result<Json, Unreadable> {
        self.space();
        match self.peek() {
            Some('{') => self.nested(Self::object),
            Some('[') => self.nested(Self::array),
            Some('"') => self.string().map(Json::String),
            Some('-' | '0'..='9') => self.number(),
            Some('t') => self.word("true", Json::Bool(true)),
            Some('f') => self.word("false", Json::Bool(false)),
            Some('n') => self.word("null", Json::Null),
            _ => Err(Unreadable::Syntax),
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Json, Unreadable>) -> Result<Json, Unreadable> {
        if self.depth == MAX_DEPTH {
            return Err(Unreadable::TooDeep);
        }
        self.depth += 1;
        self.rest.next();
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn word(&mut self, word: &str, value: Json) -> Result<Json, Unreadable> {
        word.chars().try_for_each(|char| self.expect(char))?;
        Ok(value)
    }

    fn array(&mut self) -> Result<Json, Unreadable> {
        let mut elements = Vec::new();
        self.space();
        if self.skip(']') {
            return Ok(Json::Array(elements));
        }
        loop {
            elements.push(self.value()?);
            self.space();
            if self.skip(']') {
                return Ok(Json::Array(elements));
            }
            self.expect(',')?;
        }
    }

    fn object(&mut self) -> Result<Json, Unreadable> {
        let mut members = Vec::new();
        self.space();
        if self.skip('}') {
            return Ok(Json::Object(members));
        }
        loop {
            self.space();
            let key = self.string()?;
            self.space();
            self.expect(':')?;
            members.push((key, self.value()?));
            self.space();
            if self.skip('}') {
                return Ok(Json::Object(members));
            }
            self.expect(',')?;
        }
    }

    fn string(&mut self) -> Result<String, Unreadable> {
        self.expect('"')?;
        let mut string = String::new();
        loop {
            match self.next()? {
                '"' => return Ok(string),
                '\\' => string.push(self.escape()?),
                '\0'..='\u{1f}' => return Err(Unreadable::Syntax),
                char => string.push(char),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Unreadable> {
        Ok(match self.next()? {
            '"' => '"',
            '\\' => '\\',
            '/' => '/',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let first = self.unit()?;
                let mut units = vec![first];
                if (0xd800..0xdc00).contains(&first) {
                    self.expect('\\')?;
                    self.expect('u')?;
                    units.push(self.unit()?);
                }
                // One unit or a pair forms a character, unless it is half of a pair.
                char::decode_utf16(units).next().and_then(Result::ok).ok_or(Unreadable::Syntax)?
            }
            _ => return Err(Unreadable::Syntax),
        })
    }

    /// Reads four hexadecimal digits.
    fn unit(&mut self) -> Result<u16, Unreadable> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.next()?.to_digit(16).ok_or(Unreadable::Syntax)?;
            unit = unit * 16 + digit;
        }
        u16::try_from(unit).map_err(|_| Unreadable::Syntax)
    }

    fn number(&mut self) -> Result<Json, Unreadable> {
        let start = self.rest.offset();
        self.skip('-');
        if !self.skip('0') {
            self.digits()?;
        }
        if self.skip('.') {
            self.digits()?;
        }
        if self.skip('e') || self.skip('E') {
            if !self.skip('-') {
                self.skip('+');
            }
            self.digits()?;
        }
        let number = self.text.get(start..self.rest.offset()).unwrap_or_default();
        match number.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Json::number(number)),
            _ => Err(Unreadable::Syntax),
        }
    }

    /// Reads at least one digit.
    fn digits(&mut self) -> Result<(), Unreadable> {
        if !self.next()?.is_ascii_digit() {
            return Err(Unreadable::Syntax);
        }
        while self.peek().is_some_and(|char| char.is_ascii_digit()) {
            self.rest.next();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_DEPTH, Unreadable, read};

    #[test]
    fn what_rfc_8259_allows_is_read() {
        let texts = [
            ("\t{ \"a\" : [ ] ,\r\n\"\\u0061\":-0.0E+02}\n", r#"{"a":[],"a":-0.0E+02}"#),
            (r#""\/\b\f\n\r\t\"\\\ud83D\uDe00""#, "\"/\\u0008\\u000c\\u000a\\u000d\\u0009\\\"\\\\\u{1f600}\""),
            ("1e-99999999999999999999", "1e-99999999999999999999"),
            ("[0,-0,1.5e3,true,false,null,\"\u{7f}\u{2028}\"]", "[0,-0,1.5e3,true,false,null,\"\u{7f}\u{2028}\"]"),
        ];
        for (text, written) in texts {
            assert_eq!(read(text).map(|value| value.write(&mut None)).as_deref(), Ok(written), "{text}");
        }
    }

    #[test]
    fn everything_else_is_refused() {
        let texts = [
            "",
            " ",
            "{",
            "[1,]",
            "{\"a\":1,}",
            "{\"a\"}",
            "{a:1}",
            "[1 2]",
            "01",
            "-",
            "-01",
            "1.",
            ".5",
            "+1",
            "1e",
            "1e+",
            "0x1",
            "1e999",
            "-1e400",
            "tru",
            "True",
            "nullx",
            "1 1",
            "\u{feff}1",
            "\u{a0}1",
            "'a'",
            "\"",
            "\"\\",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\\u+123\"",
            "\"\n\"",
            "\"\0\"",
            "\"\\ud800\"",
            "\"\\udc00\"",
            "\"\\ud800\\u0041\"",
            "\"\\ud800\\ud800\"",
            "\"\\ud800x\"",
            "NaN",
            "[1]]",
            "//\n1",
        ];
        for text in texts {
            assert_eq!(read(text), Err(Unreadable::Syntax), "{text}");
        }
    }

    #[test]
    fn nesting_is_limited() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(read(&nested(MAX_DEPTH)).is_ok());
        assert_eq!(read(&nested(MAX_DEPTH + 1)), Err(Unreadable::TooDeep));
        assert_eq!(read(&"[".repeat(1_000_000)), Err(Unreadable::TooDeep));
    }
}
