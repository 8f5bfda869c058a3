//! What the user writes, and which question was shown when it was written.
//!
//! An answer that waits in a pipe before its question is there was written by somebody who has not read the question. So what
//! waits when a question is shown is read and dropped, and each line carries the number of the question that was there when it
//! began.

use std::io::{self, Stdin};
use std::sync::Arc;

use omen_base::Mutex;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, read};

/// A line of the user.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) text: String,
    /// How many questions had been shown when it began.
    pub(super) after: u64,
}

/// Standard input. A clone reads the same.
#[derive(Clone, Debug)]
pub(super) struct Typed(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    stdin: Stdin,
    /// Held while something is read, so that nothing is read for one question and counted for the next.
    state: Mutex<ReadSoFar>,
}

#[derive(Debug, Default)]
struct ReadSoFar {
    /// How many questions have been shown.
    shown: u64,
    /// What was read of the line that is not complete, and when it began.
    partial: Vec<u8>,
    after: u64,
    has_ended: bool,
}

/// What comes from the user.
pub(super) enum Read {
    Lines(Vec<Line>),
    Ended,
}

impl Typed {
    pub(super) fn new() -> Self {
        Self(Arc::new(Shared { stdin: io::stdin(), state: Mutex::default() }))
    }

    /// Waits for what the user writes.
    pub(super) fn read(&self) -> Read {
        loop {
            // Without the lock, so that a question can be shown in the meantime.
            if self.is_ready(None).is_err() {
                return Read::Ended;
            }
            let mut state = self.0.state.lock();
            if state.has_ended || !self.is_ready(Some(&NOW)).unwrap_or(true) {
                match state.has_ended {
                    true => return Read::Ended,
                    // It was read and dropped when the question was shown.
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
                    // A last line without a line feed is one.
                    return match state.take(b"\n") {
                        Some(lines) if lines.iter().any(|line| !line.text.is_empty()) => Read::Lines(lines),
                        _ => Read::Ended,
                    };
                }
            }
        }
    }

    /// Counts a question that is shown now. Gives its number.
    pub(super) fn shows(&self) -> u64 {
        let mut state = self.0.state.lock();
        state.shown += 1;
        state.shown
    }

    /// Drops what waits to be read, and gives whether there was something. Not for a terminal, whose end is said only once.
    pub(super) fn drop_waiting(&self) -> bool {
        let mut state = self.0.state.lock();
        let mut dropped = 0;
        // Who writes without end is never read to the end; what comes behind this was written ahead, too, which is known then.
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
    /// Takes bytes apart; nothing if they are not text, which is not an answer.
    fn take(&mut self, bytes: &[u8]) -> Option<Vec<Line>> {
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
            lines.push(Line { text: text.trim_end_matches(['\n', '\r']).to_owned(), after: self.after });
        }
        Some(lines)
    }
}

const NOW: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
const CHUNK: usize = 4096;
const MOST_DROPPED: usize = 1 << 20;
