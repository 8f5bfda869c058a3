//! Location of a value in a JSON text, found by its JSON pointer.

use std::num::NonZeroU32;

use omen_schema::json::locate;

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

    /// Finds the value that a pointer leads to; `None` if there is no such value, or if the text before it is not
    /// JSON. If a key is repeated, the first occurrence counts.
    ///
    /// ```
    /// use omen_codegen::place::Place;
    ///
    /// let text = "{\n  \"a/b\": [true, \"x\"]\n}";
    /// assert_eq!(Place::from_pointer(text, "/a~1b/1"), Some(Place::new(2, 17)));
    /// assert_eq!(Place::from_pointer(text, "/c"), None);
    /// ```
    #[must_use]
    pub fn from_pointer(text: &str, pointer: &str) -> Option<Self> {
        locate(text, pointer).ok().map(|span| Self::at(text, span.start))
    }

    /// Returns the location of a byte.
    fn at(text: &str, at: usize) -> Self {
        let before = text.get(..at).unwrap_or(text);
        let line = before.rsplit('\n').next().unwrap_or_default();
        Self::new(before.matches('\n').count() + 1, line.chars().count() + 1)
    }
}
