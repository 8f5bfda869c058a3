//! Free-form JSON, in which only repeated keys are errors.

use std::ops::Range;

use omen_schema::json::{JsonType, Scanner};

use super::Walk;
use crate::parser::Keys;

impl Walk {
    pub(super) fn free(&mut self, scanner: &mut Scanner<'_>) {
        let mut span = 0..0;
        self.free_spanned(scanner, &mut span);
    }

    /// Walks a free-form value, and reports repeated keys.
    pub(super) fn free_spanned(&mut self, scanner: &mut Scanner<'_>, span: &mut Range<usize>) {
        *span = match scanner.json_type() {
            JsonType::Object => self.free_object(scanner, &mut 0),
            JsonType::Array => scanner.array(|scanner, index| self.down(&index.to_string(), |walk| walk.free(scanner))),
            _ => scanner.scalar(),
        };
    }

    pub(super) fn free_object(&mut self, scanner: &mut Scanner<'_>, count: &mut usize) -> Range<usize> {
        let mut keys = Keys::default();
        scanner.object(|scanner, key, key_span| {
            if keys.insert(key.clone()) {
                *count += 1;
            } else {
                self.repeated(&key, key_span);
            }
            self.down(&key, |walk| walk.free(scanner));
        })
    }
}
