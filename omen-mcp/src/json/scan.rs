//! One pass over a text: its grammar, the keys that are repeated at any depth, and where the members of one object stand.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use omen_base::bounded;

/// Why a text cannot be read in one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// It is invalid JSON: what is wrong, and at which byte.
    Syntax(&'static str, usize),
    /// An object has a key twice.
    Repeated(String),
    /// A key that the reader of the judged parts gives a meaning of its own.
    Reserved(String),
    /// More levels than are allowed.
    Deep,
}

impl Flaw {
    /// What is wrong, without the names of members, which are the writer's.
    pub fn unquoted(&self) -> String {
        match self {
            Self::Repeated(_) => "duplicate field".to_owned(),
            Self::Reserved(_) => "a key is reserved".to_owned(),
            Self::Syntax(..) | Self::Deep => self.to_string(),
        }
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(what, at) => write!(f, "invalid JSON: {what} at byte {at}"),
            Self::Repeated(key) => write!(f, "duplicate field `{key}`"),
            Self::Reserved(key) => write!(f, "the key `{key}` is reserved"),
            Self::Deep => write!(f, "arrays and objects are nested more than {DEEPEST} levels deep"),
        }
    }
}

/// A member of an object: its key, and where its value stands in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member<'t> {
    /// The key, without escapes.
    pub key: Cow<'t, str>,
    /// Where the value stands in the text, in bytes.
    pub span: Range<usize>,
}

/// The members of the object that stands at a place of a text, which is checked to its end and to its depth.
pub fn members(text: &str, at: Range<usize>) -> Result<Vec<Member<'_>>, Flaw> {
    match members_noting(text, at)? {
        (members, None) => Ok(members),
        (_, Some(repeated)) => Err(repeated),
    }
}

/// The same, where a repeated key is noted: the first of them.
pub fn members_noting(text: &str, at: Range<usize>) -> Result<(Vec<Member<'_>>, Option<Flaw>), Flaw> {
    let mut scan = Scan { text, at: at.start, end: at.end.min(text.len()), repeated: None };
    scan.blank();
    if scan.peek() != Some(b'{') {
        return Err(Flaw::Syntax("expected an object", scan.at));
    }
    let mut members = Vec::new();
    scan.object(0, &mut |key, span| members.push(Member { key, span }))?;
    scan.finish()?;
    Ok((members, scan.repeated))
}

/// Where the items of the array stand that stands at a place of a text.
pub fn items(text: &str, at: Range<usize>) -> Result<Vec<Range<usize>>, Flaw> {
    let mut scan = Scan { text, at: at.start, end: at.end.min(text.len()), repeated: None };
    scan.blank();
    if scan.peek() != Some(b'[') {
        return Err(Flaw::Syntax("expected an array", scan.at));
    }
    let mut items = Vec::new();
    scan.array(0, &mut |span| items.push(span))?;
    scan.finish()?;
    scan.repeated.map_or(Ok(items), Err)
}

struct Scan<'t> {
    text: &'t str,
    at: usize,
    end: usize,
    repeated: Option<Flaw>,
}

impl<'t> Scan<'t> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied().filter(|_| self.at < self.end)
    }

    fn blank(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn wrong<T>(&self, what: &'static str) -> Result<T, Flaw> {
        Err(Flaw::Syntax(if self.at >= self.end { "unexpected end" } else { what }, self.at))
    }

    fn take(&mut self, byte: u8) -> bool {
        let taken = self.peek() == Some(byte);
        self.at += usize::from(taken);
        taken
    }

    fn finish(&mut self) -> Result<(), Flaw> {
        self.blank();
        if self.at < self.end { self.wrong("unexpected text after the value") } else { Ok(()) }
    }

    fn value(&mut self, depth: usize) -> Result<Range<usize>, Flaw> {
        self.blank();
        let start = self.at;
        match self.peek() {
            Some(b'{') => self.object(depth, &mut |_, _| {})?,
            Some(b'[') => self.array(depth, &mut |_| {})?,
            Some(b'"') => self.string()?,
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't') => self.word("true")?,
            Some(b'f') => self.word("false")?,
            Some(b'n') => self.word("null")?,
            _ => return self.wrong("expected a value"),
        }
        Ok(start..self.at)
    }

    fn object(&mut self, depth: usize, each: &mut dyn FnMut(Cow<'t, str>, Range<usize>)) -> Result<(), Flaw> {
        self.at += 1;
        let mut keys: Vec<Cow<'t, str>> = Vec::new();
        self.blank();
        if !self.take(b'}') {
            loop {
                self.blank();
                let start = self.at;
                if self.peek() != Some(b'"') {
                    return self.wrong("expected a key");
                }
                self.string()?;
                let key = self.key(start)?;
                self.blank();
                if !self.take(b':') {
                    return self.wrong("expected `:`");
                }
                let span = self.below(depth)?;
                keys.push(key.clone());
                each(key, span);
                self.blank();
                if self.take(b'}') {
                    break;
                }
                if !self.take(b',') {
                    return self.wrong("expected `,` or `}`");
                }
            }
        }
        keys.sort_unstable();
        if self.repeated.is_none() {
            let twice = keys.windows(2).find_map(|pair| match pair {
                [one, other] if one == other => Some(bounded(one)),
                _ => None,
            });
            self.repeated = twice.map(Flaw::Repeated);
        }
        Ok(())
    }

    fn array(&mut self, depth: usize, each: &mut dyn FnMut(Range<usize>)) -> Result<(), Flaw> {
        self.at += 1;
        self.blank();
        if self.take(b']') {
            return Ok(());
        }
        loop {
            each(self.below(depth)?);
            self.blank();
            if self.take(b']') {
                return Ok(());
            }
            if !self.take(b',') {
                return self.wrong("expected `,` or `]`");
            }
        }
    }

    fn below(&mut self, depth: usize) -> Result<Range<usize>, Flaw> {
        if depth + 1 >= DEEPEST { Err(Flaw::Deep) } else { self.value(depth + 1) }
    }

    /// The key that has just been passed: what it means, with its escapes resolved.
    fn key(&self, start: usize) -> Result<Cow<'t, str>, Flaw> {
        let quoted = self.text.get(start..self.at).unwrap_or_default();
        let plain = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
        let key = if plain.contains('\\') {
            let resolved: Result<String, _> = serde_json::from_str(quoted);
            Cow::Owned(resolved.map_err(|_| Flaw::Syntax("invalid escape in a key", start))?)
        } else {
            Cow::Borrowed(plain)
        };
        if key.starts_with(RESERVED) { Err(Flaw::Reserved(bounded(&key))) } else { Ok(key) }
    }

    fn string(&mut self) -> Result<(), Flaw> {
        self.at += 1;
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => {
                    self.at += 1;
                    match self.peek() {
                        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
                        Some(b'u') => {
                            self.at += 1;
                            for _ in 0..4 {
                                if !self.peek().is_some_and(|digit| digit.is_ascii_hexdigit()) {
                                    return self.wrong("invalid escape");
                                }
                                self.at += 1;
                            }
                        }
                        _ => return self.wrong("invalid escape"),
                    }
                }
                Some(0..=0x1F) => return self.wrong("control character in a string"),
                Some(_) => self.at += 1,
                None => return self.wrong("unexpected end"),
            }
        }
    }

    fn digits(&mut self) -> Result<(), Flaw> {
        let start = self.at;
        while self.peek().is_some_and(|digit| digit.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == start { self.wrong("expected a digit") } else { Ok(()) }
    }

    fn number(&mut self) -> Result<(), Flaw> {
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            let _ = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        Ok(())
    }

    fn word(&mut self, word: &str) -> Result<(), Flaw> {
        let rest = self.text.as_bytes().get(self.at..self.end).unwrap_or_default();
        if rest.starts_with(word.as_bytes()) {
            self.at += word.len();
            return Ok(());
        }
        self.wrong("expected a value")
    }
}

/// As deep as the reader of the judged parts goes.
const DEEPEST: usize = 128;

/// With what that reader begins the keys that it gives a meaning of its own.
const RESERVED: &str = "$serde_json::private::";

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::{DEEPEST, Flaw, items, members};

    fn scan(text: &str) -> Result<Vec<(String, &str)>, Flaw> {
        let members = members(text, 0..text.len())?;
        Ok(members.into_iter().map(|member| (member.key.into_owned(), text.get(member.span).unwrap())).collect())
    }

    #[test]
    fn members_are_found_where_they_stand() {
        let text = r#" { "a" : 1.50 , "\u0062":[ {"c":"}"} ] ,"é":"\"" } "#;
        let found = scan(text).unwrap();
        let expected = [("a", "1.50"), ("b", r#"[ {"c":"}"} ]"#), ("é", r#""\"""#)];
        assert_eq!(found, expected.map(|(key, value)| (key.to_owned(), value)));
        let list = "[1, [2,3] ,{} ]";
        let found: Vec<_> = items(list, 0..list.len()).unwrap().into_iter().map(|at| list.get(at).unwrap()).collect();
        assert_eq!(found, ["1", "[2,3]", "{}"]);
    }

    #[test]
    fn a_repeated_key_is_found_at_any_depth_and_in_any_spelling() {
        for text in [r#"{"a":1,"a":1}"#, r#"{"a":{"b":[{"c":1,"\u0063":2}]}}"#, r#"{"é":1,"\u00e9":2}"#] {
            assert!(matches!(scan(text), Err(Flaw::Repeated(_))), "{text}");
        }
        assert!(matches!(scan(r#"{"x":[{"$serde_json::private::RawValue":"1"}]}"#), Err(Flaw::Reserved(_))));
        assert!(matches!(scan(r#"{"x":[{"$\u0073erde_json::private::Number":"1"}]}"#), Err(Flaw::Reserved(_))));
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |levels: usize| format!("{{\"a\":{}{}}}", "[".repeat(levels), "]".repeat(levels));
        assert!(scan(&nested(DEEPEST - 1)).is_ok());
        assert_eq!(scan(&nested(DEEPEST)), Err(Flaw::Deep));
        assert_eq!(scan(&format!("{{\"a\":{}", "[".repeat(1_000_000))), Err(Flaw::Deep));
    }

    /// Every change of one byte, and every start, is judged as another reader judges it.
    #[test]
    fn the_grammar_is_that_of_another_reader() {
        let text = r#"{"a":[-0.5e+1,10,true,false,null,"x\u00e9\n"],"b":{"":{}}}"#;
        let same = |text: &[u8]| {
            let Ok(text) = std::str::from_utf8(text) else { return };
            // Text that another reader resolves while it reads may be no text: half of a pair, or a number without end.
            let other = serde_json::from_str::<std::collections::BTreeMap<String, &serde_json::value::RawValue>>(text);
            let ours = match scan(text) {
                Err(Flaw::Repeated(_)) => Ok(()),
                scanned => scanned.map(drop),
            };
            assert_eq!(ours.is_ok(), other.is_ok(), "{text}: {ours:?} {other:?}");
        };
        for at in 0..text.len() {
            same(text.get(..at).unwrap().as_bytes());
            for byte in (0..=127).chain([200]) {
                let mut changed = text.as_bytes().to_vec();
                *changed.get_mut(at).unwrap() = byte;
                same(&changed);
                let mut added = text.as_bytes().to_vec();
                added.insert(at, byte);
                same(&added);
            }
        }
    }
}
