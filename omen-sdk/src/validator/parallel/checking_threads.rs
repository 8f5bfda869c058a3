//! Threads that check the blocks of a batch.
//!
//! Unlike the threads of a pool, which outlive the batch, scoped threads of the standard library can borrow it, and the
//! batch is so large that the cost of starting them does not matter.

use std::convert::Infallible;
use std::num::NonZeroUsize;
use std::panic;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Builder};

use foldhash::fast::RandomState;

use super::super::options::ValidatorOptions;
use super::super::sink::Sink;
use super::super::tally::Tally;
use super::block::{Block, ParsedBlock};
use super::report::Report;
use super::schedule::{Schedule, Task};
use super::shard::Shard;

/// Everything that threads need to check a batch, except its blocks.
#[derive(Debug)]
pub(super) struct CheckingThreads {
    pub(super) jobs: NonZeroUsize,
    pub(super) options: ValidatorOptions,
    pub(super) shards: Vec<Shard>,
    /// Assigns episodes to shards. Its seed does not affect the reports.
    hasher: RandomState,
    /// Maximum length of a line in bytes.
    line_limit: usize,
}

impl CheckingThreads {
    pub(super) fn new(jobs: NonZeroUsize, options: ValidatorOptions, line_limit: usize) -> Self {
        // More shards than threads, so that a shard with much work does not delay the others.
        let shards = if jobs.get() == 1 { 1 } else { jobs.get().saturating_mul(2).min(MAX_SHARDS) };
        let shards = (0..shards).map(|_| Shard::one_of(shards)).collect();
        Self { jobs, options, shards, hasher: RandomState::default(), line_limit }
    }

    /// Checks the blocks with several threads, and passes the findings to the sink on this thread.
    pub(super) fn check<S: Sink + ?Sized>(
        &mut self,
        blocks: &[Block<'_>],
        threads: usize,
        tally: &mut Tally,
        sink: &mut S,
    ) -> Result<(), S::Error> {
        let threads = threads.clamp(1, self.jobs.get());
        let shards = std::mem::take(&mut self.shards);
        let board = Board {
            schedule: Mutex::new(Schedule::new(blocks, shards, threads, tally.line)),
            changed: Condvar::new(),
            threads: self,
            wants_packets: sink.wants_packets(),
        };
        let done = thread::scope(|scope| {
            // If the system refuses to start a thread, the others do its work.
            let helpers: Vec<_> = (1..threads)
                .filter_map(|_| Builder::new().name("omen".to_owned()).spawn_scoped(scope, || board.help()).ok())
                .collect();
            let done = board.lead(tally, sink);
            for helper in helpers {
                if let Err(panic) = helper.join() {
                    panic::resume_unwind(panic);
                }
            }
            done
        });
        self.shards = board.schedule.into_inner().unwrap_or_else(PoisonError::into_inner).into_shards();
        done
    }
}

/// State shared by the threads.
struct Board<'t> {
    schedule: Mutex<Schedule<'t>>,
    /// Signalled when a task has ended, because new tasks may be available.
    changed: Condvar,
    threads: &'t CheckingThreads,
    wants_packets: bool,
}

impl<'t> Board<'t> {
    /// Works with the sink until everything is reported or a thread has failed.
    fn lead<S: Sink + ?Sized>(&self, tally: &mut Tally, sink: &mut S) -> Result<(), S::Error> {
        // Also stops the threads if the sink fails.
        let _stop = Stop { board: self, if_panicking: false };
        self.work(true, |report| report.pass_on(tally, sink))
    }

    /// Works without the sink.
    fn help(&self) {
        // Otherwise, after a panic, the other threads would wait for this thread's work.
        let _stop = Stop { board: self, if_panicking: true };
        let Ok(()) = self.work(false, |_| Ok::<(), Infallible>(()));
    }

    fn work<E>(&self, may_report: bool, mut report: impl FnMut(Report<'t>) -> Result<(), E>) -> Result<(), E> {
        let CheckingThreads { options, hasher, line_limit, .. } = self.threads;
        let shards = self.lock().lanes();
        let mut task = self.next(may_report, |_| ());
        loop {
            task = match task {
                Task::Parse { index, block, items } => {
                    let parsed = ParsedBlock::new(block, *line_limit, items, shards, hasher);
                    self.next(may_report, |schedule| schedule.parsed(index, parsed))
                }
                Task::Judge { lane, mut shard, place, items } => {
                    let outcomes = shard.judge(&place, lane, &items, options, self.wants_packets);
                    // Dropped before the block is reported, so that the memory can be reused.
                    drop(items);
                    self.next(may_report, |schedule| schedule.judged(lane, shard, outcomes))
                }
                Task::Report(outcomes) => {
                    report(outcomes)?;
                    self.next(may_report, Schedule::reported)
                }
                Task::Wait | Task::End => return Ok(()),
            }
        }
    }

    /// Ends a task and waits for the next one.
    fn next(&self, may_report: bool, end: impl FnOnce(&mut Schedule<'t>)) -> Task<'t> {
        let mut schedule = self.lock();
        end(&mut schedule);
        self.wake(&schedule);
        loop {
            match schedule.next(may_report) {
                Task::Wait => {
                    schedule.waiting += 1;
                    schedule = self.changed.wait(schedule).unwrap_or_else(PoisonError::into_inner);
                    schedule.waiting -= 1;
                }
                task => return task,
            }
        }
    }

    fn stop(&self) {
        let mut schedule = self.lock();
        schedule.stop();
        self.wake(&schedule);
    }

    fn wake(&self, schedule: &Schedule<'t>) {
        // Notifying is a system call even if no thread waits.
        if schedule.waiting > 0 {
            self.changed.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Schedule<'t>> {
        self.schedule.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Guard that stops all threads when its own thread ends.
struct Stop<'b, 't> {
    board: &'b Board<'t>,
    if_panicking: bool,
}

impl Drop for Stop<'_, '_> {
    fn drop(&mut self) {
        if !self.if_panicking || thread::panicking() {
            self.board.stop();
        }
    }
}

/// Maximum number of shards: more would split blocks into single packets.
const MAX_SHARDS: usize = 128;

#[cfg(test)]
#[expect(clippy::expect_used, clippy::panic, reason = "tests")]
mod tests {
    use super::*;
    use crate::Finding;

    #[test]
    fn a_thread_that_panics_stops_those_that_wait_for_it() {
        let threads = CheckingThreads::new(NonZeroUsize::MIN, ValidatorOptions::default(), 100);
        let mut blocks = Vec::new();
        Block::cut(0, b"x\n", 100, &mut blocks);
        let board = Board {
            schedule: Mutex::new(Schedule::new(&blocks, vec![Shard::default()], 2, 0)),
            changed: Condvar::new(),
            threads: &threads,
            wants_packets: false,
        };
        // The only available task until this thread has done it.
        assert!(matches!(board.next(false, |_| ()), Task::Parse { .. }));
        let panicked = thread::scope(|scope| {
            let lead = scope.spawn(|| board.lead(&mut Tally::default(), &mut Vec::<Finding>::new()));
            let panicked = scope.spawn(|| {
                let _stop = Stop { board: &board, if_panicking: true };
                panic::panic_any("of a thread")
            });
            let panicked = panicked.join();
            lead.join().expect("it ends").map(|()| panicked)
        });
        assert!(matches!(panicked, Ok(Err(_))));
    }
}
