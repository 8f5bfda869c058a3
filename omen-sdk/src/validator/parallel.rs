//! Validator that uses several threads.

mod block;
mod checking_threads;
mod read_ahead;
mod report;
mod schedule;
mod shard;
#[cfg(test)]
#[expect(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]
mod tests;

use std::io::Read;
use std::num::NonZeroUsize;

use omen_types::Instant;
use omen_types::limits::MAX_LINE_BYTES;

use super::head::{Head, Next};
use super::options::ValidatorOptions;
use super::sink::Sink;
use super::summary::Summary;
use super::tally::Tally;
use crate::lines::{LineSplitter, ReadError};

use block::Block;
use checking_threads::CheckingThreads;
use read_ahead::{CHUNK_BYTES, ReadAhead};

/// Checks a log with several threads, and reports exactly what a [`Validator`](super::Validator) reports, in the same order.
///
/// Lines are parsed in blocks, in any order; the packets of an episode are judged in stream order, and those of
/// different episodes in parallel. Findings are passed to the sink in stream order, on the calling thread. Memory grows
/// like that of a [`Validator`](super::Validator), plus some megabytes for each thread.
///
/// Threads are started when there is enough work for them, and end before a method returns. After a panic, which is
/// propagated, the validator can no longer be used.
///
/// ```
/// use std::num::NonZeroUsize;
///
/// use omen::{Finding, ParallelValidator, ValidatorOptions};
///
/// let log = omen_schema::example("invalid/e1-decision-before-belief.jsonl").unwrap_or_default();
/// let jobs = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
/// let mut findings: Vec<Finding> = Vec::new();
/// let mut validator = ParallelValidator::new(ValidatorOptions::default(), jobs);
/// let Ok(()) = validator.feed(log.as_bytes(), &mut findings);
/// let Ok(summary) = validator.finish(&mut findings);
/// assert_eq!((summary.errors, findings.len()), (1, 1));
/// ```
#[derive(Debug)]
pub struct ParallelValidator {
    head: Head,
    lines: LineSplitter,
    threads: CheckingThreads,
    tally: Tally,
    block_bytes: usize,
}

impl ParallelValidator {
    /// Creates a validator for the beginning of a stream, which uses up to `jobs` threads, including the calling one.
    #[must_use]
    pub fn new(options: ValidatorOptions, jobs: NonZeroUsize) -> Self {
        Self {
            head: Head::default(),
            lines: LineSplitter::new(MAX_LINE_BYTES),
            threads: CheckingThreads::new(jobs, options, MAX_LINE_BYTES),
            tally: Tally::default(),
            block_bytes: BLOCK_BYTES,
        }
    }

    /// Sets the approximate block size in bytes, so that a short log has many blocks; for tests.
    #[doc(hidden)]
    #[must_use]
    pub fn with_block_bytes(mut self, bytes: NonZeroUsize) -> Self {
        self.block_bytes = bytes.get();
        self
    }

    /// Checks the next bytes of the stream; chunks may have any size. Threads share the work within one call, so large
    /// chunks are faster.
    ///
    /// # Errors
    /// The first error of the sink. The rest of `bytes` is then not checked, so the stream cannot be continued.
    pub fn feed<S: Sink + ?Sized>(&mut self, bytes: &[u8], sink: &mut S) -> Result<(), S::Error> {
        self.check(&[bytes], sink)
    }

    /// Checks everything that a reader returns. A separate thread reads some megabytes ahead. Whenever the reader
    /// blocks, everything that it has returned is checked and reported.
    ///
    /// # Errors
    /// If the reader fails, after everything that it had returned was checked, or the first error of the sink, without
    /// waiting for the reader.
    pub fn read<S: Sink + ?Sized>(
        &mut self,
        reader: impl Read + Send + 'static,
        sink: &mut S,
    ) -> Result<(), ReadError<S::Error>> {
        let most = self.threads.jobs.get().saturating_mul(CHUNKS_A_JOB).min(MAX_CHUNKS);
        let ahead = ReadAhead::start(reader, most).map_err(ReadError::Input)?;
        loop {
            let chunks = ahead.next();
            if chunks.is_empty() {
                return ahead.end().map_err(ReadError::Input);
            }
            let bytes: Vec<_> = chunks.iter().map(read_ahead::Chunk::bytes).collect();
            self.check(&bytes, sink).and_then(|()| sink.caught_up()).map_err(ReadError::Sink)?;
            if self.head.is_other() {
                return Ok(());
            }
            ahead.give_back(chunks);
        }
    }

    /// Reports the directives that are late at the time `now`, like [`Validator::tick`](super::Validator::tick).
    ///
    /// # Errors
    /// The first error of the sink.
    pub fn tick<S: Sink + ?Sized>(&mut self, now: Instant, sink: &mut S) -> Result<(), S::Error> {
        let CheckingThreads { options, shards, .. } = &mut self.threads;
        let order = shard::order(shards);
        order.into_iter().try_for_each(|(shard, at)| {
            let Some((late, root_causes)) = shards.get_mut(shard).map(|shard| shard.tick(at, now)) else {
                return Ok(());
            };
            self.tally.late(late, now, root_causes, options, sink)
        })
    }

    /// Returns the counts so far.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let episodes = self.threads.shards.iter().map(|shard| shard.len() as u64).sum();
        Summary { bytes: self.lines.bytes(), episodes, ..self.tally.summary }
    }

    /// Ends the stream: checks a last line without a line end, and reports what is still open in the episodes (D4).
    ///
    /// # Errors
    /// The first error of the sink.
    pub fn finish<S: Sink + ?Sized>(mut self, sink: &mut S) -> Result<Summary, S::Error> {
        match self.head.end() {
            Next::Check(kept) => self.lines(&[&kept], sink)?,
            Next::Report(form, begin) => {
                self.lines.skip(begin.len());
                self.tally.other(form.finding(), &begin, sink)?;
            }
            Next::Keep | Next::Skip => {}
        }
        if let Some(line) = self.lines.release() {
            let block = Block::one(self.lines.bytes(), line.raw());
            self.threads.check(&[block], 1, &mut self.tally, sink)?;
        }
        let CheckingThreads { options, shards, jobs, .. } = &mut self.threads;
        let threads = shards.iter().map(shard::Shard::len).sum::<usize>() / EPISODES_A_THREAD;
        for (shard, place) in shard::open(shards, options, threads.clamp(1, jobs.get())) {
            if let Some((episode, root_causes)) = shards.get_mut(shard).and_then(|shard| shard.episode(place)) {
                self.tally.end(episode, root_causes, options, sink)?;
            }
        }
        Ok(self.summary())
    }

    /// Checks a batch: consecutive bytes of the stream.
    fn check<S: Sink + ?Sized>(&mut self, batch: &[&[u8]], sink: &mut S) -> Result<(), S::Error> {
        if self.head.is_lines() {
            return self.lines(batch, sink);
        }
        for (at, bytes) in batch.iter().enumerate() {
            match self.head.take(bytes) {
                Next::Check(before) => {
                    let rest = batch.get(at..).unwrap_or_default().iter().copied();
                    let all: Vec<&[u8]> = std::iter::once(before.as_slice()).chain(rest).collect();
                    return self.lines(&all, sink);
                }
                Next::Report(form, begin) => {
                    self.lines.skip(begin.len());
                    return self.tally.other(form.finding(), &begin, sink);
                }
                Next::Skip => return Ok(()),
                Next::Keep => {}
            }
        }
        Ok(())
    }

    /// Checks a batch of a stream of lines.
    fn lines<S: Sink + ?Sized>(&mut self, batch: &[&[u8]], sink: &mut S) -> Result<(), S::Error> {
        let mut pieces = Vec::with_capacity(batch.len());
        let begin = self.lines.bytes();
        for bytes in batch {
            let at = self.lines.bytes();
            let (first, whole) = self.lines.cut(bytes);
            pieces.push((at, first, whole));
        }
        let mut blocks = Vec::new();
        for (at, first, whole) in &pieces {
            if let Some(line) = first {
                blocks.push(Block::one(*at, line.raw()));
            }
            // The whole lines come after the first line, so their sort key is greater.
            Block::cut(*at + u64::from(first.is_some()), whole, self.block_bytes, &mut blocks);
        }
        let bytes = usize::try_from(self.lines.bytes() - begin).unwrap_or(usize::MAX);
        self.threads.check(&blocks, bytes / self.block_bytes, &mut self.tally, sink)
    }
}

/// Size of a block in bytes: large enough that scheduling costs little, and small enough that the facts in flight stay
/// in the cache.
const BLOCK_BYTES: usize = 128 * 1024;

/// Minimum number of episodes for which a thread is started at the end of the stream.
const EPISODES_A_THREAD: usize = 512;

/// Read-ahead per thread, in chunks: 4 MiB.
const CHUNKS_A_JOB: usize = 4 * 1024 * 1024 / CHUNK_BYTES;

/// Maximum read-ahead in chunks: 64 MiB.
const MAX_CHUNKS: usize = 16 * CHUNKS_A_JOB;
