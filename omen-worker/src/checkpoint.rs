//! Checkpoints: what a partition remembers, in the bucket.
//!
//! A checkpoint shortens the replay after a crash, and nothing depends on it: it is written after the commit of the same message,
//! and a worker that finds none replays the stream. Its bytes are cut into values that a server takes. They are written first,
//! under names that no other checkpoint has; then the *head* names them, if it is still the head that the worker knows; then the
//! values of older checkpoints are removed. So a worker that stops anywhere leaves a checkpoint that is whole.

use std::time::Duration;

use async_nats::Client;
use async_nats::jetstream::kv::{CreateErrorKind, Store, UpdateErrorKind};
use bytes::Bytes;
use futures_util::TryStreamExt as _;
use omen::validator::ValidatorOptions;
use serde::{Deserialize, Serialize};
use tokio::time::sleep;

use crate::ask::ask;
use crate::failure::{During as _, Failure};
use crate::judge::Judge;
use crate::latest::latest;
use crate::names;

/// What names the values of a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
struct Head {
    version: u8,
    partitions: u16,
    /// A hash of how its worker judges.
    agreement: String,
    /// Up to this message, the partition was judged, also where the last ones are of other partitions.
    sequence: u64,
    /// The commit that was the last one: its number in the stream of findings, or 0.
    commit: u64,
    /// The name of the values.
    generation: String,
    values: usize,
    bytes: usize,
    /// A hash of the bytes.
    seal: String,
}

impl Head {
    /// What is stored: its hash, then itself. A wrong sequence would leave packets out, and nobody would notice.
    fn sealed(&self) -> serde_json::Result<String> {
        let text = serde_json::to_string(self)?;
        Ok(names::hash(&text) + &text)
    }

    /// Reads what is stored, if it is as it was written.
    fn read(stored: &[u8]) -> Option<Self> {
        let (seal, text) = stored.split_at_checked(names::HASH_LENGTH)?;
        (seal == names::hash(text).as_bytes()).then(|| serde_json::from_slice(text).ok())?
    }
}

/// The checkpoints of a partition.
#[derive(Debug)]
pub(crate) struct Checkpoints {
    bucket: Store,
    partition: u16,
    partitions: u16,
    /// A hash of how this worker judges.
    agreement: String,
    /// The head that this worker knows, and its revision.
    head: Option<(Head, u64)>,
    /// The revision of a head that is ignored: it is of workers that judge in another manner.
    other: Option<u64>,
    client: Client,
}

impl Checkpoints {
    pub(crate) fn new(bucket: Store, (partition, partitions): (u16, u16), agreement: String, client: Client) -> Self {
        Self { bucket, partition, partitions, agreement, head: None, other: None, client }
    }

    /// Reads the last checkpoint.
    pub(crate) async fn load(&mut self, stream: &str, options: &ValidatorOptions) -> Result<Option<Judge>, Failure> {
        for attempt in 0..ATTEMPTS {
            if attempt > 0 {
                sleep(PAUSE).await;
            }
            let Some((value, revision)) = latest(&self.bucket, &self.key(), "read a checkpoint").await? else {
                self.head = None;
                return Ok(None);
            };
            let head = Head::read(&value).ok_or_else(|| self.refused("is damaged, or of another version"))?;
            if head.version != VERSION {
                let found = head.version;
                return Err(self.refused(&format!("is of version {found}; expected version {VERSION}")));
            }
            if head.partitions != self.partitions {
                let found = head.partitions;
                return Err(self.refused(&format!("is one of {found}; expected one of {}", self.partitions)));
            }
            if head.agreement != self.agreement {
                (self.head, self.other) = (None, Some(revision));
                return Ok(None);
            }
            let bytes = self.values(&head).await?;
            if bytes.len() != head.bytes || names::hash(&bytes) != head.seal {
                // Another worker may have replaced it meanwhile, or the server that answers does not have all of it yet.
                continue;
            }
            let places = (self.partition, self.partitions);
            let mut judge = Judge::restore(stream, places, &bytes, options.clone())
                .map_err(|error| self.refused(&format!("cannot be restored: {error}")))?;
            judge.sequence = judge.sequence.max(head.sequence);
            self.head = Some((head, revision));
            return Ok(Some(judge));
        }
        Err(self.refused("is damaged"))
    }

    async fn values(&self, head: &Head) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::with_capacity(head.bytes.min(LARGEST_VALUE));
        for value in 0..head.values {
            let key = self.value_key(&head.generation, value);
            match ask(|| self.bucket.get(&key)).await.during("read a checkpoint")? {
                Some(value) => bytes.extend_from_slice(&value),
                None => break,
            }
        }
        Ok(bytes)
    }

    /// Checks that the last commit of the partition, with this number in the stream of findings, is not older than the one that the
    /// checkpoint follows. Without a commit (0), the stream must begin behind it, for old messages may expire.
    pub(crate) fn follows(&self, revision: u64, first: u64) -> Result<(), Failure> {
        let Some((Head { commit, .. }, _)) = &self.head else { return Ok(()) };
        if revision >= *commit || revision == 0 && first > *commit {
            return Ok(());
        }
        let (partition, bucket, key) = (self.partition, &self.bucket.name, self.key());
        Err(Failure::Refused(format!(
            "the last commit of partition {partition} is older than the commit that its checkpoint follows (message {commit} of the \
             findings): the findings were restored from an older copy, or lost what was not on the disk; to judge the stream again, \
             delete the key `{key}` of the bucket `{bucket}`; findings that are still stored are not published again"
        )))
    }

    /// Writes a checkpoint, and returns how many bytes it has. Up to the message `passed`, nothing else is of the partition.
    ///
    /// # Errors
    /// [`Failure::Fenced`] if another worker has written one.
    pub(crate) async fn save(&mut self, judge: &mut Judge, passed: u64, commit: u64) -> Result<usize, Failure> {
        let what = "write a checkpoint";
        let bytes = Bytes::from(judge.snapshot());
        // A name that nobody else has, in what a bucket takes as a key.
        let unique = self.client.new_inbox();
        let generation = format!("{}-{}", judge.sequence, unique.rsplit('.').next().unwrap_or_default());
        let largest_value = self.client.server_info().max_payload.saturating_sub(ROOM).clamp(1, LARGEST_VALUE);
        let mut values = 0;
        for start in (0..bytes.len()).step_by(largest_value) {
            let value = bytes.slice(start..bytes.len().min(start + largest_value));
            self.bucket.put(self.value_key(&generation, values), value).await.during(what)?;
            values += 1;
        }
        let head = Head {
            version: VERSION,
            partitions: self.partitions,
            agreement: self.agreement.clone(),
            sequence: judge.sequence.max(passed),
            commit,
            generation: generation.clone(),
            values,
            bytes: bytes.len(),
            seal: names::hash(&bytes),
        };
        // What is there now and is not of this checkpoint: when the head names this one, nobody can name that any more, since the
        // head that its writer knows is not the last one then. What another worker writes from then on is not in the list.
        let prefix = format!("$KV.{}.value.{}", self.bucket.name, self.partition);
        let ours = format!("{prefix}.{generation}.");
        let there = self.bucket.stream.info_with_subjects(format!("{prefix}.>")).await.during(what)?;
        let there: Vec<(String, usize)> = there.try_collect().await.during(what)?;
        self.write(head).await?;
        for (subject, _) in there.into_iter().filter(|(subject, _)| !subject.starts_with(&ours)) {
            self.bucket.stream.purge().filter(subject).await.during("remove a checkpoint")?;
        }
        Ok(bytes.len())
    }

    /// Notes that nothing has happened up to a message.
    ///
    /// # Errors
    /// As [`save`](Self::save).
    pub(crate) async fn advance(&mut self, sequence: u64, commit: u64) -> Result<(), Failure> {
        match &self.head {
            Some((head, _)) => self.write(Head { sequence, commit, ..head.clone() }).await,
            None => Ok(()),
        }
    }

    /// Whether there is one.
    pub(crate) fn is_any(&self) -> bool {
        self.head.is_some()
    }

    async fn write(&mut self, head: Head) -> Result<(), Failure> {
        let what = "write the head of a checkpoint";
        let value = Bytes::from(head.sealed().during(what)?);
        loop {
            let fenced = || Failure::Fenced(format!("the checkpoint of partition {}", self.partition));
            let known = self.head.as_ref().map(|(_, revision)| *revision).or(self.other);
            let written = match known {
                Some(revision) => {
                    self.bucket.update(self.key(), value.clone(), revision).await.map_err(|error| match error.kind() {
                        UpdateErrorKind::WrongLastRevision => fenced(),
                        _ => Failure::server(what)(&error),
                    })
                }
                None => self.bucket.create(self.key(), value.clone()).await.map_err(|error| match error.kind() {
                    CreateErrorKind::AlreadyExists => fenced(),
                    _ => Failure::server(what)(&error),
                }),
            };
            match written {
                Ok(revision) => {
                    self.head = Some((head, revision));
                    return Ok(());
                }
                // The last head of a worker that judged in another manner, and ends.
                Err(Failure::Fenced(_)) if self.head.is_none() && self.finds_other().await? => {}
                Err(failure) => return Err(failure),
            }
        }
    }

    /// Reads the head again, and notes its revision if it is a newer one of workers that judge in another manner.
    async fn finds_other(&mut self) -> Result<bool, Failure> {
        let Some((value, revision)) = latest(&self.bucket, &self.key(), "read a checkpoint").await? else {
            return Ok(false);
        };
        let is_other = Head::read(&value).is_some_and(|head| head.agreement != self.agreement);
        let is_new = is_other && self.other != Some(revision);
        self.other = if is_other { Some(revision) } else { self.other };
        Ok(is_new)
    }

    fn key(&self) -> String {
        format!("checkpoint.{}", self.partition)
    }

    fn value_key(&self, generation: &str, value: usize) -> String {
        format!("value.{}.{generation}.{value}", self.partition)
    }

    fn refused(&self, what: &str) -> Failure {
        let (key, bucket) = (self.key(), &self.bucket.name);
        Failure::Refused(format!(
            "the checkpoint of partition {} {what}; to judge the stream again from its beginning, delete the key `{key}` of the \
             bucket `{bucket}`: what was published is not published again",
            self.partition
        ))
    }
}

/// The version of the form.
const VERSION: u8 = 3;

/// How often a checkpoint is read that another worker may be replacing.
const ATTEMPTS: usize = 5;

/// How long to wait in between.
const PAUSE: Duration = Duration::from_millis(200);

/// The largest value: half of what a server takes in a message by default.
const LARGEST_VALUE: usize = 512 * 1024;

/// Room for headers in a message.
const ROOM: usize = 4 * 1024;

#[cfg(test)]
#[expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::{Head, VERSION, names};

    #[test]
    fn each_changed_bit_of_a_head_shows() {
        let head = Head {
            version: VERSION,
            partitions: 64,
            agreement: names::hash("y"),
            sequence: 123,
            commit: 45,
            generation: "123-abc".to_owned(),
            values: 1,
            bytes: 17,
            seal: names::hash("x"),
        };
        let stored = head.sealed().unwrap().into_bytes();
        assert_eq!(Head::read(&stored), Some(head));
        assert_eq!(Head::read(&stored[names::HASH_LENGTH..]), None, "without a hash, as they were written before");
        for bit in 0..stored.len() * 8 {
            let mut changed = stored.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Head::read(&changed), None, "bit {bit}");
        }
        for length in 0..stored.len() {
            assert_eq!(Head::read(&stored[..length]), None, "{length} bytes");
        }
    }
}
