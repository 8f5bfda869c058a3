//! JSON read in place: relayed text keeps its bytes, and judged text can be read in only one way.

use std::ops::Range;

pub use omen_base::json::{Flaw, Member, items, members, members_noting};
use omen_schema::json::Scanner;
use serde_json::{Map, Value};

/// Returns the object at a range of a text. Its keys have been scanned, so none is repeated.
pub fn object(text: &str, at: Range<usize>) -> Result<Map<String, Value>, String> {
    serde_json::from_str(text.get(at).unwrap_or_default()).map_err(|error| error.to_string())
}

/// Returns the string at a range of a text.
pub fn text(text: &str, at: Range<usize>) -> Option<String> {
    serde_json::from_str(text.get(at)?).ok()
}

/// Returns the type of a value as text, for messages.
pub fn name(text: &str, at: &Range<usize>) -> &'static str {
    Scanner::within(text, at.clone()).json_type().words()
}

/// Returns whether two keys differ at most in letter case. Some JSON readers treat such keys as equal, so a key that looks
/// like one of the protocol's but is not cannot be judged.
pub fn same_folded(a: &str, b: &str) -> bool {
    folded(a).eq(folded(b))
}

/// Folds the case of a text as such readers do: by Unicode simple case folding, in which `ſ` is an `s` and the Kelvin sign a `k`.
pub fn folded(text: &str) -> impl Iterator<Item = char> + '_ {
    text.chars().flat_map(|c| match c {
        'ſ' => 's'.to_lowercase(),
        '\u{212A}' => 'k'.to_lowercase(),
        c => c.to_lowercase(),
    })
}

#[cfg(test)]
mod tests {
    use super::same_folded;

    #[test]
    fn keys_that_a_lenient_reader_takes_for_the_same_are_the_same() {
        for (a, b) in [("method", "Method"), ("params", "param\u{17F}"), ("task", "tas\u{212A}"), ("id", "ID")] {
            assert!(same_folded(a, b), "{a} {b}");
        }
        assert!(!same_folded("id", "ids") && !same_folded("name", "nаme"), "the second `a` is Cyrillic");
    }
}
