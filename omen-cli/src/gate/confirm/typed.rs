//! User input, with the question that was shown when each line was begun.
//!
//! An answer that is already in a pipe when its question arrives was written by someone who had not read the question. Therefore
//! pending input is read and dropped when a question is shown, and each line carries the number of questions that had been shown
//! when it began.

use std::io::{self, Stdin};
use std::sync::Arc;

use omen_base::Mutex;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, read};

/// A line from the user.
#[derive(Debug)]
pub(super) struct TypedLine {
    pub(super) text: String,
    /// Number of questions that had been shown when the line began.
    pub(super) after: u64,
}

/// Standard input. Clones share the same state.
#[derive(Clone, Debug)]
pub(super) struct TypedInput(Arc<TypedInputParts>);

#[derive(Debug)]
struct TypedInputParts {
    stdin: Stdin,
    /// Locked while reading, so that input read for one question is not attributed to the next.
    state: Mutex<ReadSoFar>,
}

#[derive(Debug, Default)]
struct ReadSoFar {
    /// Number of questions shown.
    shown: u64,
    /// Bytes of the incomplete line; `after` is the value of `shown` when that line began.
    partial: Vec<u8>,
    after: u64,
    has_ended: bool,
}

/// Result of a read.
pub(super) enum Read {
    Lines(Vec<TypedLine>),
    Ended,
}

impl TypedInput {
    pub(super) fn new() -> Self {
        Self(Arc::new(TypedInputParts { stdin: io::stdin(), state: Mutex::default() }))
    }

    /// Waits for user input.
    pub(super) fn read(&self) -> Read {
        loop {
            // Polls without the lock, so that a question can be shown in the meantime.
            if self.is_ready(None).is_err() {
                return Read::Ended;
            }
            let mut state = self.0.state.lock();
            if state.has_ended || !self.is_ready(Some(&NOW)).unwrap_or(true) {
                match state.has_ended {
                    true => return Read::Ended,
                    // The input was dropped when a question was shown.
                    false => continue,
                }
            }
            let mut buffer = [0; CHUNK];
            match read(&self.0.stdin, &mut buffer) {
                Ok(count) if count > 0 => match state.take(buffer.get(..count).unwrap_or_default()) {
                    Some(lines) if lines.is_empty() => {}
                    Some(lines) => return Read::Lines(lines),
                    None => return Read::Ended,
                },
                Err(Errno::INTR | Errno::AGAIN) => {}
                Ok(_) | Err(_) => {
                    state.has_ended = true;
                    // A last line without a line feed counts as a line.
                    return match state.take(b"\n") {
                        Some(lines) if lines.iter().any(|line| !line.text.is_empty()) => Read::Lines(lines),
                        _ => Read::Ended,
                    };
                }
            }
        }
    }

    /// Counts a question that is being shown, and returns its number.
    pub(super) fn shows(&self) -> u64 {
        let mut state = self.0.state.lock();
        state.shown += 1;
        state.shown
    }

    /// Drops pending input, and returns whether there was any. Not for a terminal, which reports the end of input only once.
    pub(super) fn drop_waiting(&self) -> bool {
        let mut state = self.0.state.lock();
        let mut dropped = 0;
        // Bounded, since a program may write endlessly. Input beyond the bound was also written ahead, and is detected as such.
        while dropped < MOST_DROPPED && !state.has_ended && self.is_ready(Some(&NOW)).unwrap_or(false) {
            let mut buffer = [0; CHUNK];
            match read(&self.0.stdin, &mut buffer) {
                Ok(0) => state.has_ended = true,
                Ok(count) => dropped += count,
                Err(Errno::INTR) => {}
                Err(_) => break,
            }
        }
        dropped > 0
    }

    fn is_ready(&self, within: Option<&Timespec>) -> Result<bool, Errno> {
        loop {
            match poll(&mut [PollFd::new(&self.0.stdin, PollFlags::IN)], within) {
                Ok(count) => return Ok(count > 0),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl ReadSoFar {
    /// Splits bytes into lines; `None` if they are not UTF-8, which cannot be an answer.
    fn take(&mut self, bytes: &[u8]) -> Option<Vec<TypedLine>> {
        let mut lines = Vec::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.partial.is_empty() {
                self.after = self.shown;
            }
            self.partial.extend_from_slice(piece);
            if !piece.ends_with(b"\n") {
                continue;
            }
            let line = std::mem::take(&mut self.partial);
            let text = String::from_utf8(line).ok()?;
            lines.push(TypedLine { text: text.trim_end_matches(['\n', '\r']).to_owned(), after: self.after });
        }
        Some(lines)
    }
}

const NOW: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
const CHUNK: usize = 4096;
const MOST_DROPPED: usize = 1 << 20;
