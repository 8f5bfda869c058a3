//! Validator, which checks the bytes of a log and reports findings.

use std::io::{self, Read};

pub use omen_fsm::{Event, Node, NodeSet, misplaced};
use omen_types::Instant;
use omen_types::limits::MAX_LINE_BYTES;

use crate::lines::{LineSplitter, READ_BYTES, RawLine, ReadError};

mod episodes;
mod foreign;
mod head;
mod judge;
mod judged;
mod levels;
mod line;
mod literals;
mod message;
mod options;
mod parallel;
#[cfg(test)]
#[expect(clippy::indexing_slicing, reason = "tests")]
mod random_logs;
mod root_cause;
mod sink;
mod snapshot;
mod summary;
mod tally;
mod wrong_time;

pub use foreign::report_foreign;
pub use levels::{Level, Levels, NotAdjustable};
pub use message::Message;
pub use options::{Depth, ValidatorOptions};
pub use parallel::ParallelValidator;
pub use sink::{JudgedPacket, Sink};
pub use snapshot::BadSnapshot;
pub use summary::Summary;

use episodes::{EpisodeMachine, Episodes, GROUP};
use head::{Head, Next};
use judge::judge;
use line::{Lines, ParsedLine};
use root_cause::RootCauses;
use tally::Tally;

/// Checks a log: a stream of JSON Lines, in which episodes may be interleaved.
///
/// Each line goes through four stages: JSON, schema, state machine, invariants. The first stage with an error rejects the
/// packet, which then changes nothing (D1).
///
/// # Memory
///
/// Memory grows with the number of episodes (about 100 bytes each), with their open directives and tokens (about 100 bytes
/// each), and with the ids that must not be repeated (D21): 16 bytes each, or up to 40 in an episode with more than 24. It
/// does not otherwise grow with the length of the log. A finished episode costs the same, because an observation may begin
/// its next cycle, in which its ids must not be repeated (D12). After rejected packets, up to 128 MiB of packets are kept
/// until it is known whether a finding follows from them. To follow endless logs, use one validator for each file or day,
/// provided that no episode spans two of them, or call [`end_episode`](Self::end_episode) once an episode is known to be
/// finished. A program with many validators limits their total memory with [`one_of`](Self::one_of).
///
/// ```
/// use omen::{Finding, Validator, validator::ValidatorOptions};
///
/// let log = omen_schema::example("invalid/e1-decision-before-belief.jsonl").unwrap_or_default();
/// let mut findings: Vec<Finding> = Vec::new();
/// let mut validator = Validator::new(ValidatorOptions::default());
/// let Ok(()) = validator.feed(log.as_bytes(), &mut findings);
/// let Ok(summary) = validator.finish(&mut findings);
/// assert_eq!(summary.errors, 1);
/// assert_eq!(findings[0].diagnostic.code, omen::Code::E1);
/// ```
#[derive(Debug)]
pub struct Validator {
    head: Head,
    lines: LineSplitter,
    judge: Judge,
}

impl Validator {
    /// Creates a validator for the beginning of a stream.
    #[must_use]
    pub fn new(options: ValidatorOptions) -> Self {
        let judge = Judge { options, ..Judge::default() };
        Self { head: Head::default(), lines: LineSplitter::new(MAX_LINE_BYTES), judge }
    }

    /// Reduces the memory limits to the share of one of `validators` simultaneous validators: for packets kept after
    /// rejected ones, and for episodes kept unpacked. The findings do not change.
    ///
    /// ```
    /// use omen::{Finding, Validator, ValidatorOptions};
    ///
    /// let mut validator = Validator::new(ValidatorOptions::default()).one_of(64);
    /// # let log = omen_schema::example("invalid/e1-decision-before-belief.jsonl").unwrap_or_default();
    /// # let mut findings: Vec<Finding> = Vec::new();
    /// # let Ok(()) = validator.feed(log.as_bytes(), &mut findings);
    /// # assert_eq!(findings.len(), 1);
    /// ```
    #[must_use]
    pub fn one_of(mut self, validators: usize) -> Self {
        self.judge.episodes.share(validators);
        self.judge.root_causes.share(validators);
        self
    }

    /// Checks the next bytes of the stream; chunks may have any size.
    ///
    /// # Errors
    /// The first error of the sink. The rest of `bytes` is then not checked, so the stream cannot be continued.
    pub fn feed<S: Sink + ?Sized>(&mut self, bytes: &[u8], sink: &mut S) -> Result<(), S::Error> {
        if !self.head.is_lines() {
            match self.head.take(bytes) {
                Next::Check(before) if before.is_empty() => {}
                Next::Check(before) => self.check(&before, sink)?,
                Next::Keep | Next::Skip => return Ok(()),
                Next::Report(form, begin) => {
                    self.lines.skip(begin.len());
                    return self.judge.tally.other(form.finding(), &begin, sink);
                }
            }
        }
        self.check(bytes, sink)
    }

    /// Checks the next bytes of a stream of lines.
    fn check<S: Sink + ?Sized>(&mut self, bytes: &[u8], sink: &mut S) -> Result<(), S::Error> {
        let (first, whole) = self.lines.cut(bytes);
        if let Some(line) = first {
            self.judge.line(line.raw(), sink)?;
        }
        self.judge.lines(whole, self.lines.limit(), sink)
    }

    /// Checks everything that a reader returns. If the stream does not begin as JSON Lines, the rest is not read.
    ///
    /// # Errors
    /// If the reader fails, after everything that it had returned was checked, or the first error of the sink.
    pub fn read<S: Sink + ?Sized>(&mut self, mut reader: impl Read, sink: &mut S) -> Result<(), ReadError<S::Error>> {
        let mut buffer = vec![0; READ_BYTES];
        while !self.head.is_other() {
            match reader.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(count) => {
                    let bytes = buffer.get(..count).unwrap_or_default();
                    self.feed(bytes, sink).and_then(|()| sink.caught_up()).map_err(ReadError::Sink)?;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(ReadError::Input(error)),
            }
        }
        Ok(())
    }

    /// Reports the directives that are late at the time `now`, without waiting for a packet (INV-011), for a program with
    /// its own clock that follows a log while it is written. Each late directive is reported once, here or with the next
    /// packet. The clocks of the episodes do not change (D2), so later packets get the same verdict as in a replay, with one
    /// exception: a decision that follows a report on a directive with CRITICAL stakes is expected to escalate (D69).
    ///
    /// ```
    /// use omen::{Code, Finding, Validator, validator::ValidatorOptions};
    ///
    /// let log = omen_schema::example("valid/warning-inv-011-late-result.jsonl").unwrap_or_default();
    /// let mut validator = Validator::new(ValidatorOptions::default());
    /// let mut findings: Vec<Finding> = Vec::new();
    /// // Up to the first directive; then there is no packet for years.
    /// for line in log.split_inclusive('\n').take(4) {
    ///     let Ok(()) = validator.feed(line.as_bytes(), &mut findings);
    /// }
    /// assert!(findings.is_empty());
    /// let Ok(()) = validator.tick("2030-01-01T00:00:00Z".parse()?, &mut findings);
    /// assert_eq!(findings[0].diagnostic.code, Code::Inv011);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The first error of the sink.
    pub fn tick<S: Sink + ?Sized>(&mut self, now: Instant, sink: &mut S) -> Result<(), S::Error> {
        let Judge { options, episodes, root_causes, tally } = &mut self.judge;
        (0..episodes.len()).try_for_each(|at| tally.late(episodes.tick(at, now), now, root_causes, options, sink))
    }

    /// Ends an episode before the end of the stream: reports what is still open in it (D4), forgets it, and returns whether
    /// it existed. For a program that follows endless logs and knows from another source that an episode is finished.
    ///
    /// The ids of the episode are forgotten as well. A later packet with its correlation id begins another episode, in
    /// which they are new: a repeated `packet_id` or `task_id` (D21) is no longer found, a token is unknown (E4), and
    /// the budgets are those of the next first decision (D32). So only end an episode that will have no more packets.
    ///
    /// ```
    /// use omen::{Finding, Validator, ValidatorOptions};
    ///
    /// let log = omen_schema::example("valid/read-only.jsonl").unwrap_or_default();
    /// let mut validator = Validator::new(ValidatorOptions::default());
    /// let mut findings: Vec<Finding> = Vec::new();
    /// let Ok(()) = validator.feed(log.as_bytes(), &mut findings);
    /// let Ok(ended) = validator.end_episode("corr_support_invoice_4471", &mut findings);
    /// assert!(ended && findings.is_empty());
    /// // The same packets again are another episode.
    /// let Ok(()) = validator.feed(log.as_bytes(), &mut findings);
    /// let Ok(summary) = validator.finish(&mut findings);
    /// assert_eq!((summary.episodes, summary.errors), (2, 0));
    /// ```
    ///
    /// # Errors
    /// The first error of the sink.
    pub fn end_episode<S: Sink + ?Sized>(&mut self, correlation_id: &str, sink: &mut S) -> Result<bool, S::Error> {
        let Judge { options, episodes, root_causes, tally } = &mut self.judge;
        let Some(machine) = episodes.end(correlation_id) else { return Ok(false) };
        tally.end((correlation_id, EpisodeMachine::Owned(machine)), root_causes, options, sink)?;
        root_causes.end(correlation_id);
        Ok(true)
    }

    /// Returns the counts so far.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let Judge { episodes, tally, .. } = &self.judge;
        Summary { bytes: self.lines.bytes(), episodes: episodes.begun(), ..tally.summary }
    }

    /// Ends the stream: checks a last line without a line end, and reports what is still open in the episodes (D4).
    ///
    /// # Errors
    /// The first error of the sink.
    pub fn finish<S: Sink + ?Sized>(mut self, sink: &mut S) -> Result<Summary, S::Error> {
        match self.head.end() {
            Next::Check(kept) => self.check(&kept, sink)?,
            Next::Report(form, begin) => {
                self.lines.skip(begin.len());
                self.judge.tally.other(form.finding(), &begin, sink)?;
            }
            Next::Keep | Next::Skip => {}
        }
        self.lines.finish(|line| self.judge.line(line, sink))?;
        let Judge { options, episodes, root_causes, tally } = &mut self.judge;
        episodes.in_order().try_for_each(|episode| tally.end(episode, root_causes, options, sink))?;
        Ok(self.summary())
    }
}

/// Part of the validator that judges lines, without the splitting into lines.
#[derive(Debug, Default)]
struct Judge {
    options: ValidatorOptions,
    episodes: Episodes,
    root_causes: RootCauses,
    tally: Tally,
}

impl Judge {
    /// Checks whole lines with their line ends, in groups whose episodes are looked up together.
    fn lines<S: Sink + ?Sized>(&mut self, bytes: &[u8], limit: usize, sink: &mut S) -> Result<(), S::Error> {
        // Each line is parsed into the memory of a line from the previous group.
        let mut parsed: Vec<(u64, ParsedLine<'_>)> = Vec::new();
        let mut lines = Lines::new(bytes, limit);
        let mut line = self.tally.line;
        loop {
            let mut used = 0;
            while used < GROUP
                && let Some(next) = lines.next()
            {
                line += 1;
                if used == parsed.len() {
                    parsed.push(Default::default());
                }
                if let Some((at, place)) = parsed.get_mut(used)
                    && place.read(next)
                {
                    *at = line;
                    used += 1;
                }
            }
            let group = parsed.get_mut(..used).unwrap_or_default();
            if group.is_empty() {
                break;
            }
            let places = self.episodes.places(group.iter().map(|(_, parsed)| parsed.correlation_id()));
            for ((line, parsed), place) in group.iter_mut().zip(places) {
                self.tally.line = *line;
                lines.fetch();
                self.judge(parsed, place, sink)?;
            }
        }
        self.tally.line = line;
        Ok(())
    }

    fn line<S: Sink + ?Sized>(&mut self, line: RawLine<'_>, sink: &mut S) -> Result<(), S::Error> {
        self.tally.line += 1;
        match ParsedLine::new(line) {
            Some(line) => self.judge(&line, None, sink),
            None => Ok(()),
        }
    }

    /// Judges a line and reports its findings. The index of its episode is looked up unless it is given.
    fn judge<S: Sink + ?Sized>(
        &mut self,
        line: &ParsedLine<'_>,
        place: Option<u32>,
        sink: &mut S,
    ) -> Result<(), S::Error> {
        let judges = (&mut self.episodes, &mut self.root_causes);
        match judge(line, self.tally.line, place, judges, &self.options, sink.wants_packets()) {
            Some(judged) => self.tally.packet(judged, sink),
            None => {
                self.tally.clean(1);
                Ok(())
            }
        }
    }
}
