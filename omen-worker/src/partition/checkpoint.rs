//! Checkpoints: what a partition remembers, in the bucket.
//!
//! A checkpoint shortens the replay after a crash, and nothing depends on it: it is written after the commit of the same message,
//! and a worker that finds none replays the stream. Its bytes are cut into values that a server takes. They are written first,
//! under names that no other checkpoint has; then the *head* names them, if it is still the head that the worker knows; then the
//! values of older checkpoints are removed. So a worker that stops anywhere leaves a checkpoint that is whole.

use std::time::Duration;

use bytes::Bytes;
use omen::validator::ValidatorOptions;
use serde::{Deserialize, Serialize};
use tokio::time::sleep;

use super::judge::{Judge, KnownMessage};
use crate::failure::{During as _, Failure};
use crate::names;
use crate::stream::broker::Broker;
use crate::stream::bucket::Bucket;

/// What names the values of a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
struct Head {
    version: u8,
    partitions: u16,
    /// A hash of how its worker judges.
    agreement: String,
    /// From the message after this one, the stream is judged again.
    sequence: u64,
    /// Up to this message, the partition was judged, and what was found is published.
    judged: KnownMessage,
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
pub(crate) struct Checkpoints<B> {
    broker: B,
    bucket: Bucket<B>,
    partition: u16,
    partitions: u16,
    /// A hash of how this worker judges.
    agreement: String,
    /// The head that this worker knows, unless it is of workers that judge in another manner …
    head: Option<Head>,
    /// … and its revision.
    revision: u64,
}

impl<B: Broker> Checkpoints<B> {
    pub(crate) fn new(broker: B, bucket: Bucket<B>, (partition, partitions): (u16, u16), agreement: String) -> Self {
        Self { broker, bucket, partition, partitions, agreement, head: None, revision: 0 }
    }

    /// Reads the last checkpoint.
    pub(crate) async fn load(&mut self, stream: &str, options: &ValidatorOptions) -> Result<Option<Judge>, Failure> {
        for attempt in 0..ATTEMPTS {
            if attempt > 0 {
                sleep(PAUSE).await;
            }
            let Some(head) = self.read().await?.filter(|head| head.agreement == self.agreement) else {
                self.head = None;
                return Ok(None);
            };
            let bytes = self.values(&head).await?;
            if bytes.len() != head.bytes || names::hash(&bytes) != head.seal {
                // Another worker may have replaced it meanwhile, or the server that answers does not have all of it yet.
                continue;
            }
            let places = (self.partition, self.partitions);
            let mut judge = Judge::restore(stream, places, &bytes, options.clone())
                .map_err(|error| self.refused(&format!("cannot be restored: {error}")))?;
            judge.sequence = judge.sequence.max(head.sequence);
            self.head = Some(head);
            return Ok(Some(judge));
        }
        Err(self.refused("is damaged"))
    }

    /// Reads up to which message the partition was judged by the workers that wrote the last checkpoint, however they judge.
    pub(crate) async fn last_judged(&mut self) -> Result<Option<KnownMessage>, Failure> {
        Ok(self.read().await?.map(|head| head.judged))
    }

    /// Up to which message the partition was judged, by what was loaded or written here.
    pub(crate) fn judged(&self) -> Option<KnownMessage> {
        self.head.as_ref().map(|head| head.judged)
    }

    async fn read(&mut self) -> Result<Option<Head>, Failure> {
        let (value, revision) = self.bucket.get(&self.key()).await?;
        self.revision = revision;
        let Some(value) = value else { return Ok(None) };
        let head = Head::read(&value).ok_or_else(|| self.refused("is damaged, or of another version"))?;
        if head.version != VERSION {
            let found = head.version;
            return Err(self.refused(&format!("is of version {found}; expected version {VERSION}")));
        }
        if head.partitions != self.partitions {
            let found = head.partitions;
            return Err(self.refused(&format!("is for {found} partitions; expected {}", self.partitions)));
        }
        Ok(Some(head))
    }

    async fn values(&self, head: &Head) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::with_capacity(head.bytes.min(LARGEST_VALUE));
        for value in 0..head.values {
            match self.bucket.get(&self.value_key(&head.generation, value)).await?.0 {
                Some(value) => bytes.extend_from_slice(&value),
                None => break,
            }
        }
        Ok(bytes)
    }

    /// Checks that the last commit of the partition, with this number in the stream of findings, is not older than the one that the
    /// checkpoint follows. Without a commit (0), the stream must begin behind it, for old messages may expire.
    pub(crate) fn follows(&self, revision: u64, first: u64) -> Result<(), Failure> {
        let Some(Head { commit, .. }) = &self.head else { return Ok(()) };
        if revision >= *commit || revision == 0 && first > *commit {
            return Ok(());
        }
        Err(self.findings_are_older(*commit))
    }

    /// The last commit of the partition is older than one that was known, with this number in the stream of findings.
    pub(crate) fn findings_are_older(&self, commit: u64) -> Failure {
        let (partition, bucket, key) = (self.partition, &self.bucket.name, self.key());
        Failure::Refused(format!(
            "the last commit of partition {partition} is older than the commit that its checkpoint follows (message {commit} of the \
             findings): the findings were restored from an older copy, or lost what was not on the disk; to judge the stream again, \
             delete the key `{key}` of the bucket `{bucket}`; findings that are still stored are not published again"
        ))
    }

    /// Writes a checkpoint, and returns how many bytes it has. `commit` is the number of the last commit, which covers all of it.
    ///
    /// # Errors
    /// [`Failure::Fenced`] if another worker has written one.
    pub(crate) async fn save(
        &mut self,
        judge: &mut Judge,
        judged: KnownMessage,
        commit: u64,
    ) -> Result<usize, Failure> {
        let bytes = Bytes::from(judge.snapshot());
        // A name that nobody else has, in what a bucket takes as a key.
        let generation = format!("{}-{}", judge.sequence, self.broker.unique());
        let largest_value = self.broker.max_payload().saturating_sub(ROOM).clamp(1, LARGEST_VALUE);
        let mut values = 0;
        for start in (0..bytes.len()).step_by(largest_value) {
            let value = bytes.slice(start..bytes.len().min(start + largest_value));
            self.bucket.put(&self.value_key(&generation, values), value).await?;
            values += 1;
        }
        let head = Head {
            version: VERSION,
            partitions: self.partitions,
            agreement: self.agreement.clone(),
            sequence: judge.sequence,
            judged,
            commit,
            generation: generation.clone(),
            values,
            bytes: bytes.len(),
            seal: names::hash(&bytes),
        };
        // What is there now and is not of this checkpoint: when the head names this one, nobody can name that any more, since the
        // head that its writer knows is not the last one then. What another worker writes from then on is not in the list.
        let ours = self.value_key(&generation, "");
        let there = self.bucket.keys(&format!("value.{}.>", self.partition)).await?;
        self.write(head).await?;
        for key in there.iter().filter(|key| !key.starts_with(&ours)) {
            self.bucket.remove(key).await?;
        }
        Ok(bytes.len())
    }

    /// Notes up to which message the partition is judged, and whether nothing has changed since the checkpoint: then the stream is
    /// judged again from there.
    ///
    /// # Errors
    /// As [`save`](Self::save).
    pub(crate) async fn note(&mut self, judged: KnownMessage, commit: u64, is_unchanged: bool) -> Result<(), Failure> {
        let Some(head) = &self.head else { return Ok(()) };
        let sequence = if is_unchanged { judged.sequence } else { head.sequence };
        self.write(Head { sequence, judged, commit, ..head.clone() }).await
    }

    async fn write(&mut self, head: Head) -> Result<(), Failure> {
        let value = Bytes::from(head.sealed().during("write the head of a checkpoint")?);
        self.revision = self.bucket.update(&self.key(), value, self.revision).await?;
        self.head = Some(head);
        Ok(())
    }

    fn key(&self) -> String {
        format!("checkpoint.{}", self.partition)
    }

    fn value_key(&self, generation: &str, value: impl std::fmt::Display) -> String {
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
const VERSION: u8 = 4;

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
    use super::{Head, KnownMessage, VERSION, names};

    #[test]
    fn each_changed_bit_of_a_head_shows() {
        let head = Head {
            version: VERSION,
            partitions: 64,
            agreement: names::hash("y"),
            sequence: 123,
            judged: KnownMessage { sequence: 124, time: 7 },
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
