//! Unpublished findings, and the commits that publish them.
//!
//! A commit is one message: its lines are findings, and a header states up to which message of the stream the findings are
//! complete. The server accepts it only if the partition's last commit is the one that the worker knows, so one of two workers
//! succeeds. Messages without findings are not committed: the next owner judges them again, and finds nothing.

use std::collections::VecDeque;
use std::time::Duration;

use async_nats::HeaderMap;
use omen::Severity;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::judge::{KnownMessage, OutgoingFinding};
use crate::failure::{During as _, Failure};
use crate::names::{self, COMMIT_HEADER};
use crate::stream::broker::{self, Broker, Outgoing, StoredMessage};

/// Position up to which the findings of a partition are published.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Commit {
    /// Version of the stored form.
    pub(crate) version: u8,
    /// A message of the stream of packets that identifies it, since another stream may later have the same name.
    pub(crate) seen: Option<KnownMessage>,
    /// Number of partitions.
    pub(crate) partitions: u16,
    /// Last message of the stream that was judged.
    pub(crate) sequence: u64,
    /// Number of published findings of the last message, if only some are published. A message may have more findings than fit in
    /// a commit.
    pub(crate) findings_of_last: Option<u64>,
    /// Hash of the worker's rules.
    pub(crate) agreement: String,
    /// Name of the worker, for operators.
    pub(crate) worker: String,
}

impl Commit {
    /// Version of the stored form.
    pub(crate) const VERSION: u8 = 3;

    /// Returns the last message whose findings are all published.
    pub(crate) fn complete(&self) -> u64 {
        self.sequence - u64::from(self.findings_of_last.is_some() && self.sequence > 0)
    }

    /// Returns whether a finding has been published.
    pub(crate) fn covers(&self, finding: &OutgoingFinding) -> bool {
        match finding.sequence.cmp(&self.sequence) {
            std::cmp::Ordering::Less => true,
            std::cmp::Ordering::Equal => self.findings_of_last.is_none_or(|count| finding.ordinal < count),
            std::cmp::Ordering::Greater => false,
        }
    }

    /// Returns the message that publishes this commit with its findings. `revision` is the number of the partition's last commit,
    /// which the server must expect.
    fn message(&self, partition: u16, revision: u64, findings: &[OutgoingFinding]) -> Result<Outgoing, Failure> {
        let worst = findings.iter().map(|finding| finding.severity).max();
        let subject = format!("{}.{partition}.{}", names::FINDINGS, worst.map_or(NO_FINDINGS, Severity::as_str));
        let mut headers = HeaderMap::new();
        headers.insert(COMMIT_HEADER, serde_json::to_string(self).during("write a commit")?);
        headers.insert(EXPECTED_SUBJECT, names::findings_of(partition));
        let lines: Vec<&[u8]> = findings.iter().map(|finding| &finding.body[..]).collect();
        Ok(broker::after(Outgoing { subject, headers, body: lines.join(&b'\n').into() }, revision))
    }
}

/// Reads the last commit of a partition, and its number in the stream of findings, which the next commit must expect.
pub(crate) async fn last<B: Broker>(
    broker: &B,
    findings: &str,
    partition: u16,
) -> Result<(Option<Commit>, u64), Failure> {
    let Some(message) = broker.last(findings, &names::findings_of(partition)).await? else { return Ok((None, 0)) };
    let StoredMessage { subject, sequence, .. } = &message;
    let commit = read(&message, findings).map_err(|why| {
        Failure::Refused(format!("message {sequence} of the stream `{findings}`, on `{subject}`, {why}"))
    })?;
    Ok((Some(commit), message.sequence))
}

/// Stores the last commit of a partition again, or `other` if that covers more, unless the last commit was made under the rules
/// of `other`. The server then refuses the next commit of a worker that knows only the earlier one.
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
            // Another commit has been stored meanwhile.
            Err(Failure::Fenced(_)) => {}
            stored => return stored.map(drop),
        }
    }
}

/// Parses a commit. The error states the problem and the fix.
fn read(message: &StoredMessage, stream: &str) -> Result<Commit, String> {
    /// Fields that all versions have.
    #[derive(Deserialize)]
    struct VersionHeader {
        version: u8,
    }
    let expected = Commit::VERSION;
    let not_a_commit = |why: &dyn std::fmt::Display| {
        format!("is not a commit ({why}); remove it: nats stream rmm {stream} {}", message.sequence)
    };
    let text =
        message.headers.get(COMMIT_HEADER).ok_or_else(|| not_a_commit(&format!("no header `{COMMIT_HEADER}`")))?;
    match serde_json::from_str(text.as_str()).map_err(|error| not_a_commit(&error))? {
        VersionHeader { version } if version != expected => Err(format!(
            "is a commit of version {version}; expected version {expected}: run the version of `omen worker` that stored it, or delete the \
             stream and its buckets"
        )),
        _ => serde_json::from_str(text.as_str()).map_err(|error| not_a_commit(&error)),
    }
}

/// Findings of a partition that are not published yet, and the last commit.
#[derive(Debug)]
pub(crate) struct Outbox {
    partition: u16,
    /// The last commit.
    committed: Commit,
    /// Number of its message in the stream of findings, or 0.
    pub(crate) revision: u64,
    committed_at: Instant,
    /// Unpublished findings, in order.
    pending: VecDeque<OutgoingFinding>,
    pending_bytes: usize,
    /// Maximum size of the findings of a commit in bytes. A single larger finding is committed alone.
    most: usize,
    /// Time of the oldest unpublished finding.
    since: Option<Instant>,
}

impl Outbox {
    /// Creates an outbox after the last commit and its number, for a server with this message limit in bytes.
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

    pub(crate) fn committed(&self) -> &Commit {
        &self.committed
    }

    /// Returns the time of the oldest unpublished finding.
    pub(crate) fn since(&self) -> Option<Instant> {
        self.since
    }

    /// Adds findings, except those that have been published.
    pub(crate) fn add(&mut self, found: Vec<OutgoingFinding>) {
        for finding in found.into_iter().filter(|finding| !self.committed.covers(finding)) {
            self.pending_bytes += finding.body.len() + 1;
            self.pending.push_back(finding);
            self.since.get_or_insert_with(Instant::now);
        }
    }

    /// Returns whether the pending findings fill a commit.
    pub(crate) fn is_full(&self) -> bool {
        !self.is_empty() && (self.pending.len() >= MOST || self.pending_bytes >= self.most)
    }

    /// Returns whether there is nothing to commit.
    pub(crate) fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// Returns the time until the next commit is due; `None` if there is nothing to commit.
    pub(crate) fn due_in(&self) -> Option<Duration> {
        (!self.is_empty()).then(|| SOON.saturating_sub(self.committed_at.elapsed()))
    }

    /// Publishes as many findings as fit in a commit, and returns them. The commit is `next`, adjusted to those findings.
    pub(crate) async fn commit_some<B: Broker>(
        &mut self,
        broker: &B,
        next: Commit,
    ) -> Result<Vec<OutgoingFinding>, Failure> {
        let mut bytes = 0;
        let fits = |(number, one): &(usize, &OutgoingFinding)| {
            bytes += one.body.len() + 1;
            *number == 0 || *number < MOST && bytes <= self.most
        };
        // Findings stay in the queue until the server has stored them, because a request can be lost.
        let count = self.pending.iter().enumerate().take_while(fits).count();
        let findings: Vec<OutgoingFinding> = self.pending.range(..count).cloned().collect();
        let last = findings.last().map(|last| (last.sequence, last.ordinal));
        let (sequence, findings_of_last) = match (last, self.pending.get(count)) {
            // The remaining findings of this message go into the next commit.
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
        // The remaining findings keep the earlier time, an upper bound of their age.
        self.since = self.since.filter(|_| !self.is_empty());
        Ok(findings)
    }
}

/// Maximum number of findings in a commit.
const MOST: usize = 500;

/// Maximum size of these findings in bytes.
const MOST_BYTES: usize = 1024 * 1024;

/// Bytes reserved for the subject and headers of a commit.
const ROOM: usize = 16 * 1024;

/// Minimum interval between commits. After a pause, findings are committed at once.
const SOON: Duration = Duration::from_millis(50);

/// Token in place of the worst severity in the subject of a commit without findings.
const NO_FINDINGS: &str = "none";

/// Header with the subjects to which the expectation of the last message applies.
const EXPECTED_SUBJECT: &str = "Nats-Expected-Last-Subject-Sequence-Subject";

#[cfg(test)]
mod tests {
    use omen::Code;

    use super::*;

    fn reported(sequence: u64, ordinal: u64) -> OutgoingFinding {
        OutgoingFinding { sequence, ordinal, severity: Severity::Error, code: Code::Json, body: Vec::new() }
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
