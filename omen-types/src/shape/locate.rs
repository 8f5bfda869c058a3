//! Positions of JSON pointers in a text.

use std::ops::Range;

use super::{JsonType, Scanner};
use crate::pointer;

/// Returns the span of the value at `pointer` in valid JSON; if a step does not exist, the span of the value before it.
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
            // The opening bracket stands for the whole value, which may be long.
            None => return Some(scanner.at()..scanner.at() + 1),
        }
    }
    Some(scanner.skip())
}
