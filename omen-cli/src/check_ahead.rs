//! Read-ahead over several files: small ones are checked ahead of their turn, each in one thread, and reported in the order of
//! the arguments.
//!
//! A large file keeps all threads busy by itself.

use std::collections::BTreeMap;
use std::io::Read;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Builder};

use omen::finding::Finding;
use omen::input::decoded;
use omen::validator::{Sink, ValidatorOptions};
use omen_gate::regular_file;

use crate::input::{self, LogFormat, RecordedCheck};

/// Checker that works ahead of the reporting thread.
#[derive(Debug)]
pub(crate) struct CheckAhead<'p> {
    paths: &'p [PathBuf],
    options: &'p ValidatorOptions,
    format: &'p LogFormat,
    jobs: usize,
    turns: Mutex<Turns>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Turns {
    /// Index of the next file to report.
    front: usize,
    /// Index of the next file to check.
    next: usize,
    /// Results of files checked but not yet reported; `None` for a skipped file.
    done: BTreeMap<usize, Option<RecordedCheck>>,
    is_stopped: bool,
}

impl<'p> CheckAhead<'p> {
    pub(crate) fn new(
        paths: &'p [PathBuf],
        format: &'p LogFormat,
        options: &'p ValidatorOptions,
        jobs: NonZeroUsize,
    ) -> Self {
        Self { paths, options, format, jobs: jobs.get(), turns: Mutex::default(), changed: Condvar::new() }
    }

    /// Checks files ahead while `report` runs, which [takes](Self::take) the results one by one.
    pub(crate) fn run<T>(&self, report: impl FnOnce() -> T) -> T {
        thread::scope(|scope| {
            let _stop = StopGuard(self);
            // A single file needs no read-ahead, and the reporting thread is one of the jobs.
            for _ in 1..self.jobs.min(self.paths.len()) {
                // If a thread cannot be started, its files are checked at their turn.
                let _ = Builder::new().name("omen".to_owned()).spawn_scoped(scope, || self.work());
            }
            report()
        })
    }

    /// Returns the result of a file if it was checked ahead; `None` if the caller must check it. Files must be taken in order.
    pub(crate) fn take(&self, index: usize) -> Option<RecordedCheck> {
        let mut turns = self.lock();
        turns.front = index + 1;
        let recorded = if index < turns.next {
            let is_missing = |turns: &mut Turns| !turns.done.contains_key(&index);
            turns = self.changed.wait_while(turns, is_missing).unwrap_or_else(PoisonError::into_inner);
            turns.done.remove(&index).flatten()
        } else {
            turns.next = index + 1;
            None
        };
        self.changed.notify_all();
        recorded
    }

    fn work(&self) {
        while let Some(index) = self.next() {
            // A panic is caught here; it recurs when the file is checked at its turn.
            let recorded = catch_unwind(AssertUnwindSafe(|| self.record(index))).ok().flatten();
            self.lock().done.insert(index, recorded);
            self.changed.notify_all();
        }
    }

    /// Waits until another file may be checked, and returns its index; `None` if there are no more.
    fn next(&self) -> Option<usize> {
        let most = self.jobs.saturating_mul(AHEAD);
        let is_far = |turns: &mut Turns| {
            !turns.is_stopped && turns.next < self.paths.len() && turns.next >= turns.front.saturating_add(most)
        };
        let mut turns = self.changed.wait_while(self.lock(), is_far).unwrap_or_else(PoisonError::into_inner);
        if turns.is_stopped || turns.next >= self.paths.len() {
            return None;
        }
        let index = turns.next;
        turns.next += 1;
        Some(index)
    }

    /// Checks a file if it is small. Failures are ignored here, since they are reported at the file's turn.
    fn record(&self, index: usize) -> Option<RecordedCheck> {
        let path = self.paths.get(index).filter(|path| path.as_os_str() != "-")?;
        let file = regular_file::open(path).ok()?;
        if file.metadata().ok()?.len() > SMALL {
            return None;
        }
        let mut sink = Recorder::default();
        // Bounded, because the file may grow while being read, or be small only when compressed.
        let reader = Box::new(decoded(Box::new(file), path).ok()?.take(SMALL + 1));
        let judged = input::judge_whole(reader, self.format, self.options.clone(), NonZeroUsize::MIN, &mut sink);
        let summary = judged.ok().filter(|summary| summary.bytes <= SMALL)?;
        Some(RecordedCheck { summary, findings: sink.findings })
    }

    fn lock(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Guard that stops the other threads when the reporting thread ends.
struct StopGuard<'s, 'p>(&'s CheckAhead<'p>);

impl Drop for StopGuard<'_, '_> {
    fn drop(&mut self) {
        self.0.lock().is_stopped = true;
        self.0.changed.notify_all();
    }
}

/// Sink that keeps findings up to a limit.
#[derive(Debug, Default)]
struct Recorder {
    findings: Vec<(Finding, Option<String>)>,
    bytes: usize,
}

/// Error: there are more findings than can be kept.
struct TooMuch;

impl Sink for Recorder {
    type Error = TooMuch;

    fn finding(&mut self, finding: Finding, line: Option<&str>) -> Result<(), TooMuch> {
        self.bytes += line.map_or(0, str::len);
        if self.findings.len() == MOST_FINDINGS || self.bytes > MOST_BYTES {
            return Err(TooMuch);
        }
        self.findings.push((finding, line.map(str::to_owned)));
        Ok(())
    }

    fn wants_packets(&self) -> bool {
        false
    }
}

/// Maximum size in bytes of a file that is checked ahead.
const SMALL: u64 = 4 * 1024 * 1024;

/// Maximum number of files, per thread, to check ahead.
const AHEAD: usize = 8;

/// Limits per file: one with more findings or longer texts is checked at its turn.
const MOST_FINDINGS: usize = 1000;
const MOST_BYTES: usize = 4 * 1024 * 1024;
