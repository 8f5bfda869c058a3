//! What a worker does with a partition from the last commit on, until it loses the partition.

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
use crate::names::{self, Names};
use crate::serve::metrics::{Metrics, PartitionState};
use crate::stream::broker::{Batch, Broker, Outgoing, Reader as _, Stored};
use crate::stream::bucket::Bucket;
use crate::stream::link::Link;

/// What all partitions of a worker share.
pub(crate) struct Shared<B> {
    pub(crate) broker: B,
    pub(crate) link: Link,
    pub(crate) names: Names,
    pub(crate) partitions: u16,
    /// The bucket of checkpoints.
    pub(crate) state: Bucket<B>,
    pub(crate) agreement: Agreement,
    pub(crate) options: ValidatorOptions,
    pub(crate) marks: Option<MarksOfTime>,
    /// Whether messages that were deleted before they were judged are no reason to stop.
    pub(crate) accepts_gaps: bool,
    /// The worker's name.
    pub(crate) id: String,
    pub(crate) metrics: Arc<Metrics>,
}

/// How often time is marked, and after how long without a message an episode ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MarksOfTime {
    pub(crate) every: Duration,
    pub(crate) idle_seconds: u64,
}

/// A partition that is judged.
pub(crate) struct Ownership<'s, B: Broker> {
    shared: &'s Shared<B>,
    partition: u16,
    /// The stream of its packets.
    stream: String,
    judge: Judge,
    reader: B::Reader,
    checkpoints: Checkpoints<B>,
    outbox: Outbox,
    /// How many messages of the stream are behind the last one that was read.
    pending: u64,
    /// Up to this message, others have judged it: what is found there is published.
    judged_before: u64,
    /// Whether messages were waiting at the beginning, and none has been read.
    is_behind: bool,
    has_committed: bool,
    /// Bytes of messages since the last checkpoint …
    since_checkpoint: usize,
    /// … and its own bytes.
    checkpoint_bytes: usize,
    checkpoint_at: Instant,
    /// Whether anything but marks of time came since.
    is_changed: bool,
    active_at: Instant,
    /// When the head of the checkpoint was last written or confirmed.
    noted_at: Instant,
    /// When the last mark of time was sent, or the partition was taken over.
    marked_at: Instant,
}

impl<'s, B: Broker> Ownership<'s, B> {
    pub(crate) async fn begin(shared: &'s Shared<B>, partition: u16) -> Result<Self, Failure> {
        let places = (partition, shared.partitions);
        let (broker, findings, stream) = (&shared.broker, &shared.names.findings, shared.names.packets(partition));
        let mut checkpoints = Checkpoints::new(broker.clone(), shared.state.clone(), places, shared.agreement.hash());
        // In this order: whatever is in a checkpoint was committed before.
        let restored = checkpoints.load(&stream, &shared.options).await?;
        let (committed, revision) = commit::last(broker, findings, partition).await?;
        // A worker with `--rejudge` replaces the agreement first and renews the commits then. So either the commit that was just read is
        // outdated, and the next one is refused, or this check fails.
        shared.agreement.join(&shared.state).await?;
        if let Some(found) =
            committed.as_ref().map(|commit| commit.partitions).filter(|found| *found != shared.partitions)
        {
            return Err(Failure::Refused(format!(
                "the findings in `{findings}` are of {found} partitions; expected {}",
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
        // Without findings there is no commit, and commits expire.
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

    /// Whether the server has taken a commit or a checkpoint.
    pub(crate) fn has_committed(&self) -> bool {
        self.has_committed
    }

    /// Whether everything that was found is committed.
    pub(crate) fn is_committed(&self) -> bool {
        self.outbox.is_empty()
    }

    /// Updates the metrics.
    fn show(&mut self) {
        // A partition counts as judged when its stream was read, up to where earlier workers had judged it.
        if !self.is_behind && (self.judge.sequence >= self.judged_before || self.pending == 0) {
            self.shared.metrics.state(self.partition, PartitionState::Owned);
        }
        let waiting = match self.outbox.is_empty() {
            true => 0,
            false => self.judge.sequence.saturating_sub(self.outbox.committed().complete()),
        };
        self.shared.metrics.lag(self.partition, self.pending + waiting, self.outbox.since());
    }

    /// Judges what comes, until it is to stop.
    pub(crate) async fn judge(&mut self, stop: &mut watch::Receiver<bool>) -> Result<(), Failure> {
        while !*stop.borrow() {
            let within = self.outbox.due_in().unwrap_or(LONGEST_WAIT);
            // Only the wait is given up when the partition is to stop, never a message that was read.
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
                // What follows a missing packet looks like a mistake of the agent.
                if !self.shared.accepts_gaps {
                    // What comes before it is judged, and does not come again otherwise.
                    self.commit().await?;
                    return Err(gap(&self.stream, first, last));
                }
                self.is_changed = true;
                self.shared.metrics.missed(last - first + 1);
                warn!("{}: what is found without them may be wrong", deleted(&self.stream, first, last));
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
    async fn take(&mut self, message: &Stored) -> Result<(), Failure> {
        let arrived = IncomingMessage::of(message);
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

    /// Publishes everything that was found.
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
        self.shared.metrics.committed(self.partition, &found, self.outbox.since());
        Ok(())
    }

    /// Marks time in the stream of the partition, as long as an episode is open. The time itself is that of the server: this worker only
    /// measures how long ago it sent the last mark, so its clock may be set to anything. A mark by a worker that has lost the partition
    /// is one more.
    async fn mark_time(&mut self) {
        let Some(MarksOfTime { every, idle_seconds }) = self.shared.marks else { return };
        if self.judge.episodes() == 0 || self.marked_at.elapsed() < every {
            return;
        }
        self.marked_at = Instant::now();
        let body = serde_json::to_vec(&Tick { idle_seconds: Some(idle_seconds) }).unwrap_or_default();
        let subject = names::mark(self.partition, names::TICK);
        // Another one follows.
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
            // The server may have lost the last commit, also while no messages come.
            self.is_still_committed().await?;
            self.progressed();
            Ok(())
        } else {
            self.note_if_after(NOTED).await
        }
    }

    /// Up to where the partition is judged, if that is further than what is noted.
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
        self.checkpoints.note(judged, self.outbox.revision(), false).await?;
        self.progressed();
        Ok(())
    }

    async fn checkpoint(&mut self) -> Result<(), Failure> {
        let revision = self.outbox.revision();
        let before = self.checkpoints.judged().filter(|before| before.sequence > self.judge.sequence);
        let Some(judged) = before.or(self.judge.seen) else { return Ok(()) };
        self.is_still_committed().await?;
        if !self.is_changed && self.checkpoints.judged().is_some() && before.is_none() {
            // Only time has passed: so messages that the stream deletes because of their age are not missed.
            self.checkpoints.note(judged, revision, true).await?;
        } else {
            self.checkpoint_bytes = self.checkpoints.save(&mut self.judge, judged, revision).await?;
            self.shared.metrics.checkpoint(self.partition, self.checkpoint_bytes);
        }
        (self.since_checkpoint, self.is_changed, self.checkpoint_at) = (0, false, Instant::now());
        self.progressed();
        Ok(())
    }

    /// Checks that the last commit is the one that a checkpoint is to follow.
    ///
    /// # Errors
    /// [`Failure::Refused`] if the server has forgotten it, [`Failure::Fenced`] if another worker has made one.
    async fn is_still_committed(&mut self) -> Result<(), Failure> {
        let findings = &self.shared.names.findings;
        let (_, revision) = commit::last(&self.shared.broker, findings, self.partition).await?;
        match revision.cmp(&self.outbox.revision()) {
            Ordering::Equal => Ok(()),
            Ordering::Greater => Err(Failure::Fenced(format!("the findings of partition {}", self.partition))),
            // Old ones may expire.
            Ordering::Less
                if revision == 0 && self.shared.broker.state(findings).await?.first > self.outbox.revision() =>
            {
                Ok(())
            }
            Ordering::Less => Err(self.checkpoints.findings_are_older(self.outbox.revision())),
        }
    }

    /// To be called when the server has taken a checkpoint.
    fn progressed(&mut self) {
        (self.noted_at, self.has_committed) = (Instant::now(), true);
        self.shared.metrics.progressed(self.partition, self.judge.episodes());
    }
}

fn gap(stream: &str, first: u64, last: u64) -> Failure {
    Failure::Refused(format!("{}; to go on without them, start with `--accept-gaps`", deleted(stream, first, last)))
}

fn other_stream<B>(shared: &Shared<B>, stream: &str, why: &str) -> Failure {
    let (findings, state) = (&shared.names.findings, &shared.names.state);
    Failure::Refused(format!(
        "the stream `{stream}` {why}: it is another stream with this name, or it lost what was not on the disk; to judge it from its \
         beginning, delete `{findings}` and the bucket `{state}` and start the workers again"
    ))
}

/// How long to wait for a message before it is checked whether something else is to be done.
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// A checkpoint is written after so many bytes of messages …
const MUCH: usize = 1024 * 1024;

/// … and at least this many times its own bytes, so that checkpoints are a fifth of the traffic at most …
const SELDOM: usize = 4;

/// … or when nothing has come for this time …
const QUIET: Duration = Duration::from_secs(5);

/// … or after this time, so that only messages that are not much older are needed again.
const LATEST: Duration = Duration::from_secs(60);

/// In between, its head is written this often, which says how far the partition is judged.
const NOTED: Duration = Duration::from_secs(2);

/// If nothing is to be noted, it is checked this often whether the last commit is still there.
const CHECKED: Duration = Duration::from_secs(10);

/// Subject and headers of a message, about.
const OVERHEAD: usize = 100;
