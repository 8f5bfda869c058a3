//! Tests that several threads report the same as one thread.

mod equal;
mod failures;
mod streams;

use std::convert::Infallible;
use std::fmt::Write as _;
use std::num::NonZeroUsize;

use super::*;
use crate::Finding;
use crate::validator::random_logs::LINE_LIMIT;
use crate::validator::{JudgedPacket, Level, Validator};

/// Sink that records every call as text.
#[derive(Debug, Default)]
struct Calls {
    calls: Vec<String>,
    with_packets: bool,
    /// Number of calls after which the sink fails.
    room: Option<usize>,
    caught_up: usize,
}

impl Calls {
    fn with_packets(with_packets: bool) -> Self {
        Self { with_packets, ..Self::default() }
    }

    fn take(&mut self, call: String) -> Result<(), Full> {
        if self.room.is_some_and(|room| self.calls.len() >= room) {
            return Err(Full);
        }
        self.calls.push(call);
        Ok(())
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Full;

impl Sink for Calls {
    type Error = Full;

    fn finding(&mut self, finding: Finding, line: Option<&str>) -> Result<(), Full> {
        self.take(format!("{finding:?} {line:?}"))
    }

    fn packet(&mut self, packet: &JudgedPacket<'_>) -> Result<(), Full> {
        assert!(self.with_packets, "packets are passed only where they are wanted");
        self.take(format!("{packet:?}"))
    }

    fn wants_packets(&self) -> bool {
        self.with_packets
    }

    fn caught_up(&mut self) -> Result<(), Full> {
        self.caught_up += 1;
        Ok(())
    }
}

fn one_thread(options: &ValidatorOptions) -> Validator {
    let mut validator = Validator::new(options.clone());
    validator.lines = LineSplitter::new(LINE_LIMIT);
    validator
}

/// Creates a validator with such small blocks that a short log has many.
fn threads(jobs: usize, block_bytes: usize, options: &ValidatorOptions) -> ParallelValidator {
    let jobs = NonZeroUsize::new(jobs).expect("a thread");
    let lines = LineSplitter::new(LINE_LIMIT);
    ParallelValidator {
        head: Head::default(),
        lines,
        threads: CheckingThreads::new(jobs, options.clone(), LINE_LIMIT),
        tally: Tally::default(),
        block_bytes,
    }
}
