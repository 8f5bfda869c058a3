//! Members and elements located in a text, without parsing any of it into values.
//!
//! Relayed text keeps its bytes, and the same bytes are judged.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

use omen_schema::json::{JsonType, ScanError, Scanner};

use crate::foreign_text::bounded;

/// Reason why a text cannot be read in exactly one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// The text is invalid JSON or nested too deeply.
    Invalid(ScanError),
    /// An object contains a key twice.
    Repeated(String),
    /// A key has a special meaning for the reader of the judged parts.
    Reserved(String),
}

impl Flaw {
    /// Returns a description of the flaw without member names, which come from the writer.
    pub fn unquoted(&self) -> String {
        match self {
            Self::Repeated(_) => "duplicate field".to_owned(),
            Self::Reserved(_) => "a key is reserved".to_owned(),
            Self::Invalid(_) => self.to_string(),
        }
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(error) => error.fmt(f),
            Self::Repeated(key) => write!(f, "duplicate field `{key}`"),
            Self::Reserved(key) => write!(f, "the key `{key}` is reserved"),
        }
    }
}

/// Object member: its key, and the position of its value in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member<'t> {
    /// Key, with escapes resolved.
    pub key: Cow<'t, str>,
    /// Byte range of the value in the text.
    pub span: Range<usize>,
}

/// Returns the members of the object at a range of a text. The object is checked to its end and at every depth.
///
/// # Errors
/// The reason why readers of the text may differ.
pub fn members(text: &str, at: Range<usize>) -> Result<Vec<Member<'_>>, Flaw> {
    match members_noting(text, at)? {
        (members, None) => Ok(members),
        (_, Some(repeated)) => Err(repeated),
    }
}

/// Same as [`members`], but returns the first repeated key instead of failing.
///
/// # Errors
/// Any other reason why readers of the text may differ.
pub fn members_noting(text: &str, at: Range<usize>) -> Result<(Vec<Member<'_>>, Option<Flaw>), Flaw> {
    let (mut scanner, mut keys) = (Scanner::within(text, at), KeyCheck::default());
    let mut members = Vec::new();
    keys.object(&mut scanner, |key, span| members.push(Member { key, span }));
    let repeated = keys.finish(&mut scanner)?;
    Ok((members, repeated))
}

/// Returns the ranges of the items of the array at a range of a text.
///
/// # Errors
/// The reason why readers of the text may differ.
pub fn items(text: &str, at: Range<usize>) -> Result<Vec<Range<usize>>, Flaw> {
    let (mut scanner, mut keys) = (Scanner::within(text, at), KeyCheck::default());
    let mut items = Vec::new();
    scanner.array(|scanner, _| items.push(keys.value(scanner)));
    keys.finish(&mut scanner)?.map_or(Ok(items), Err)
}

/// Search for the first repeated key and the first reserved key, at any depth.
#[derive(Default)]
struct KeyCheck {
    repeated: Option<String>,
    reserved: Option<String>,
}

impl KeyCheck {
    fn value(&mut self, scanner: &mut Scanner<'_>) -> Range<usize> {
        match scanner.json_type() {
            JsonType::Object => self.object(scanner, |_, _| {}),
            JsonType::Array => scanner.array(|scanner, _| _ = self.value(scanner)),
            _ => scanner.scalar(),
        }
    }

    fn object<'t>(
        &mut self,
        scanner: &mut Scanner<'t>,
        mut each: impl FnMut(Cow<'t, str>, Range<usize>),
    ) -> Range<usize> {
        let mut keys = BTreeSet::new();
        scanner.object(|scanner, key, _| {
            if is_reserved(&key) {
                self.reserved.get_or_insert_with(|| bounded(&key));
            }
            if !keys.insert(key.clone()) {
                self.repeated.get_or_insert_with(|| bounded(&key));
            }
            each(key, self.value(scanner));
        })
    }

    /// Returns the repeated key if there is no other flaw.
    fn finish(self, scanner: &mut Scanner<'_>) -> Result<Option<Flaw>, Flaw> {
        scanner.finish().map_err(Flaw::Invalid)?;
        self.reserved.map_or(Ok(()), |key| Err(Flaw::Reserved(key)))?;
        Ok(self.repeated.map(Flaw::Repeated))
    }
}

/// Returns whether `serde_json` uses a key to pass values to itself. In a foreign text, such a key would make it parse the value
/// below again: into a value other than the one that was checked, and without the depth limit.
pub(super) fn is_reserved(key: &str) -> bool {
    key.starts_with("$serde_json::private::")
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use omen_schema::json::{DEEPEST, ScanError};

    use super::{Flaw, items, members};

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
        assert_eq!(scan(&nested(DEEPEST)), Err(Flaw::Invalid(ScanError::Deep)));
        assert_eq!(scan(&format!("{{\"a\":{}", "[".repeat(1_000_000))), Err(Flaw::Invalid(ScanError::Deep)));
    }

    /// Every single-byte change and every prefix is judged as another reader judges it.
    #[test]
    fn the_grammar_is_that_of_another_reader() {
        let text = r#"{"a":[-0.5e+1,10,true,false,null,"x\u00e9\n"],"b":{"":{}}}"#;
        let same = |text: &[u8]| {
            let Ok(text) = std::str::from_utf8(text) else { return };
            // Text that another reader resolves while reading may be invalid: half of a surrogate pair, or a number out of range.
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
