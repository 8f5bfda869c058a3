//! Location of a value in a JSON text, found by its JSON pointer.

use std::num::NonZeroU32;

use omen_schema::pointer;
use serde::de::{DeserializeOwned, IgnoredAny};

/// Line and column of a value's first character.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    // Nonzero integers keep errors with an optional location small.
    line: NonZeroU32,
    column: NonZeroU32,
}

impl Place {
    /// Returns a line and a column, both starting at 1.
    #[must_use]
    pub fn new(line: usize, column: usize) -> Self {
        let from_1 = |n: usize| u32::try_from(n).ok().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MIN);
        Self { line: from_1(line), column: from_1(column) }
    }

    /// Returns the line, starting at 1.
    #[must_use]
    pub fn line(self) -> u32 {
        self.line.get()
    }

    /// Returns the column in characters, starting at 1.
    #[must_use]
    pub fn column(self) -> u32 {
        self.column.get()
    }

    /// Finds the value to which a pointer leads; `None` if there is no such value, or if the text before it is not
    /// JSON. If a key is repeated, the first counts.
    ///
    /// ```
    /// use omen_codegen::place::Place;
    ///
    /// let text = "{\n  \"a/b\": [true, \"x\"]\n}";
    /// assert_eq!(Place::of(text, "/a~1b/1"), Some(Place::new(2, 17)));
    /// assert_eq!(Place::of(text, "/c"), None);
    /// ```
    #[must_use]
    pub fn of(text: &str, pointer: &str) -> Option<Self> {
        let at = pointer::steps(pointer).try_fold(blank(text, 0), |at, step| below(text, at, &step))?;
        Some(Self::at(text, at))
    }

    /// Returns the location of a byte.
    fn at(text: &str, at: usize) -> Self {
        let before = text.get(..at).unwrap_or(text);
        let line = before.rsplit('\n').next().unwrap_or_default();
        Self::new(before.matches('\n').count() + 1, line.chars().count() + 1)
    }
}

/// Returns the offset of the member or element with this name, in the object or array that begins at `at`.
fn below(text: &str, at: usize, step: &str) -> Option<usize> {
    let is_object = text.get(at..)?.starts_with('{');
    if !is_object && !text.get(at..)?.starts_with('[') {
        return None;
    }
    let mut at = blank(text, at + 1);
    for number in 0_usize.. {
        let mut name = number.to_string();
        if is_object {
            let end;
            (name, end) = skip::<String>(text, at)?;
            at = blank(text, blank(text, end) + 1);
        }
        let (_, end) = skip::<IgnoredAny>(text, at)?;
        if name == step {
            return Some(at);
        }
        at = blank(text, end);
        if !text.get(at..)?.starts_with(',') {
            return None;
        }
        at = blank(text, at + 1);
    }
    None
}

/// Parses a value that begins at `at`, and returns it with the offset of its end.
fn skip<T: DeserializeOwned>(text: &str, at: usize) -> Option<(T, usize)> {
    let mut values = serde_json::Deserializer::from_str(text.get(at..)?).into_iter::<T>();
    let value = values.next()?.ok()?;
    Some((value, at + values.byte_offset()))
}

/// Returns the offset after any white space at `at`.
fn blank(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len()
}
