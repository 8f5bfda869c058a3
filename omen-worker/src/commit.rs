//! The commit of a partition: up to which message its findings are published.
//!
//! It is the last message of an atomic batch with the findings. The server takes it only if the commit before is the one that the
//! worker knows, so one of two workers succeeds.

use async_nats::jetstream::stream::{LastRawMessageErrorKind, Stream};
use serde::{Deserialize, Serialize};

use crate::ask::ask;
use crate::failure::{During as _, Failure};
use crate::judge::{Counts, Reported};
use crate::names;

/// What is in `omen.verdicts.PARTITION`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Commit {
    /// The version of this form.
    pub(crate) version: u8,
    /// The stream of packets.
    pub(crate) stream: String,
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
    /// The worker, for people.
    pub(crate) worker: String,
}

impl Commit {
    /// The version of the form.
    pub(crate) const VERSION: u8 = 1;

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
            let commit: Commit = serde_json::from_slice(&message.payload).during(what)?;
            if commit.version != Commit::VERSION {
                let (found, expected) = (commit.version, Commit::VERSION);
                return Err(Failure::Refused(format!(
                    "a commit of version {found} in partition {partition}; expected version {expected}"
                )));
            }
            Ok((Some(commit), message.sequence))
        }
        Err(error) if matches!(error.kind(), LastRawMessageErrorKind::NoMessageFound) => Ok((None, 0)),
        Err(error) => Err(Failure::server(what)(&error)),
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
    }
}
