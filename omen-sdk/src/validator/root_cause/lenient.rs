//! Lenient parser for packets whose JSON is broken.

use omen_types::limits::MAX_DEPTH;
use serde_json::{Map, Value};

/// Parses a value up to the first mistake in the text. The rest is ignored, and everything open at that point counts as closed.
/// Also returns whether there was a mistake.
pub(super) fn read(text: &str) -> (Value, bool) {
    let mut reader =
        Reader { text: text.get(..floor(text, MOST)).unwrap_or_default(), at: 0, is_broken: text.len() > MOST };
    let value = reader.value(0).unwrap_or_default();
    reader.space();
    let is_broken = reader.is_broken || reader.at < reader.text.len();
    (value, is_broken)
}

/// Returns the first string, number or boolean after a name anywhere in a text, for texts that are not JSON.
pub(super) fn member(text: &str, name: &str) -> Option<Value> {
    let text = text.get(..floor(text, MOST)).unwrap_or_default();
    let quoted = format!("\"{name}\"");
    memchr::memmem::find_iter(text.as_bytes(), quoted.as_bytes()).find_map(|at| {
        let mut reader = Reader { text, at: at + quoted.len(), is_broken: false };
        reader.space();
        if !reader.eat(b':') {
            return None;
        }
        reader.scalar().filter(|value| !value.is_null())
    })
}

/// Maximum number of bytes of a line that are parsed leniently: 256 KiB.
const MOST: usize = 256 * 1024;

/// Returns the last character boundary that is not after `most`.
fn floor(text: &str, most: usize) -> usize {
    (0..=most.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    is_broken: bool,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn eat(&mut self, mark: u8) -> bool {
        let found = self.peek() == Some(mark);
        if found {
            self.at += 1;
            self.space();
        }
        found
    }

    fn broken<T>(&mut self) -> Option<T> {
        self.is_broken = true;
        None
    }

    fn value(&mut self, depth: u8) -> Option<Value> {
        self.space();
        match self.peek() {
            Some(b'{' | b'[') if depth >= MAX_DEPTH => self.broken(),
            Some(b'{') => Some(Value::Object(self.object(depth))),
            Some(b'[') => Some(Value::Array(self.array(depth))),
            _ => self.scalar(),
        }
    }

    fn object(&mut self, depth: u8) -> Map<String, Value> {
        let mut members = Map::new();
        self.eat(b'{');
        if self.eat(b'}') {
            return members;
        }
        while let Some(Value::String(key)) = self.scalar() {
            self.space();
            if !self.eat(b':') {
                self.is_broken = true;
                return members;
            }
            let value = self.value(depth + 1);
            if let Some(value) = value {
                members.entry(key).or_insert(value);
            }
            self.space();
            if self.is_broken || self.eat(b'}') {
                return members;
            }
            if !self.eat(b',') {
                break;
            }
        }
        self.is_broken = true;
        members
    }

    fn array(&mut self, depth: u8) -> Vec<Value> {
        let mut elements = Vec::new();
        self.eat(b'[');
        if self.eat(b']') {
            return elements;
        }
        while let Some(value) = self.value(depth + 1) {
            elements.push(value);
            self.space();
            if self.is_broken || self.eat(b']') {
                return elements;
            }
            if !self.eat(b',') {
                break;
            }
        }
        self.is_broken = true;
        elements
    }

    /// Parses a string, number, boolean or null.
    fn scalar(&mut self) -> Option<Value> {
        self.space();
        let bytes = self.text.as_bytes();
        let begin = self.at;
        let end = if self.peek() == Some(b'"') {
            if let Some(plain) = plain(self.text.get(begin + 1..)?) {
                self.at = begin + plain.len() + 2;
                return Some(Value::from(plain));
            }
            let mut at = begin + 1;
            loop {
                match bytes.get(at) {
                    Some(b'\\') => at += 2,
                    Some(b'"') => break at + 1,
                    Some(_) => at += 1,
                    None => return self.broken(),
                }
            }
        } else {
            let is_end = |byte: &u8| matches!(byte, b',' | b']' | b'}' | b' ' | b'\t' | b'\r' | b'\n');
            let rest = bytes.get(begin..).unwrap_or_default();
            begin + rest.iter().position(is_end).unwrap_or(rest.len())
        };
        match self.text.get(begin..end).and_then(|text| serde_json::from_str(text).ok()) {
            Some(value) => {
                self.at = end;
                Some(value)
            }
            None => self.broken(),
        }
    }
}

/// Returns the content of a string without escapes, up to its end. Most strings have none.
fn plain(text: &str) -> Option<&str> {
    let end = memchr::memchr2(b'"', b'\\', text.as_bytes()).filter(|end| text.as_bytes().get(*end) == Some(&b'"'))?;
    text.get(..end).filter(|text| !text.bytes().any(|byte| byte.is_ascii_control() && byte != 0x7f))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{member, read};

    #[test]
    fn json_is_read_whole() {
        let value = json!({"a": [1, "x\n\"", null, true, {}], "b": {"c": -1.5}, "d": []});
        assert_eq!(read(&value.to_string()), (value, false));
    }

    #[test]
    fn what_comes_before_a_mistake_is_kept() {
        let text = r#"{"a":{"b":1,"c":"x"},"d":[1,2,"cut"#;
        assert_eq!(read(text), (json!({"a": {"b": 1, "c": "x"}, "d": [1, 2]}), true));
        assert_eq!(read(r#"{"a":1 "b":2}"#), (json!({"a": 1}), true));
        assert_eq!(read(r#"{"a":{"b":1},,"c":2}"#), (json!({"a": {"b": 1}}), true));
        assert_eq!(read("junk"), (json!(null), true));
        assert_eq!(read("{} x"), (json!({}), true));
        for at in 0..text.len() {
            assert!(read(&text[..at]).1, "{at}");
        }
    }

    #[test]
    fn nothing_is_read_too_deep() {
        let deep = "[".repeat(1_000_000);
        assert!(read(&deep).1);
    }

    #[test]
    fn a_member_is_found_behind_a_mistake() {
        let text = r#"{"a":x,"b" : "y", "c":{"b":1}"#;
        assert_eq!(member(text, "b"), Some(json!("y")));
        assert_eq!(member(text, "a"), None);
        assert_eq!(member(text, "d"), None);
    }
}
