//! Lenient parser for packets with broken JSON.

use omen_schema::json::{JsonType, Scanner};
use omen_types::limits::MAX_DEPTH;
use serde_json::{Map, Value};

/// Parses a value up to the first error in the text. The rest is ignored, and everything that is open at that point
/// counts as closed. Also returns whether there was an error.
pub(super) fn read(text: &str) -> (Value, bool) {
    let mut scanner = Scanner::within(text, 0..floor(text, MOST));
    let value = value(&mut scanner, 0).unwrap_or_default();
    let is_broken = scanner.finish().is_err() || text.len() > MOST;
    (value, is_broken)
}

fn value(scanner: &mut Scanner<'_>, depth: u8) -> Option<Value> {
    match scanner.json_type() {
        JsonType::Object | JsonType::Array if depth >= MAX_DEPTH => {
            scanner.fail("nested too deeply", scanner.at());
            None
        }
        JsonType::Object => {
            let mut members = Map::new();
            scanner.object(|scanner, key, _| {
                if let Some(value) = value(scanner, depth + 1) {
                    members.entry(key).or_insert(value);
                }
            });
            Some(Value::Object(members))
        }
        JsonType::Array => {
            let mut elements = Vec::new();
            scanner.array(|scanner, _| elements.extend(value(scanner, depth + 1)));
            Some(Value::Array(elements))
        }
        _ => scanner.scalar_value(),
    }
}

/// Returns the first string, number or boolean that follows a name anywhere in a text; for texts that are not JSON.
pub(super) fn member(text: &str, name: &str) -> Option<Value> {
    let end = floor(text, MOST);
    let quoted = format!("\"{name}\"");
    memchr::memmem::find_iter(text.as_bytes(), quoted.as_bytes()).find_map(|at| {
        let mut scanner = Scanner::within(text, at + quoted.len()..end);
        if !scanner.eat(b':') {
            return None;
        }
        scanner.scalar_value().filter(|value| !value.is_null())
    })
}

/// Maximum number of bytes of a line that are parsed leniently: 256 KiB.
const MOST: usize = 256 * 1024;

/// Returns the last character boundary at or before `most`.
fn floor(text: &str, most: usize) -> usize {
    (0..=most.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
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
