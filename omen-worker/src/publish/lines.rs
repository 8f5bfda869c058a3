//! Lines of a log.

use std::collections::VecDeque;
use std::io::Read;

use omen::lines::{LineSplitter, RawLine};

/// Line reader that counts lines.
pub(super) struct Lines<R> {
    log: R,
    splitter: LineSplitter,
    ready: VecDeque<Option<Vec<u8>>>,
    pub(super) number: u64,
    is_over: bool,
}

impl<R: Read> Lines<R> {
    pub(super) fn new(log: R) -> Self {
        let splitter = LineSplitter::new(LONGEST_LINE);
        Self { log, splitter, ready: VecDeque::new(), number: 0, is_over: false }
    }

    /// Returns the next line; the inner value is `None` for a line that is too long.
    pub(super) fn next(&mut self) -> std::io::Result<Option<Option<Vec<u8>>>> {
        let mut buffer = [0; 64 * 1024];
        while self.ready.is_empty() && !self.is_over {
            let ready = &mut self.ready;
            let mut each = |line: RawLine<'_>| {
                ready.push_back(match line {
                    RawLine::Whole(line) => Some(line.to_vec()),
                    RawLine::TooLong => None,
                });
                Ok::<(), std::convert::Infallible>(())
            };
            match self.log.read(&mut buffer) {
                Ok(0) => {
                    let Ok(()) = self.splitter.finish(&mut each);
                    self.is_over = true;
                }
                Ok(count) => {
                    let Ok(()) = self.splitter.feed(buffer.get(..count).unwrap_or_default(), &mut each);
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let line = self.ready.pop_front();
        self.number += u64::from(line.is_some());
        Ok(line)
    }
}

/// Maximum length of a line in bytes.
const LONGEST_LINE: usize = 16 * 1024 * 1024;
