//! What a partition does from the last commit to the moment when the worker loses it.

use std::time::{Duration, Instant};

use async_nats::jetstream::stream::{LastRawMessageErrorKind, Stream};
use tokio::sync::watch;

use crate::ask::ask;
use crate::checkpoint::Checkpoints;
use crate::commit::{self, Commit};
use crate::failure::{During as _, Failure};
use crate::intake::{Intake, Next};
use crate::judge::{Judge, Kind, KnownMessage};
use crate::metrics::State;
use crate::names::Names;
use crate::outbox::Outbox;
use crate::shared::Shared;
use crate::source::{Received, milliseconds};

/// From the last commit to the moment when the worker loses the partition.
pub(crate) struct Tenure<'s> {
    shared: &'s Shared,
    partition: u16,
    judge: Judge,
    intake: Intake,
    checkpoints: Checkpoints,
    outbox: Outbox<'s>,
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
    pub(crate) async fn begin(shared: &'s Shared, partition: u16) -> Result<Self, Failure> {
        let loading = shared.feed.loading();
        let places = (partition, shared.partitions);
        let (client, agreement) = (shared.context.client(), shared.agreement.hash());
        let mut checkpoints = Checkpoints::new(shared.bucket.clone(), places, agreement, client);
        // In this order: whatever is in a checkpoint was committed before.
        let restored = checkpoints.load(&shared.names.packets, &shared.options).await?;
        let (committed, revision) = commit::last(&shared.findings, partition).await?;
        // A worker with `--rejudge` replaces the agreement first and renews the commits then. So either the commit that was just read is
        // outdated, and the next one is refused, or this check fails.
        shared.agreement.join(&shared.bucket).await?;
        if let Some(found) =
            committed.as_ref().map(|commit| commit.partitions).filter(|found| *found != shared.partitions)
        {
            return Err(Failure::Refused(format!(
                "the findings in `{}` are of {found} partitions; expected {}",
                shared.names.findings, shared.partitions
            )));
        }
        let findings =
            ask(|| shared.findings.get_info()).await.during("read the state of the stream of findings")?.state;
        checkpoints.follows(revision, findings.first_sequence)?;
        let packets = ask(|| shared.packets.get_info()).await.during("read the state of the stream of packets")?.state;
        let judge = restored.unwrap_or_else(|| Judge::new(&shared.names.packets, places, shared.options.clone()));
        for seen in [judge.seen, committed.as_ref().and_then(|commit| commit.seen)].into_iter().flatten() {
            if !has(&shared.packets, seen).await? {
                return Err(other_stream(
                    shared,
                    &format!("has another message {} than partition {partition} has judged", seen.sequence),
                ));
            }
        }
        let committed = committed.filter(|committed| committed.sequence >= judge.sequence);
        let committed = committed.unwrap_or_else(|| Commit { sequence: judge.sequence, ..Commit::default() });
        if committed.sequence > packets.last_sequence {
            return Err(other_stream(
                shared,
                &format!(
                    "ends with message {}, and partition {partition} was judged up to message {}",
                    packets.last_sequence, committed.sequence
                ),
            ));
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
        let mut tenure = Self {
            shared,
            partition,
            judge,
            intake,
            checkpoints,
            outbox: Outbox::new(shared, partition, committed, revision),
            since_checkpoint: 0,
            read_at_checkpoint: 0,
            checkpoint_bytes: 0,
            is_changed: false,
            uncounted: 0,
            active_at: Instant::now(),
        };
        tenure.note_commit();
        tenure.catch_up().await?;
        shared.metrics.state(partition, State::Owned);
        Ok(tenure)
    }

    /// Whether it has committed anything.
    pub(crate) fn has_committed(&self) -> bool {
        self.outbox.commits() > 0
    }

    /// Whether everything that was judged is committed.
    pub(crate) fn is_committed(&self) -> bool {
        self.outbox.is_up_to(&self.judge)
    }

    /// Lets the lag count from the last commit on.
    fn note_commit(&self) {
        self.intake.committed(self.outbox.committed().complete());
    }

    /// Judges again what is committed.
    async fn catch_up(&mut self) -> Result<(), Failure> {
        while self.judge.sequence < self.outbox.committed().sequence {
            let next = self.intake.next(LONGEST_WAIT).await;
            if self.handle(next).await? {
                continue;
            }
            let passed = self.intake.passed();
            if passed.is_some_and(|passed| passed >= self.outbox.committed().sequence)
                || passed.is_some()
                    && self.intake.is_at_end()
                    && self.is_deleted(self.outbox.committed().sequence).await?
            {
                // It was deleted, so nothing before it will come.
                self.judge.sequence = self.outbox.committed().sequence;
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
    pub(crate) async fn judge(&mut self, stop: &mut watch::Receiver<bool>) -> Result<(), Failure> {
        while !*stop.borrow() {
            let within = self.outbox.due_in(&self.judge).unwrap_or(LONGEST_WAIT);
            // Only the wait is given up when the partition is to stop, never a message that was taken out of the queue.
            let next = tokio::select! {
                biased;
                _ = stop.changed() => Next::Nothing,
                next = self.intake.next(within) => next,
            };
            if let Next::Failed(why) = next {
                // What comes before a packet that was deleted is judged and does not come again otherwise.
                let _ = self.outbox.commit(&self.judge).await;
                return Err(Failure::server("read the stream of packets")(&why));
            }
            self.handle(next).await?;
            if self.outbox.due_in(&self.judge).is_some_and(|left| left.is_zero()) {
                self.outbox.commit(&self.judge).await?;
                self.note_commit();
            }
            self.checkpoint_if_due().await?;
        }
        self.outbox.commit(&self.judge).await?;
        self.note_commit();
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
                self.shared.metrics.judged(self.partition, std::mem::take(&mut self.uncounted));
                Ok(true)
            }
            Next::Nothing => Ok(false),
            Next::Expelled => {
                let passed = self.intake.passed().unwrap_or(0).max(self.judge.sequence);
                self.intake = self.shared.feed.join(self.partition, passed);
                self.shared.metrics.reads(self.partition, self.intake.progress());
                self.note_commit();
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
        self.outbox.add(out, &self.judge);
        if self.outbox.committed().is_beyond(arrived.sequence) {
            return Ok(());
        }
        self.uncounted += 1;
        while self.outbox.is_full() {
            self.outbox.commit_some(&self.judge).await?;
            self.note_commit();
        }
        Ok(())
    }

    async fn checkpoint_if_due(&mut self) -> Result<(), Failure> {
        if !self.outbox.is_up_to(&self.judge) {
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
            self.checkpoints.advance(passed, self.outbox.revision()).await?;
        } else {
            self.checkpoint_bytes = self.checkpoints.save(&mut self.judge, passed, self.outbox.revision()).await?;
            self.shared.metrics.checkpoint(self.partition, self.checkpoint_bytes);
        }
        (self.since_checkpoint, self.is_changed, self.read_at_checkpoint) = (0, false, read);
        Ok(())
    }
}

/// Whether a stream has this message, or has deleted it.
async fn has(packets: &Stream, seen: KnownMessage) -> Result<bool, Failure> {
    match ask(|| packets.get_raw_message(seen.sequence)).await {
        Ok(message) => Ok(milliseconds(message.time.unix_timestamp_nanos()) == seen.time),
        Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(true),
        Err(error) => Err(Failure::server("read the stream of packets")(&error)),
    }
}

fn other_stream(shared: &Shared, why: &str) -> Failure {
    let Names { packets, findings, bucket } = &shared.names;
    Failure::Refused(format!(
        "the stream `{packets}` {why}: it is another stream with this name, or it lost what was not on the disk; to judge it from its \
         beginning, delete `{findings}` and the bucket `{bucket}` and start the workers again, or name others"
    ))
}

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
