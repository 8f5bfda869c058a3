//! Work on a partition from the last commit on, until the worker loses it.

use std::cmp::Ordering;
use std::sync::Arc;
use std::time::Duration;

use async_nats::HeaderMap;
use omen::validator::ValidatorOptions;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};
use tracing::{debug, warn};

use super::checkpoint::Checkpoints;
use super::commit::{self, Commit, Outbox};
use super::judge::{IncomingMessage, Judge, KnownMessage, MessageKind, Tick, deleted};
use crate::failure::Failure;
use crate::membership::Agreement;
use crate::metrics::{Metrics, PartitionState};
use crate::names::{self, Names};
use crate::stream::broker::{Batch, Broker, Outgoing, Reader as _, StoredMessage};
use crate::stream::bucket::Bucket;
use crate::stream::link::Link;

/// Resources that all partitions of a worker share.
pub(crate) struct WorkerContext<B> {
    pub(crate) broker: B,
    pub(crate) link: Link,
    pub(crate) names: Names,
    pub(crate) partitions: u16,
    /// Bucket of checkpoints.
    pub(crate) state: Bucket<B>,
    pub(crate) agreement: Agreement,
    pub(crate) options: ValidatorOptions,
    pub(crate) marks: Option<MarksOfTime>,
    /// Whether the worker continues where messages were deleted before they were judged.
    pub(crate) accepts_gaps: bool,
    /// Name of the worker.
    pub(crate) id: String,
    pub(crate) metrics: Arc<Metrics>,
}

/// Interval between time marks, and the idle time after which an episode ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MarksOfTime {
    pub(crate) every: Duration,
    pub(crate) idle_seconds: u64,
}

/// Work on a partition that this worker owns.
pub(crate) struct PartitionWork<'s, B: Broker> {
    shared: &'s WorkerContext<B>,
    partition: u16,
    /// Stream of the partition's packets.
    stream: String,
    judge: Judge,
    reader: B::Reader,
    checkpoints: Checkpoints<B>,
    outbox: Outbox,
    /// Number of messages in the stream after the last one that was read.
    pending: u64,
    /// Last message that earlier workers have judged. Findings up to it are published.
    judged_before: u64,
    /// Whether messages were waiting at the start, and none has been read yet.
    is_behind: bool,
    /// Whether the server has stored a commit or a checkpoint.
    pub(crate) has_committed: bool,
    /// Bytes of messages since the last checkpoint.
    since_checkpoint: usize,
    /// Size of the last checkpoint in bytes.
    checkpoint_bytes: usize,
    checkpoint_at: Instant,
    /// Whether messages other than time marks have arrived since the last checkpoint.
    is_changed: bool,
    active_at: Instant,
    /// Time at which the head of the checkpoint was last written or confirmed.
    noted_at: Instant,
    /// Time at which the last time mark was sent or the partition was taken over.
    marked_at: Instant,
}

impl<'s, B: Broker> PartitionWork<'s, B> {
    pub(crate) async fn begin(shared: &'s WorkerContext<B>, partition: u16) -> Result<Self, Failure> {
        let places = (partition, shared.partitions);
        let (broker, findings, stream) = (&shared.broker, &shared.names.findings, shared.names.packets(partition));
        let mut checkpoints = Checkpoints::new(broker.clone(), shared.state.clone(), places, shared.agreement.hash());
        // The checkpoint is read before the commit, because a checkpoint contains only what was committed before it.
        let restored = checkpoints.load(&stream, &shared.options).await?;
        let (committed, revision) = commit::last(broker, findings, partition).await?;
        // A worker with `--rejudge` first replaces the agreement, then renews the commits. So either the commit that was just
        // read is outdated, and the next one will be refused, or this check fails.
        shared.agreement.join(&shared.state).await?;
        if let Some(found) =
            committed.as_ref().map(|commit| commit.partitions).filter(|found| *found != shared.partitions)
        {
            return Err(Failure::Refused(format!(
                "the findings in `{findings}` are for {found} partitions; expected {}",
                shared.partitions
            )));
        }
        checkpoints.follows(revision, broker.state(findings).await?.first)?;
        let judge = restored.unwrap_or_else(|| Judge::new(&stream, places, shared.options.clone()));
        let judged = checkpoints.judged();
        for seen in [judge.seen, judged, committed.as_ref().and_then(|commit| commit.seen)].into_iter().flatten() {
            if broker.message(&stream, seen.sequence).await?.is_some_and(|found| found.time != seen.time) {
                let what = format!("has another message {} than partition {partition} has judged", seen.sequence);
                return Err(other_stream(shared, &stream, &what));
            }
        }
        // Without findings there are no commits, and old commits expire.
        let judged = judged.map_or(0, |judged| judged.sequence);
        let committed = committed.filter(|committed| committed.sequence >= judged);
        let committed = committed.unwrap_or_else(|| Commit { sequence: judged, ..Commit::default() });
        let there = broker.state(&stream).await?;
        if committed.sequence > there.last {
            let (last, up_to) = (there.last, committed.sequence);
            let what = format!("ends with message {last}, and partition {partition} was judged up to message {up_to}");
            return Err(other_stream(shared, &stream, &what));
        }
        if judge.sequence + 1 < there.first && !shared.accepts_gaps {
            return Err(gap(&stream, judge.sequence + 1, there.first - 1));
        }
        let reader = broker.read(&stream, judge.sequence).await?;
        let now = Instant::now();
        let judged_before = committed.sequence;
        let mut this = Self {
            shared,
            partition,
            pending: there.last.saturating_sub(judge.sequence),
            is_behind: judge.sequence < there.last,
            judged_before,
            stream,
            judge,
            reader,
            checkpoints,
            outbox: Outbox::new(partition, (committed, revision), broker.max_payload()),
            has_committed: false,
            since_checkpoint: 0,
            checkpoint_bytes: 0,
            checkpoint_at: now,
            is_changed: false,
            active_at: now,
            noted_at: now,
            marked_at: now,
        };
        this.show();
        Ok(this)
    }

    /// Returns whether all findings are committed.
    pub(crate) fn is_committed(&self) -> bool {
        self.outbox.is_empty()
    }

    /// Updates the metrics.
    fn show(&mut self) {
        // A partition counts as judged once its stream has been read up to where earlier workers had judged it.
        if !self.is_behind && (self.judge.sequence >= self.judged_before || self.pending == 0) {
            self.shared.metrics.state(self.partition, PartitionState::Owned);
        }
        let waiting = match self.outbox.is_empty() {
            true => 0,
            false => self.judge.sequence.saturating_sub(self.outbox.committed().complete()),
        };
        self.shared.metrics.lag(self.partition, self.pending + waiting, self.outbox.since());
    }

    /// Judges incoming messages until the partition is asked to stop.
    pub(crate) async fn judge(&mut self, stop: &mut watch::Receiver<bool>) -> Result<(), Failure> {
        while !*stop.borrow() {
            let within = self.outbox.due_in().unwrap_or(LONGEST_WAIT);
            // Stopping interrupts only the wait for messages. A message that was read is always judged.
            let some = tokio::select! {
                biased;
                _ = stop.changed() => None,
                some = timeout(within, self.reader.some()) => some.ok(),
            };
            if let Some(some) = some {
                self.take_all(some?).await?;
                self.show();
            }
            if self.outbox.due_in().is_some_and(|left| left.is_zero()) {
                self.commit().await?;
            }
            self.show();
            self.mark_time().await;
            self.checkpoint_if_due().await?;
        }
        self.commit().await?;
        match self.since_checkpoint {
            0 => self.note_if_after(Duration::ZERO).await,
            _ => self.checkpoint().await,
        }
    }

    /// Deletes the reader on the server.
    pub(crate) async fn end(self) {
        self.reader.close().await;
    }

    async fn take_all(&mut self, some: Batch) -> Result<(), Failure> {
        let mut count = 0;
        for message in &some.messages {
            let (first, last) = (self.judge.sequence + 1, message.sequence.saturating_sub(1));
            if first <= last {
                // The packets after a missing one look like mistakes of the agent.
                if !self.shared.accepts_gaps {
                    // The messages before the gap have been judged, and are not read again after this error.
                    self.commit().await?;
                    return Err(gap(&self.stream, first, last));
                }
                self.is_changed = true;
                self.shared.metrics.missed(last - first + 1);
                warn!("{}: findings without them may be wrong", deleted(&self.stream, first, last));
            }
            count += u64::from(message.sequence > self.judged_before);
            self.take(message).await?;
        }
        if !some.messages.is_empty() {
            self.active_at = Instant::now();
        }
        (self.pending, self.is_behind) = (some.pending, false);
        self.shared.metrics.judged(self.partition, count);
        Ok(())
    }

    /// Judges a message.
    async fn take(&mut self, message: &StoredMessage) -> Result<(), Failure> {
        let arrived = IncomingMessage::from_stored(message);
        let (mut out, episodes) = (Vec::new(), self.judge.episodes());
        self.judge.take(arrived, &mut out);
        self.is_changed |= !matches!(arrived.kind, MessageKind::Tick { .. }) || self.judge.episodes() != episodes;
        self.since_checkpoint += message.body.len() + OVERHEAD;
        self.outbox.add(out);
        while self.outbox.is_full() {
            self.show();
            self.commit_some().await?;
        }
        Ok(())
    }

    /// Publishes all pending findings.
    async fn commit(&mut self) -> Result<(), Failure> {
        while !self.outbox.is_empty() {
            self.commit_some().await?;
        }
        Ok(())
    }

    async fn commit_some(&mut self) -> Result<(), Failure> {
        let commit = Commit {
            version: Commit::VERSION,
            seen: self.judge.seen,
            partitions: self.shared.partitions,
            sequence: self.judge.sequence,
            findings_of_last: None,
            agreement: self.shared.agreement.hash(),
            worker: self.shared.id.clone(),
        };
        let found = self.outbox.commit_some(&self.shared.broker, commit).await?;
        self.has_committed = true;
        debug!(findings = found.len(), sequence = self.judge.sequence, "committed");
        let counted = found.iter().map(|finding| (finding.severity, finding.code));
        self.shared.metrics.committed(self.partition, counted, self.outbox.since());
        Ok(())
    }

    /// Sends a time mark to the stream of the partition while an episode is open. The server sets the time of the mark: this
    /// worker only measures the interval since its last mark, so its clock may be wrong. An additional mark by a worker that has
    /// lost the partition is harmless.
    async fn mark_time(&mut self) {
        let Some(MarksOfTime { every, idle_seconds }) = self.shared.marks else { return };
        if self.judge.episodes() == 0 || self.marked_at.elapsed() < every {
            return;
        }
        self.marked_at = Instant::now();
        let body = serde_json::to_vec(&Tick { idle_seconds: Some(idle_seconds) }).unwrap_or_default();
        let subject = names::mark(self.partition, names::TICK);
        // A lost mark needs no retry, since another one follows.
        self.shared.broker.send(Outgoing { subject, headers: HeaderMap::new(), body: body.into() }).await;
    }

    async fn checkpoint_if_due(&mut self) -> Result<(), Failure> {
        if !self.outbox.is_empty() {
            return Ok(());
        }
        let is_quiet = self.since_checkpoint > 0 && self.active_at.elapsed() >= QUIET;
        let is_old = self.since_checkpoint > 0 && self.checkpoint_at.elapsed() >= LATEST;
        if is_quiet || is_old || self.since_checkpoint >= MUCH.max(SELDOM * self.checkpoint_bytes) {
            self.checkpoint().await
        } else if self.unnoted().is_none() && self.noted_at.elapsed() >= CHECKED {
            // The server may have lost the last commit even if no messages arrive.
            self.is_still_committed().await?;
            self.progressed();
            Ok(())
        } else {
            self.note_if_after(NOTED).await
        }
    }

    /// Returns the last message that was judged, if the head of the checkpoint does not record it yet.
    fn unnoted(&self) -> Option<KnownMessage> {
        let noted = self.checkpoints.judged().map_or(0, |judged| judged.sequence).max(self.judged_before);
        self.judge.seen.filter(|seen| seen.sequence > noted)
    }

    async fn note_if_after(&mut self, pause: Duration) -> Result<(), Failure> {
        let Some(judged) = self.unnoted().filter(|_| self.noted_at.elapsed() >= pause) else { return Ok(()) };
        if self.checkpoints.judged().is_none() {
            return self.checkpoint().await;
        }
        self.is_still_committed().await?;
        self.checkpoints.note(judged, self.outbox.revision, false).await?;
        self.progressed();
        Ok(())
    }

    async fn checkpoint(&mut self) -> Result<(), Failure> {
        let revision = self.outbox.revision;
        let before = self.checkpoints.judged().filter(|before| before.sequence > self.judge.sequence);
        let Some(judged) = before.or(self.judge.seen) else { return Ok(()) };
        self.is_still_committed().await?;
        if !self.is_changed && self.checkpoints.judged().is_some() && before.is_none() {
            // Only time has passed. The head moves on so that expired messages are not reported missing.
            self.checkpoints.note(judged, revision, true).await?;
        } else {
            self.checkpoint_bytes = self.checkpoints.save(&mut self.judge, judged, revision).await?;
            self.shared.metrics.checkpoint(self.partition, self.checkpoint_bytes);
        }
        (self.since_checkpoint, self.is_changed, self.checkpoint_at) = (0, false, Instant::now());
        self.progressed();
        Ok(())
    }

    /// Checks that the server's last commit is the one on which the next checkpoint will be based.
    ///
    /// # Errors
    /// [`Failure::Refused`] if the server has lost it, [`Failure::Fenced`] if another worker has made a commit.
    async fn is_still_committed(&mut self) -> Result<(), Failure> {
        let findings = &self.shared.names.findings;
        let (_, revision) = commit::last(&self.shared.broker, findings, self.partition).await?;
        match revision.cmp(&self.outbox.revision) {
            Ordering::Equal => Ok(()),
            Ordering::Greater => Err(Failure::Fenced(format!("the findings of partition {}", self.partition))),
            // Old commits may expire.
            Ordering::Less
                if revision == 0 && self.shared.broker.state(findings).await?.first > self.outbox.revision =>
            {
                Ok(())
            }
            Ordering::Less => Err(self.checkpoints.findings_are_older(self.outbox.revision)),
        }
    }

    /// Records that the server has stored a checkpoint.
    fn progressed(&mut self) {
        (self.noted_at, self.has_committed) = (Instant::now(), true);
        self.shared.metrics.progressed(self.partition, self.judge.episodes());
    }
}

fn gap(stream: &str, first: u64, last: u64) -> Failure {
    Failure::Refused(format!("{}; to go on without them, start with `--accept-gaps`", deleted(stream, first, last)))
}

fn other_stream<B>(shared: &WorkerContext<B>, stream: &str, why: &str) -> Failure {
    let (findings, state) = (&shared.names.findings, &shared.names.state);
    Failure::Refused(format!(
        "the stream `{stream}` {why}: it is another stream with this name, or it lost data that was not yet on disk; \
         to judge it from its beginning, delete `{findings}` and the bucket `{state}` and start the workers again"
    ))
}

/// Maximum wait for a message before other due work is checked.
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// Bytes of messages after which a checkpoint is written.
const MUCH: usize = 1024 * 1024;

/// Minimum ratio of these bytes to the size of the last checkpoint, so that checkpoints are at most a fifth of the traffic.
const SELDOM: usize = 4;

/// Time without messages after which a checkpoint is written.
const QUIET: Duration = Duration::from_secs(5);

/// Age at which a checkpoint is always replaced, so that a replay needs no messages that are much older.
const LATEST: Duration = Duration::from_secs(60);

/// Interval between writes of a checkpoint's head, which records how far the partition is judged.
const NOTED: Duration = Duration::from_secs(2);

/// Interval between checks that the server still has the last commit, if the head has not changed.
const CHECKED: Duration = Duration::from_secs(10);

/// Approximate size of a message's subject and headers in bytes.
const OVERHEAD: usize = 100;
