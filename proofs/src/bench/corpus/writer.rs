//! JSON text, written directly into a buffer in one of the forms that logs have.

use std::fmt;
use std::io::Write as _;

use fastrand::Rng;

/// Form of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// No white space, and the members of objects in the order of the schema.
    Compact,
    /// The same with the members of every object shuffled.
    Shuffled,
    /// The default form of Python's `json.dumps`: a space after every comma and colon, and non-ASCII characters as escapes.
    Python,
}

/// Writer of consecutive JSON values.
#[derive(Debug, Default)]
pub(super) struct Writer {
    out: Vec<u8>,
    /// Start positions of the members of the objects being written, outer objects first.
    members: Vec<usize>,
    /// Whether the next value or key is the first in its array or object.
    first: bool,
    shuffle: Option<Rng>,
    is_python: bool,
    scratch: Vec<u8>,
}

impl Writer {
    /// Creates a writer for one form; the seed determines the shuffling.
    pub(super) fn new(form: Form, seed: u64) -> Self {
        let shuffle = (form == Form::Shuffled).then(|| Rng::with_seed(seed));
        Self { shuffle, is_python: form == Form::Python, ..Self::default() }
    }

    /// Returns everything written so far.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.out
    }

    /// Discards what was written, and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.out.clear();
    }

    pub(super) fn line_end(&mut self) {
        self.out.push(b'\n');
    }

    /// Writes an object with the members that `members` writes.
    pub(super) fn object(&mut self, members: impl FnOnce(&mut Self)) {
        let base = self.members.len();
        self.out.push(b'{');
        self.first = true;
        members(self);
        if let Some(mut rng) = self.shuffle.take() {
            self.reorder(base, &mut rng);
            self.shuffle = Some(rng);
        }
        self.members.truncate(base);
        self.out.push(b'}');
        self.first = false;
    }

    /// Writes the key of the next value.
    pub(super) fn key(&mut self, key: &str) {
        self.comma();
        self.members.push(self.out.len());
        self.string(key, false);
        self.mark(b':');
    }

    /// Writes a comma or a colon.
    fn mark(&mut self, mark: u8) {
        self.out.push(mark);
        if self.is_python {
            self.out.push(b' ');
        }
    }

    /// Writes an array of `count` elements.
    pub(super) fn array(&mut self, count: usize, mut element: impl FnMut(&mut Self, usize)) {
        self.out.push(b'[');
        for index in 0..count {
            if index > 0 {
                self.mark(b',');
            }
            element(self, index);
        }
        self.out.push(b']');
    }

    /// Writes a string; with `spelled`, non-ASCII characters are written as escapes.
    pub(super) fn string(&mut self, text: &str, spelled: bool) {
        self.out.push(b'"');
        for char in text.chars() {
            match char {
                '"' => self.out.extend(br#"\""#),
                '\\' => self.out.extend(br"\\"),
                '\n' => self.out.extend(br"\n"),
                '\t' => self.out.extend(br"\t"),
                char if (spelled || self.is_python) && !char.is_ascii() => {
                    for unit in char.encode_utf16(&mut [0; 2]) {
                        self.raw(format_args!("\\u{unit:04x}"));
                    }
                }
                char => self.out.extend(char.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        self.out.push(b'"');
    }

    /// Writes a number, `true`, `false` or `null`.
    pub(super) fn raw(&mut self, text: impl fmt::Display) {
        // INVARIANT: writing to a vector cannot fail.
        let _ = write!(self.out, "{text}");
    }

    /// Writes a key and a string.
    pub(super) fn text(&mut self, key: &str, text: &str) {
        self.key(key);
        self.string(text, false);
    }

    /// Writes a key and a number, `true`, `false` or `null`.
    pub(super) fn plain(&mut self, key: &str, text: impl fmt::Display) {
        self.key(key);
        self.raw(text);
    }

    /// Writes a key and an object.
    pub(super) fn group(&mut self, key: &str, members: impl FnOnce(&mut Self)) {
        self.key(key);
        self.object(members);
    }

    /// Writes a key and an array.
    pub(super) fn list(&mut self, key: &str, count: usize, element: impl FnMut(&mut Self, usize)) {
        self.key(key);
        self.array(count, element);
    }

    fn comma(&mut self) {
        if !self.first {
            self.mark(b',');
        }
        self.first = false;
    }

    /// Shuffles the members of the innermost open object; they are everything after its brace.
    fn reorder(&mut self, base: usize, rng: &mut Rng) {
        let Some(starts) = self.members.get_mut(base..).filter(|starts| starts.len() > 1) else { return };
        let (begin, end) = (starts.first().copied().unwrap_or(0), self.out.len());
        // A member ends one comma before the next one begins, and the last one at the end of the text.
        let ends = starts.iter().skip(1).map(|start| start - 1).chain([end]);
        let mut ranges: Vec<_> = starts.iter().copied().zip(ends).collect();
        rng.shuffle(&mut ranges);
        self.scratch.clear();
        for (index, (start, end)) in ranges.into_iter().enumerate() {
            if index > 0 {
                self.scratch.push(b',');
            }
            self.scratch.extend(self.out.get(start..end).unwrap_or_default());
        }
        self.out.truncate(begin);
        self.out.append(&mut self.scratch);
    }
}
