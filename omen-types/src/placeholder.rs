//! Placeholders for texts that the author still has to write.

use omen_schema::json::{JsonType, Scanner};

use crate::metadata;
use crate::pointer;

/// Text that `omen new` writes where the author has to write something (D89).
pub const PLACEHOLDER: &str = "…";

pub(crate) const FIRST_BYTE: u8 = match PLACEHOLDER.as_bytes() {
    [first, ..] => *first,
    [] => 0,
};

/// Returns the JSON pointers of all values in a packet that equal [`PLACEHOLDER`]. Field names and metadata (D38) are ignored.
#[must_use]
#[cold]
pub fn find(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut scanner = Scanner::new(text);
    if scanner.json_type() != JsonType::Object {
        return found;
    }
    scanner.object(|scanner, key, _| {
        if metadata::is_name(&key) {
            scanner.skip();
        } else {
            value(scanner, &format!("/{}", pointer::escape(&key)), &mut found);
        }
    });
    found
}

fn value(scanner: &mut Scanner<'_>, at: &str, found: &mut Vec<String>) {
    match scanner.json_type() {
        JsonType::Object => {
            scanner.object(|scanner, key, _| value(scanner, &format!("{at}/{}", pointer::escape(&key)), found));
        }
        JsonType::Array => {
            scanner.array(|scanner, index| value(scanner, &format!("{at}/{index}"), found));
        }
        JsonType::String => {
            if scanner.string().0 == PLACEHOLDER {
                found.push(at.to_owned());
            }
        }
        JsonType::Null | JsonType::Bool | JsonType::Number => {
            scanner.skip();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::find;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(find(text), expected, "{text}");
    }

    #[test]
    fn a_text_that_is_the_placeholder_is_found_wherever_it_is() {
        check(r#"{"a":"…"}"#, &["/a"]);
        check(r#"{"a": {"b/c": [1, ["x", "\u2026"], null]}, "d": "…"}"#, &["/a/b~1c/1/1", "/d"]);
    }

    #[test]
    fn longer_texts_names_and_metadata_are_not() {
        check(r#"{"a":"safety first: …","b":"……","…":true,"_note":"…","_all":{"a":"…"}}"#, &[]);
    }
}
