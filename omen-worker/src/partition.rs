//! A partition, as long as this worker has it.
//!
//! 1. Read the last commit and the last checkpoint, and take the messages of the partition from the checkpoint on.
//! 2. Judge. What the commit covers is published already.
//! 3. Store the findings and the next commit, as one batch that expects the last commit. If it is not the last any more, another
//!    worker has the partition: forget everything, and begin again.
//! 4. Now and then, write a checkpoint. It never gets ahead of the commit.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use async_nats::HeaderMap;
use async_nats::jetstream::stream::LastRawMessageErrorKind;
use tokio::sync::watch;
use tokio::time::sleep;

use crate::ask::ask;
use crate::batch::{self, Outgoing};
use crate::checkpoint::Checkpoints;
use crate::commit::{self, Commit};
use crate::failure::{During as _, Failure};
use crate::intake::{Intake, Next};
use crate::judge::{Judge, Kind, Reported};
use crate::metrics::State;
use crate::names;
use crate::shared::Shared;
use crate::source::Received;

/// Judges a partition until it is to stop.
///
/// # Errors
/// If what was judged at the end was not committed. Another worker judges it again.
pub(crate) async fn run(shared: &Shared, partition: u16, stop: watch::Receiver<bool>) -> Result<(), Failure> {
    let ended = repeat(shared, partition, stop).await;
    shared.metrics.state(partition, State::Elsewhere);
    ended
}

/// Begins again after each failure.
async fn repeat(shared: &Shared, partition: u16, mut stop: watch::Receiver<bool>) -> Result<(), Failure> {
    let mut pause = SHORTEST_PAUSE;
    while !*stop.borrow() {
        shared.metrics.state(partition, State::Loading);
        // A request without a connection waits for one, and its time passes meanwhile.
        tokio::select! {
            () = shared.link.up() => {}
            _ = stop.changed() => break,
        }
        let (lost, mut has_committed) = (shared.link.lost(), false);
        let judged = tokio::select! {
            judged = judge(shared, partition, &mut stop, &mut has_committed) => Some(judged),
            // The stream shows whether a commit has arrived that was on its way.
            () = lost => None,
        };
        // What has succeeded in something fails for a new reason.
        if has_committed {
            pause = SHORTEST_PAUSE;
        }
        match judged {
            Some(Ok(())) => break,
            None if *stop.borrow() => return Err(Failure::server("commit")(&"the connection was lost")),
            // The pause is the one until the next connection is there.
            None => continue,
            Some(Err(Failure::Fenced(_))) => shared.metrics.fenced(),
            Some(Err(failure)) if *stop.borrow() => return Err(failure),
            Some(Err(failure)) => {
                shared.metrics.state(partition, State::Failed);
                (shared.notice)(&format!("partition {partition}: {failure}"));
            }
        }
        tokio::select! {
            () = sleep(pause) => {}
            _ = stop.changed() => {}
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
    Ok(())
}

/// Judges until the partition is to stop, or something fails.
async fn judge(
    shared: &Shared,
    partition: u16,
    stop: &mut watch::Receiver<bool>,
    has_committed: &mut bool,
) -> Result<(), Failure> {
    let mut tenure = Tenure::begin(shared, partition).await?;
    let first = tenure.revision;
    let judged = tenure.judge(stop).await;
    *has_committed = tenure.revision != first;
    judged
}

/// From the last commit to the moment when the worker loses the partition.
struct Tenure<'s> {
    shared: &'s Shared,
    partition: u16,
    judge: Judge,
    intake: Intake,
    checkpoints: Checkpoints,
    /// What is published …
    committed: Commit,
    /// … and the sequence of its commit.
    revision: u64,
    committed_at: Instant,
    /// Findings that are not.
    pending: VecDeque<Reported>,
    pending_bytes: usize,
    /// Bytes of messages since the last checkpoint …
    since_checkpoint: usize,
    /// … and what had been read of the whole stream by then …
    read_at_checkpoint: u64,
    /// … and its own bytes.
    checkpoint_bytes: usize,
    /// Whether anything but marks of time came since.
    is_changed: bool,
    /// Messages that were judged and are not counted in the metrics.
    uncounted: u64,
    active_at: Instant,
}

impl<'s> Tenure<'s> {
    async fn begin(shared: &'s Shared, partition: u16) -> Result<Self, Failure> {
        let loading = shared.feed.loading();
        let places = (partition, shared.partitions);
        let mut checkpoints = Checkpoints::new(shared.bucket.clone(), places, shared.context.client());
        // In this order: whatever is in a checkpoint was committed before.
        let restored = checkpoints.load(&shared.names.packets, &shared.options).await?;
        let (committed, revision) = commit::last(&shared.findings, partition).await?;
        let packets = ask(|| shared.packets.get_info()).await.during("read the state of the stream of packets")?.state;
        let judge = restored.unwrap_or_else(|| Judge::new(&shared.names.packets, places, shared.options.clone()));
        let committed = match committed {
            Some(committed) if committed.partitions != shared.partitions => {
                let found = committed.partitions;
                return Err(Failure::Refused(format!(
                    "the findings in `{}` are of {found} partitions; expected {}",
                    shared.names.findings, shared.partitions
                )));
            }
            Some(committed) if committed.sequence >= judge.sequence => committed,
            _ => Commit { sequence: judge.sequence, ..Commit::default() },
        };
        if committed.sequence > packets.last_sequence {
            return Err(Failure::Refused(format!(
                "the stream `{}` ends with message {}, and partition {partition} was judged up to message {}: it is another \
                 stream with this name; delete `{}` and the bucket `{}`, or name others",
                shared.names.packets,
                packets.last_sequence,
                committed.sequence,
                shared.names.findings,
                shared.names.bucket
            )));
        }
        if judge.sequence + 1 < packets.first_sequence && !shared.accepts_gaps {
            return Err(Failure::Refused(format!(
                "the stream `{}` begins with message {}, and partition {partition} was judged up to message {}: what is between \
                 them was deleted; to go on without it, start with `--accept-gaps`",
                shared.names.packets, packets.first_sequence, judge.sequence
            )));
        }
        let intake = shared.feed.join(partition, judge.sequence);
        shared.metrics.reads(partition, intake.progress());
        drop(loading);
        let now = Instant::now();
        let mut tenure = Self {
            shared,
            partition,
            judge,
            intake,
            checkpoints,
            committed,
            revision,
            committed_at: now,
            pending: VecDeque::new(),
            pending_bytes: 0,
            since_checkpoint: 0,
            read_at_checkpoint: 0,
            checkpoint_bytes: 0,
            is_changed: false,
            uncounted: 0,
            active_at: now,
        };
        tenure.catch_up().await?;
        shared.metrics.state(partition, State::Owned);
        Ok(tenure)
    }

    /// Judges again what is committed. Other workers may be waiting for it to be read, so it does not stop in between.
    async fn catch_up(&mut self) -> Result<(), Failure> {
        while self.judge.sequence < self.committed.sequence {
            let next = self.intake.next(LONGEST_WAIT).await;
            if self.handle(next).await? {
                continue;
            }
            let passed = self.intake.passed();
            if passed.is_some_and(|passed| passed >= self.committed.sequence)
                || passed.is_some() && self.intake.is_at_end() && self.is_deleted(self.committed.sequence).await?
            {
                // It was deleted, so nothing before it will come.
                self.judge.sequence = self.committed.sequence;
            }
        }
        Ok(())
    }

    /// Whether the stream does not have a message.
    async fn is_deleted(&self, sequence: u64) -> Result<bool, Failure> {
        match self.shared.packets.get_raw_message(sequence).await {
            Ok(_) => Ok(false),
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(true),
            Err(error) => Err(Failure::server("read the stream of packets")(&error)),
        }
    }

    /// Judges what comes, until it is to stop.
    async fn judge(&mut self, stop: &mut watch::Receiver<bool>) -> Result<(), Failure> {
        while !*stop.borrow() {
            let is_waiting = !self.pending.is_empty() || self.is_behind();
            let pause = if self.pending.is_empty() { OFTEN } else { SOON };
            let within = if is_waiting { pause.saturating_sub(self.committed_at.elapsed()) } else { LONGEST_WAIT };
            // Only the wait is given up when the partition is to stop, never a message that was taken out of the queue.
            let next = tokio::select! {
                next = self.intake.next(within) => next,
                _ = stop.changed() => Next::Nothing,
            };
            self.handle(next).await?;
            let pause = if self.pending.is_empty() { OFTEN } else { SOON };
            if (!self.pending.is_empty() || self.is_behind()) && self.committed_at.elapsed() >= pause {
                self.commit().await?;
            }
            self.checkpoint_if_due().await?;
        }
        if self.is_behind() || !self.pending.is_empty() {
            self.commit().await?;
        }
        if self.since_checkpoint > 0 || self.read_since_checkpoint() >= MUCH as u64 {
            self.checkpoint().await?;
        }
        Ok(())
    }

    /// Judges what has come. Returns whether something has.
    async fn handle(&mut self, next: Next) -> Result<bool, Failure> {
        match next {
            Next::Messages(chunk) => {
                self.active_at = Instant::now();
                for message in &chunk.messages {
                    self.take(message).await?;
                }
                self.intake.judged(self.judge.sequence);
                self.shared.metrics.judged(self.partition, std::mem::take(&mut self.uncounted));
                Ok(true)
            }
            Next::Nothing => Ok(false),
            Next::Expelled => {
                let passed = self.intake.passed().unwrap_or(0).max(self.judge.sequence);
                self.intake = self.shared.feed.join(self.partition, passed);
                self.shared.metrics.reads(self.partition, self.intake.progress());
                self.read_at_checkpoint = 0;
                Ok(true)
            }
            Next::Failed(why) => Err(Failure::server("read the stream of packets")(&why)),
        }
    }

    /// Judges a message.
    async fn take(&mut self, message: &Received) -> Result<(), Failure> {
        let arrived = message.arrived();
        if arrived.sequence <= self.judge.sequence {
            return Ok(());
        }
        let (mut out, episodes) = (Vec::new(), self.judge.episodes());
        self.judge.take(arrived, &mut out);
        self.is_changed |= !matches!(arrived.kind, Kind::Tick { .. }) || self.judge.episodes() != episodes;
        self.since_checkpoint += message.bytes() + OVERHEAD;
        let committed = &self.committed;
        let new = out.into_iter().filter(|finding| !committed.covers(finding));
        for finding in new {
            self.pending_bytes += finding.body.len();
            self.pending.push_back(finding);
        }
        if self.committed.is_beyond(arrived.sequence) {
            return Ok(());
        }
        self.uncounted += 1;
        while self.pending.len() >= batch::MOST || self.pending_bytes >= batch::MOST_BYTES {
            self.commit_some().await?;
        }
        Ok(())
    }

    /// Whether something was judged that is not committed.
    fn is_behind(&self) -> bool {
        !self.committed.is_beyond(self.judge.sequence)
    }

    /// Publishes everything.
    async fn commit(&mut self) -> Result<(), Failure> {
        while !self.pending.is_empty() || self.is_behind() {
            self.commit_some().await?;
        }
        Ok(())
    }

    /// Publishes as many findings as a batch takes.
    async fn commit_some(&mut self) -> Result<(), Failure> {
        let mut messages = Vec::new();
        let (mut bytes, mut last) = (0, None);
        while messages.len() < batch::MOST
            && let Some(finding) =
                self.pending.pop_front_if(|next| messages.is_empty() || bytes + next.body.len() <= batch::MOST_BYTES)
        {
            bytes += finding.body.len();
            last = Some((finding.sequence, finding.ordinal));
            self.shared.metrics.found(&finding.subject);
            let mut headers = HeaderMap::new();
            let id = format!("{}:{}:{}", self.shared.names.packets, finding.sequence, finding.ordinal);
            headers.insert(async_nats::header::NATS_MESSAGE_ID, id);
            messages.push(Outgoing { subject: finding.subject, headers, body: finding.body.into() });
        }
        self.pending_bytes = self.pending_bytes.saturating_sub(bytes);
        let (sequence, findings_of_last) = match (last, self.pending.front()) {
            // The rest of this message is in the next batch.
            (Some((sequence, ordinal)), Some(next)) if next.sequence == sequence => (sequence, Some(ordinal + 1)),
            (Some((sequence, _)), Some(_)) => (sequence, None),
            (_, None) => (self.judge.sequence, None),
            (None, Some(_)) => return Ok(()),
        };
        let commit = Commit {
            version: Commit::VERSION,
            stream: self.shared.names.packets.clone(),
            partition: self.partition,
            partitions: self.shared.partitions,
            sequence,
            findings_of_last,
            counts: self.judge.counts,
            worker: self.shared.id.clone(),
        };
        let mut headers = HeaderMap::new();
        headers.insert(async_nats::header::NATS_EXPECTED_LAST_SUBJECT_SEQUENCE, self.revision.to_string());
        // The commits before it are of no use to anybody: only the last one is kept.
        headers.insert(async_nats::header::NATS_ROLLUP, "sub");
        let body = serde_json::to_vec(&commit).during("write a commit")?.into();
        messages.push(Outgoing { subject: names::verdicts(self.partition), headers, body });
        let permit = self.shared.batches.acquire().await.during("publish findings")?;
        let what = format!("the findings of partition {}", self.partition);
        self.revision = batch::store(&self.shared.context, messages, &what).await?;
        drop(permit);
        self.shared.metrics.committed(self.partition, self.judge.episodes());
        self.committed = commit;
        self.committed_at = Instant::now();
        Ok(())
    }

    async fn checkpoint_if_due(&mut self) -> Result<(), Failure> {
        if self.is_behind() || !self.pending.is_empty() {
            return Ok(());
        }
        let each = MUCH.max(SELDOM * self.checkpoint_bytes);
        // A worker that takes over reads what all partitions have after the checkpoint.
        let all = each as u64 * u64::from(self.shared.partitions);
        let is_quiet = self.since_checkpoint > 0 && self.active_at.elapsed() >= QUIET;
        if is_quiet || self.since_checkpoint >= each || self.read_since_checkpoint() >= all {
            self.checkpoint().await
        } else {
            Ok(())
        }
    }

    /// Bytes of the whole stream that were read since the last checkpoint.
    fn read_since_checkpoint(&self) -> u64 {
        self.intake.bytes().saturating_sub(self.read_at_checkpoint)
    }

    async fn checkpoint(&mut self) -> Result<(), Failure> {
        let (read, passed) = (self.intake.bytes(), self.intake.passed().unwrap_or(0).max(self.judge.sequence));
        if !self.is_changed && self.checkpoints.is_any() {
            // Only time has passed, and packets of other partitions: so messages that the stream deletes because of their age are
            // not missed.
            self.checkpoints.advance(passed).await?;
        } else {
            self.checkpoint_bytes = self.checkpoints.save(&mut self.judge, passed).await?;
            self.shared.metrics.checkpoint(self.partition, self.checkpoint_bytes);
        }
        (self.since_checkpoint, self.is_changed, self.read_at_checkpoint) = (0, false, read);
        Ok(())
    }
}

/// The pauses after a failure.
const SHORTEST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// What has no findings is committed so often …
const OFTEN: Duration = Duration::from_millis(250);

/// … and what has some so often. After a pause, both are committed at once.
const SOON: Duration = Duration::from_millis(50);

/// How long to wait for a message before it is checked whether something else is to be done.
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// A checkpoint is written after so many bytes of messages, or of all messages divided by the number of partitions …
const MUCH: usize = 1024 * 1024;

/// … and at least this many times its own bytes, so that checkpoints are a fifth of the traffic at most …
const SELDOM: usize = 4;

/// … or when nothing has come for this time.
const QUIET: Duration = Duration::from_secs(5);

/// Subject and headers of a message, about.
const OVERHEAD: usize = 100;
