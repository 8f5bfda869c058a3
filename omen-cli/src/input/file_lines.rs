//! Line numbers in several files that are checked as one stream.

/// Line counter that maps the lines of a stream to files.
#[derive(Debug, Default)]
pub(crate) struct FileLines {
    /// Number of complete lines, over all files.
    complete: u64,
    /// Whether the current line is incomplete.
    pub(crate) is_inside: bool,
    /// For each file but the first, the number of complete lines before its beginning.
    before: Vec<u64>,
}

impl FileLines {
    /// Continues from a [`state`](Self::state).
    pub(crate) fn resume((complete, is_inside, before): (u64, bool, Vec<u64>)) -> Self {
        Self { complete, is_inside, before }
    }

    /// Returns the number of complete lines, whether the current line is incomplete, and for each file but the first the number
    /// of complete lines before its beginning.
    pub(crate) fn state(&self) -> (u64, bool, &[u64]) {
        (self.complete, self.is_inside, &self.before)
    }

    /// Counts the next bytes.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        self.complete += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        self.is_inside = bytes.last().map_or(self.is_inside, |byte| *byte != b'\n');
    }

    pub(crate) fn next_file(&mut self) {
        self.before.push(self.complete);
    }

    /// Returns the index of the file that contains a line, from 0, and the line number in that file.
    pub(crate) fn place(&self, line: u64) -> (usize, u64) {
        let file = self.before.partition_point(|before| *before < line);
        (file, line - file.checked_sub(1).and_then(|last| self.before.get(last)).unwrap_or(&0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_in_their_files() {
        let lines = FileLines { before: vec![3, 3, 5], ..FileLines::default() };
        let found: Vec<_> = (1..=7).map(|line| lines.place(line)).collect();
        assert_eq!(found, [(0, 1), (0, 2), (0, 3), (2, 1), (2, 2), (3, 1), (3, 2)]);
    }
}
