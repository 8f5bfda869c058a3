//! Findings that are to be published, and the commits that publish them.
//!
//! A commit is one message: the findings are its lines, and a header says up to which message of the stream the findings are
//! complete. The server takes it only if the commit before is the one that the worker knows, so one of two workers succeeds. What
//! has no findings is not committed: who takes over judges it again, and finds nothing.

use std::collections::VecDeque;
use std::time::Duration;

use async_nats::HeaderMap;
use omen::Severity;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::judge::{KnownMessage, Reported};
use crate::failure::{During as _, Failure};
use crate::names::{self, COMMIT_HEADER};
use crate::stream::broker::{self, Broker, Outgoing, Stored};

/// Up to where the findings of a partition are published.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Commit {
    /// The version of this form.
    pub(crate) version: u8,
    /// A message of the stream of packets: another stream may have its name later.
    pub(crate) seen: Option<KnownMessage>,
    /// Number of partitions.
    pub(crate) partitions: u16,
    /// Up to this message of the stream, the partition was judged.
    pub(crate) sequence: u64,
    /// If only some findings of this message are published: how many. A message may have more than fit in a commit.
    pub(crate) findings_of_last: Option<u64>,
    /// A hash of how the worker judges.
    pub(crate) agreement: String,
    /// The worker, for people.
    pub(crate) worker: String,
}

impl Commit {
    /// The version of the form.
    pub(crate) const VERSION: u8 = 3;

    /// Up to this message, all findings are published.
    pub(crate) fn complete(&self) -> u64 {
        self.sequence - u64::from(self.findings_of_last.is_some() && self.sequence > 0)
    }

    /// Whether a finding was published.
    pub(crate) fn covers(&self, finding: &Reported) -> bool {
        match finding.sequence.cmp(&self.sequence) {
            std::cmp::Ordering::Less => true,
            std::cmp::Ordering::Equal => self.findings_of_last.is_none_or(|count| finding.ordinal < count),
            std::cmp::Ordering::Greater => false,
        }
    }

    /// The message that stores it with findings, if the last commit of the partition is the one with this number in the stream.
    fn message(&self, partition: u16, revision: u64, findings: &[Reported]) -> Result<Outgoing, Failure> {
        let worst = findings.iter().map(|finding| finding.severity).max();
        let subject = format!("{}.{partition}.{}", names::FINDINGS, worst.map_or(NO_FINDINGS, Severity::as_str));
        let mut headers = HeaderMap::new();
        headers.insert(COMMIT_HEADER, serde_json::to_string(self).during("write a commit")?);
        headers.insert(EXPECTED_SUBJECT, names::findings_of(partition));
        let lines: Vec<&[u8]> = findings.iter().map(|finding| &finding.body[..]).collect();
        Ok(broker::after(Outgoing { subject, headers, body: lines.join(&b'\n').into() }, revision))
    }
}

/// The last commit of a partition, and its number in the stream of findings, which the next one must expect.
pub(crate) async fn last<B: Broker>(
    broker: &B,
    findings: &str,
    partition: u16,
) -> Result<(Option<Commit>, u64), Failure> {
    let Some(message) = broker.last(findings, &names::findings_of(partition)).await? else { return Ok((None, 0)) };
    let Stored { subject, sequence, .. } = &message;
    let commit = read(&message, findings).map_err(|why| {
        Failure::Refused(format!("message {sequence} of the stream `{findings}`, on `{subject}`, {why}"))
    })?;
    Ok((Some(commit), message.sequence))
}

/// Stores the last commit of a partition once more, or `other` if that is further, unless it is of workers that judge as `other` says.
/// The server then refuses the next one of a worker that knows the one before.
pub(crate) async fn renew<B: Broker>(
    broker: &B,
    findings: &str,
    partition: u16,
    other: &Commit,
) -> Result<(), Failure> {
    loop {
        let (commit, revision) = last(broker, findings, partition).await?;
        if commit.as_ref().is_some_and(|commit| commit.agreement == other.agreement) {
            return Ok(());
        }
        let further = commit.filter(|commit| commit.sequence >= other.sequence).unwrap_or_else(|| other.clone());
        let commit = Commit { agreement: other.agreement.clone(), ..further };
        match broker.store(vec![commit.message(partition, revision, &[])?], "a commit").await {
            // Another one has come meanwhile.
            Err(Failure::Fenced(_)) => {}
            stored => return stored.map(drop),
        }
    }
}

/// Reads a commit. The error says what is wrong and how to fix it.
fn read(message: &Stored, stream: &str) -> Result<Commit, String> {
    /// The part that all versions have.
    #[derive(Deserialize)]
    struct Versioned {
        version: u8,
    }
    let expected = Commit::VERSION;
    let not_a_commit = |why: &dyn std::fmt::Display| {
        format!("is not a commit ({why}); remove it: nats stream rmm {stream} {}", message.sequence)
    };
    let text =
        message.headers.get(COMMIT_HEADER).ok_or_else(|| not_a_commit(&format!("no header `{COMMIT_HEADER}`")))?;
    match serde_json::from_str(text.as_str()).map_err(|error| not_a_commit(&error))? {
        Versioned { version } if version != expected => Err(format!(
            "is a commit of version {version}; expected version {expected}: run the version of `omen worker` that stored it, or delete the \
             stream and its buckets"
        )),
        _ => serde_json::from_str(text.as_str()).map_err(|error| not_a_commit(&error)),
    }
}

/// What a partition has found, and what of it is published.
#[derive(Debug)]
pub(crate) struct Outbox {
    partition: u16,
    /// What is published …
    committed: Commit,
    /// … and the number of its message in the stream of findings, or 0.
    revision: u64,
    committed_at: Instant,
    /// Findings that are not.
    pending: VecDeque<Reported>,
    pending_bytes: usize,
    /// The most bytes of findings in a commit, unless one finding has more.
    most: usize,
    /// Since when something is found and not committed.
    since: Option<Instant>,
}

impl Outbox {
    /// Begins with the last commit and its number, for a server that takes messages of this size.
    pub(crate) fn new(partition: u16, (committed, revision): (Commit, u64), max_payload: usize) -> Self {
        Self {
            partition,
            committed,
            revision,
            committed_at: Instant::now(),
            pending: VecDeque::new(),
            pending_bytes: 0,
            most: MOST_BYTES.min(max_payload.saturating_sub(ROOM)),
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

    /// Since when something is found and not committed.
    pub(crate) fn since(&self) -> Option<Instant> {
        self.since
    }

    /// Adds findings, without those that are published.
    pub(crate) fn add(&mut self, found: Vec<Reported>) {
        for finding in found.into_iter().filter(|finding| !self.committed.covers(finding)) {
            self.pending_bytes += finding.body.len() + 1;
            self.pending.push_back(finding);
            self.since.get_or_insert_with(Instant::now);
        }
    }

    /// Whether a commit is full.
    pub(crate) fn is_full(&self) -> bool {
        !self.is_empty() && (self.pending.len() >= MOST || self.pending_bytes >= self.most)
    }

    /// Whether nothing is to be committed.
    pub(crate) fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// How long until the next commit is due; `None` if there is nothing to commit.
    pub(crate) fn due_in(&self) -> Option<Duration> {
        (!self.is_empty()).then(|| SOON.saturating_sub(self.committed_at.elapsed()))
    }

    /// Publishes as many findings as a commit takes, and returns them. The commit is `next`, with what depends on them.
    pub(crate) async fn commit_some<B: Broker>(&mut self, broker: &B, next: Commit) -> Result<Vec<Reported>, Failure> {
        let mut bytes = 0;
        let fits = |(number, one): &(usize, &Reported)| {
            bytes += one.body.len() + 1;
            *number == 0 || *number < MOST && bytes <= self.most
        };
        // They stay where they are until they are stored: what is lost on the way is not committed.
        let count = self.pending.iter().enumerate().take_while(fits).count();
        let findings: Vec<Reported> = self.pending.range(..count).cloned().collect();
        let last = findings.last().map(|last| (last.sequence, last.ordinal));
        let (sequence, findings_of_last) = match (last, self.pending.get(count)) {
            // The rest of this message is in the next commit.
            (Some((sequence, ordinal)), Some(rest)) if rest.sequence == sequence => (sequence, Some(ordinal + 1)),
            (Some((sequence, _)), Some(_)) => (sequence, None),
            (_, None) => (next.sequence, None),
            (None, Some(_)) => return Ok(findings),
        };
        let commit = Commit { sequence, findings_of_last, ..next };
        let message = commit.message(self.partition, self.revision, &findings)?;
        let what = format!("the findings of partition {}", self.partition);
        self.revision = broker.store(vec![message], &what).await?;
        let stored = self.pending.drain(..count).map(|finding| finding.body.len() + 1).sum();
        self.pending_bytes = self.pending_bytes.saturating_sub(stored);
        (self.committed, self.committed_at) = (commit, Instant::now());
        // What is left keeps the earlier time, an upper bound.
        self.since = self.since.filter(|_| !self.is_empty());
        Ok(findings)
    }
}

/// The most findings of a commit …
const MOST: usize = 500;

/// … and the most bytes of them.
const MOST_BYTES: usize = 1024 * 1024;

/// Room for the subject and headers of a commit.
const ROOM: usize = 16 * 1024;

/// Findings are committed so often. After a pause, they are committed at once.
const SOON: Duration = Duration::from_millis(50);

/// What stands in the place of the worst severity if a commit has no findings.
const NO_FINDINGS: &str = "none";

/// Which subjects the expectation of the last message is about.
const EXPECTED_SUBJECT: &str = "Nats-Expected-Last-Subject-Sequence-Subject";

#[cfg(test)]
mod tests {
    use omen::Code;

    use super::*;

    fn reported(sequence: u64, ordinal: u64) -> Reported {
        Reported { sequence, ordinal, severity: Severity::Error, code: Code::Json, body: Vec::new() }
    }

    #[test]
    fn a_commit_covers_what_was_published_and_nothing_else() {
        let whole = Commit { sequence: 7, ..Commit::default() };
        assert!(whole.covers(&reported(6, 9)) && whole.covers(&reported(7, 9)) && !whole.covers(&reported(8, 0)));
        let part = Commit { findings_of_last: Some(2), ..whole.clone() };
        assert!(part.covers(&reported(6, 9)) && part.covers(&reported(7, 1)) && !part.covers(&reported(7, 2)));
        assert_eq!((whole.complete(), part.complete()), (7, 6));
    }
}
