//! The commit of a partition: up to which message its findings are published.
//!
//! It is the last message of an atomic batch with the findings. The server takes it only if the commit before is the one that the
//! worker knows, so one of two workers succeeds.

use async_nats::HeaderMap;
use async_nats::jetstream::Context;
use async_nats::jetstream::stream::{LastRawMessageErrorKind, Stream};
use serde::{Deserialize, Serialize};

use crate::ask::ask;
use crate::batch::{self, Outgoing};
use crate::failure::{During as _, Failure};
use crate::judge::{Counts, KnownMessage, Reported};
use crate::names;

/// What is in `omen.verdicts.PARTITION`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Commit {
    /// The version of this form.
    pub(crate) version: u8,
    /// The stream of packets …
    pub(crate) stream: String,
    /// … and a message of it: another one may have its name later.
    pub(crate) seen: Option<KnownMessage>,
    /// The partition, from 0.
    pub(crate) partition: u16,
    /// Of so many.
    pub(crate) partitions: u16,
    /// Up to this message of the stream, the partition was judged.
    pub(crate) sequence: u64,
    /// If only some findings of this message are published: how many. A message may have more than fit in a batch.
    pub(crate) findings_of_last: Option<u64>,
    /// What was judged in the partition since its beginning.
    #[serde(flatten)]
    pub(crate) counts: Counts,
    /// A hash of how the worker judges.
    pub(crate) agreement: String,
    /// The worker, for people.
    pub(crate) worker: String,
}

impl Commit {
    /// The version of the form.
    pub(crate) const VERSION: u8 = 2;

    /// The message that stores it, if the last commit of its partition is the one with this number in the stream of findings.
    pub(crate) fn message(&self, revision: u64) -> Result<Outgoing, Failure> {
        let mut headers = HeaderMap::new();
        headers.insert(async_nats::header::NATS_EXPECTED_LAST_SUBJECT_SEQUENCE, revision.to_string());
        // The commits before it are of no use to anybody: only the last one is kept.
        headers.insert(async_nats::header::NATS_ROLLUP, "sub");
        let body = serde_json::to_vec(self).during("write a commit")?.into();
        Ok(Outgoing { subject: names::verdicts(self.partition), headers, body })
    }

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

    /// Whether everything of a message is published.
    pub(crate) fn is_beyond(&self, sequence: u64) -> bool {
        self.sequence > sequence || self.sequence == sequence && self.findings_of_last.is_none()
    }
}

/// The last commit of a partition, and its own sequence in the stream of findings, which the next one must expect.
pub(crate) async fn last(findings: &Stream, partition: u16) -> Result<(Option<Commit>, u64), Failure> {
    let what = "read the last commit";
    let subject = names::verdicts(partition);
    match ask(|| findings.get_last_raw_message_by_subject(&subject)).await {
        Ok(message) => {
            let (name, sequence) = (&findings.cached_info().config.name, message.sequence);
            let commit = read(&message.payload, name, sequence).map_err(|why| {
                Failure::Refused(format!("message {sequence} of the stream `{name}`, on `{subject}`, {why}"))
            })?;
            Ok((Some(commit), sequence))
        }
        Err(error) if matches!(error.kind(), LastRawMessageErrorKind::NoMessageFound) => Ok((None, 0)),
        Err(error) => Err(Failure::server(what)(&error)),
    }
}

/// Stores the last commit of a partition once more, or an empty one, if it is not of workers that judge in this manner. The server then
/// refuses the next one of a worker that knows the one before.
pub(crate) async fn renew(context: &Context, findings: &Stream, empty: &Commit) -> Result<(), Failure> {
    loop {
        let (commit, revision) = last(findings, empty.partition).await?;
        if commit.as_ref().is_some_and(|commit| commit.agreement == empty.agreement) {
            return Ok(());
        }
        let commit = Commit { agreement: empty.agreement.clone(), ..commit.unwrap_or_else(|| empty.clone()) };
        match batch::store(context, vec![commit.message(revision)?], "a commit").await {
            // Another one has come meanwhile.
            Err(Failure::Fenced(_)) => {}
            stored => return stored.map(drop),
        }
    }
}

/// Reads a commit. The error says what is wrong and how to fix it.
fn read(payload: &[u8], stream: &str, sequence: u64) -> Result<Commit, String> {
    /// The part that all versions have.
    #[derive(Deserialize)]
    struct Versioned {
        version: u8,
    }
    let expected = Commit::VERSION;
    let not_a_commit = |error| format!("is not a commit ({error}); remove it: nats stream rmm {stream} {sequence}");
    match serde_json::from_slice(payload).map_err(not_a_commit)? {
        Versioned { version } if version != expected => Err(format!(
            "is a commit of version {version}; expected version {expected}: run the version of `omen worker` that stored it, or name \
             other streams"
        )),
        _ => serde_json::from_slice(payload).map_err(not_a_commit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_covers_what_was_published_and_nothing_else() {
        let reported = |sequence, ordinal| Reported { sequence, ordinal, subject: String::new(), body: Vec::new() };
        let whole = Commit { sequence: 7, ..Commit::default() };
        assert!(whole.covers(&reported(6, 9)) && whole.covers(&reported(7, 9)) && !whole.covers(&reported(8, 0)));
        assert!(whole.is_beyond(7) && !whole.is_beyond(8));
        let part = Commit { findings_of_last: Some(2), ..whole };
        assert!(part.covers(&reported(6, 9)) && part.covers(&reported(7, 1)) && !part.covers(&reported(7, 2)));
        assert!(part.is_beyond(6) && !part.is_beyond(7));
        assert_eq!((Commit { findings_of_last: None, ..part.clone() }.complete(), part.complete()), (7, 6));
    }
}
