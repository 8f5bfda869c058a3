//! From a JSON pointer to a place in the text.

use std::ops::Range;

use super::{JsonType, Scanner};
use crate::pointer;

/// The span of the value that `pointer` leads to in valid JSON; where a step leads nowhere, the
/// span of the value that it starts from.
pub(crate) fn locate(text: &str, pointer: &str) -> Option<Range<usize>> {
    let mut scanner = Scanner::new(text);
    for step in pointer::steps(pointer) {
        let mut found = None;
        let mut ahead = scanner.clone();
        match scanner.json_type() {
            JsonType::Object if ahead.find(&step) => found = Some(ahead),
            JsonType::Array => {
                ahead.array(|at, index| {
                    if found.is_none() && step.parse() == Ok(index) {
                        found = Some(at.clone());
                    }
                    at.skip();
                });
            }
            _ => {}
        }
        match found {
            Some(inner) => scanner = inner,
            // The opening bracket stands for the whole, which may be long.
            None => return Some(scanner.at()..scanner.at() + 1),
        }
    }
    Some(scanner.skip())
}
