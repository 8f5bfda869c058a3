//! Conversion of a JSON pointer to a span in the text.

use std::ops::Range;

use super::{JsonType, Scanner};
use crate::pointer;

/// Finds the value that a pointer leads to. If a key is repeated, the first occurrence counts.
///
/// # Errors
/// If a step leads nowhere: the first byte of the value at which the step fails, because the whole value may be long.
pub fn locate(text: &str, pointer: &str) -> Result<Range<usize>, Range<usize>> {
    let mut scanner = Scanner::new(text);
    for step in pointer::steps(pointer) {
        let start = scanner.at();
        let mut found = None;
        match scanner.json_type() {
            JsonType::Object => scanner.object(|scanner, key, _| {
                if found.is_none() && key == step {
                    found = Some(scanner.clone());
                }
                scanner.skip();
            }),
            JsonType::Array => scanner.array(|scanner, index| {
                if found.is_none() && step.parse() == Ok(index) {
                    found = Some(scanner.clone());
                }
                scanner.skip();
            }),
            _ => start..start,
        };
        match found {
            Some(inner) => scanner = inner,
            None => return Err(start..start + 1),
        }
    }
    Ok(scanner.skip())
}
