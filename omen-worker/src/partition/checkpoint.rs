//! Checkpoints: the state of a partition, stored in the bucket.
//!
//! A checkpoint shortens the replay after a crash, and nothing depends on it: it is written after the commit of the same message,
//! and a worker without one replays the stream.
//!
//! A checkpoint is split into values of a size that the server accepts. They are written first, under unique names. Then the
//! *head* that lists them is written, if the stored head is still the one that the worker knows, and the values of older
//! checkpoints are removed. So a worker that stops at any point leaves a complete checkpoint.

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

/// Head of a checkpoint, which identifies its values.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
struct Head {
    version: u8,
    partitions: u16,
    /// Hash of the rules of the worker that wrote it.
    agreement: String,
    /// Number of the last message that the snapshot covers. The stream is judged again after it.
    sequence: u64,
    /// Last message up to which the partition was judged and its findings were published.
    judged: KnownMessage,
    /// Number of the partition's last commit in the stream of findings, or 0.
    commit: u64,
    /// Common prefix of the names of the values.
    generation: String,
    values: usize,
    bytes: usize,
    /// Hash of the snapshot.
    seal: String,
}

impl Head {
    /// Returns the stored form: a hash, then the head. The hash detects a wrong sequence, which would silently skip packets.
    fn sealed(&self) -> serde_json::Result<String> {
        let text = serde_json::to_string(self)?;
        Ok(names::hash(&text) + &text)
    }

    /// Parses the stored form; `None` if its hash does not match.
    fn read(stored: &[u8]) -> Option<Self> {
        let (seal, text) = stored.split_at_checked(names::HASH_LENGTH)?;
        (seal == names::hash(text).as_bytes()).then(|| serde_json::from_slice(text).ok())?
    }
}

/// Checkpoints of a partition.
#[derive(Debug)]
pub(crate) struct Checkpoints<B> {
    broker: B,
    bucket: Bucket<B>,
    partition: u16,
    partitions: u16,
    /// Hash of this worker's rules.
    agreement: String,
    /// Last head that this worker has read or written, unless it was written under other rules.
    head: Option<Head>,
    /// Revision of the stored head in the bucket.
    revision: u64,
}

impl<B: Broker> Checkpoints<B> {
    pub(crate) fn new(broker: B, bucket: Bucket<B>, (partition, partitions): (u16, u16), agreement: String) -> Self {
        Self { broker, bucket, partition, partitions, agreement, head: None, revision: 0 }
    }

    /// Loads the last checkpoint.
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
                // Another worker may be replacing it, or this server does not have all of it yet.
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

    /// Returns the last message up to which the partition was judged according to the stored head, under any rules.
    pub(crate) async fn last_judged(&mut self) -> Result<Option<KnownMessage>, Failure> {
        Ok(self.read().await?.map(|head| head.judged))
    }

    /// Returns the last message up to which the partition was judged, as loaded or written here.
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

    /// Checks that the partition's last commit, `revision` in the stream of findings, is not older than the commit on which the
    /// checkpoint is based. Without a commit (0), the stream must begin after that commit, because old messages may expire.
    pub(crate) fn follows(&self, revision: u64, first: u64) -> Result<(), Failure> {
        let Some(Head { commit, .. }) = &self.head else { return Ok(()) };
        if revision >= *commit || revision == 0 && first > *commit {
            return Ok(());
        }
        Err(self.findings_are_older(*commit))
    }

    /// Returns the error for findings whose last commit is older than the known one. `commit` is its number in the stream of
    /// findings.
    pub(crate) fn findings_are_older(&self, commit: u64) -> Failure {
        let (partition, bucket, key) = (self.partition, &self.bucket.name, self.key());
        Failure::Refused(format!(
            "the last commit of partition {partition} is older than the commit that its checkpoint follows (message \
             {commit} of the findings): the findings were restored from an older copy, or lost data that was not yet \
             on disk; to judge the stream again, delete the key `{key}` of the bucket `{bucket}`; findings that are \
             still stored are not published again"
        ))
    }

    /// Writes a checkpoint, and returns its size in bytes. `commit` is the number of the last commit, which must cover all of it.
    ///
    /// # Errors
    /// [`Failure::Fenced`] if another worker has written a checkpoint.
    pub(crate) async fn save(
        &mut self,
        judge: &mut Judge,
        judged: KnownMessage,
        commit: u64,
    ) -> Result<usize, Failure> {
        let bytes = Bytes::from(judge.snapshot());
        // A unique name, made of characters that are valid in a key of a bucket.
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
        // Values of other checkpoints. Once the head refers to this checkpoint, no other head can refer to them: a writer with an
        // older head is refused. Values that another worker writes from then on are not in the list.
        let ours = self.value_key(&generation, "");
        let there = self.bucket.keys(&format!("value.{}.>", self.partition)).await?;
        self.write(head).await?;
        for key in there.iter().filter(|key| !key.starts_with(&ours)) {
            self.bucket.remove(key).await?;
        }
        Ok(bytes.len())
    }

    /// Records the last message that was judged, and whether the state is the same as in the checkpoint. If it is the same, a
    /// replay begins after that message.
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

/// Version of the stored form.
const VERSION: u8 = 4;

/// Number of attempts to read a checkpoint that another worker may be replacing.
const ATTEMPTS: usize = 5;

/// Pause between these attempts.
const PAUSE: Duration = Duration::from_millis(200);

/// Largest value in bytes: half of the default message limit of a server.
const LARGEST_VALUE: usize = 512 * 1024;

/// Bytes reserved for the headers of a message.
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
