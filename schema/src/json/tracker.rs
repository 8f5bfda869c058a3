//! Which bytes of JSON are in strings.

/// Tracker of the strings in a JSON text, which takes it byte by byte. The text need not be valid.
#[derive(Clone, Copy, Debug, Default)]
pub struct StringTracker {
    in_string: bool,
    is_escaped: bool,
}

impl StringTracker {
    /// Takes the next byte, and returns whether it is outside of strings. Quotation marks are part of their string.
    pub fn step(&mut self, byte: u8) -> bool {
        let was_inside = self.in_string;
        match byte {
            _ if self.is_escaped => self.is_escaped = false,
            b'\\' => self.is_escaped = was_inside,
            b'"' => self.in_string = !was_inside,
            _ => {}
        }
        !was_inside && !self.in_string
    }

    /// Whether the next byte is inside of a string, or ends it.
    #[must_use]
    pub fn in_string(&self) -> bool {
        self.in_string
    }
}
