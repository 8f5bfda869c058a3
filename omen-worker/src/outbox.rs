//! Findings that are to be published, and the commits that publish them.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use async_nats::HeaderMap;

use crate::batch::{self, Outgoing};
use crate::commit::Commit;
use crate::failure::{During as _, Failure};
use crate::judge::{Judge, Reported};
use crate::shared::Shared;

/// What a partition has found, and what of it is published.
pub(crate) struct Outbox<'s> {
    shared: &'s Shared,
    partition: u16,
    /// What is published …
    committed: Commit,
    /// … and the sequence of its commit.
    revision: u64,
    committed_at: Instant,
    /// Findings that are not.
    pending: VecDeque<Reported>,
    pending_bytes: usize,
    commits: u64,
    /// Since when something is judged and not committed.
    since: Option<Instant>,
}

impl<'s> Outbox<'s> {
    /// With the last commit, and its own sequence in the stream of findings.
    pub(crate) fn new(shared: &'s Shared, partition: u16, committed: Commit, revision: u64) -> Self {
        shared.metrics.uncommitted(partition, None);
        Self {
            shared,
            partition,
            committed,
            revision,
            committed_at: Instant::now(),
            pending: VecDeque::new(),
            pending_bytes: 0,
            commits: 0,
            since: None,
        }
    }

    /// What is published.
    pub(crate) fn committed(&self) -> &Commit {
        &self.committed
    }

    /// The number of the last commit in the stream of findings, or 0.
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    /// How many commits were made.
    pub(crate) fn commits(&self) -> u64 {
        self.commits
    }

    /// Adds findings that are not published yet.
    pub(crate) fn add(&mut self, found: Vec<Reported>, judge: &Judge) {
        for finding in found.into_iter().filter(|finding| !self.committed.covers(finding)) {
            self.pending_bytes += finding.body.len();
            self.pending.push_back(finding);
        }
        if self.since.is_none() && !self.is_up_to(judge) {
            self.since = Some(Instant::now());
            self.shared.metrics.uncommitted(self.partition, self.since);
        }
    }

    /// Whether a batch is full.
    pub(crate) fn is_full(&self) -> bool {
        self.pending.len() >= batch::MOST || self.pending_bytes >= batch::MOST_BYTES
    }

    /// Whether everything that was judged is committed.
    pub(crate) fn is_up_to(&self, judge: &Judge) -> bool {
        self.pending.is_empty() && self.committed.is_beyond(judge.sequence)
    }

    /// How long until the next commit is due; `None` if there is nothing to commit.
    pub(crate) fn due_in(&self, judge: &Judge) -> Option<Duration> {
        let pause = if self.pending.is_empty() { OFTEN } else { SOON };
        (!self.is_up_to(judge)).then(|| pause.saturating_sub(self.committed_at.elapsed()))
    }

    /// Publishes everything.
    pub(crate) async fn commit(&mut self, judge: &Judge) -> Result<(), Failure> {
        while !self.is_up_to(judge) {
            self.commit_some(judge).await?;
        }
        Ok(())
    }

    /// Publishes as many findings as a batch takes.
    pub(crate) async fn commit_some(&mut self, judge: &Judge) -> Result<(), Failure> {
        let mut messages = Vec::new();
        let (mut bytes, mut last) = (0, None);
        while messages.len() < batch::MOST
            && let Some(finding) =
                self.pending.pop_front_if(|next| messages.is_empty() || bytes + next.body.len() <= batch::MOST_BYTES)
        {
            bytes += finding.body.len();
            last = Some((finding.sequence, finding.ordinal));
            // No message id: the commit is the fence. With one, a server would refuse what two partitions find at one mark of time.
            messages.push(Outgoing { subject: finding.subject, headers: HeaderMap::new(), body: finding.body.into() });
        }
        self.pending_bytes = self.pending_bytes.saturating_sub(bytes);
        let (sequence, findings_of_last) = match (last, self.pending.front()) {
            // The rest of this message is in the next batch.
            (Some((sequence, ordinal)), Some(next)) if next.sequence == sequence => (sequence, Some(ordinal + 1)),
            (Some((sequence, _)), Some(_)) => (sequence, None),
            (_, None) => (judge.sequence, None),
            (None, Some(_)) => return Ok(()),
        };
        let commit = Commit {
            version: Commit::VERSION,
            stream: self.shared.names.packets.clone(),
            seen: judge.seen,
            partition: self.partition,
            partitions: self.shared.partitions,
            sequence,
            findings_of_last,
            counts: judge.counts,
            agreement: self.shared.agreement.hash(),
            worker: self.shared.id.clone(),
        };
        let found: Vec<String> = messages.iter().map(|message| message.subject.clone()).collect();
        messages.push(commit.message(self.revision)?);
        let permit = self.shared.batches.acquire().await.during("publish findings")?;
        let what = format!("the findings of partition {}", self.partition);
        self.revision = batch::store(&self.shared.context, messages, &what).await?;
        drop(permit);
        found.iter().for_each(|subject| self.shared.metrics.found(subject));
        self.shared.metrics.committed(self.partition, judge.episodes());
        self.commits += 1;
        self.committed = commit;
        self.committed_at = Instant::now();
        // What is left keeps the earlier time, an upper bound.
        self.since = self.since.filter(|_| !self.is_up_to(judge));
        self.shared.metrics.uncommitted(self.partition, self.since);
        Ok(())
    }
}

/// What has no findings is committed so often …
const OFTEN: Duration = Duration::from_millis(250);

/// … and what has some so often. After a pause, both are committed at once.
const SOON: Duration = Duration::from_millis(50);
