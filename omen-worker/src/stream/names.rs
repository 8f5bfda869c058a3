//! The names on the server: streams, subjects and buckets.

use std::hash::Hasher as _;

pub use omen::log::{PACKETS, PARTITIONS_KEY, packets_of, partition_of, token};
use siphasher::sip128::{Hasher128 as _, SipHasher13};

/// The streams and buckets that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// Prefix of all names.
    pub prefix: String,
    /// The stream of findings.
    pub findings: String,
    /// The bucket of checkpoints, and of how far each reader of findings is.
    pub state: String,
    /// The bucket of the workers that are alive, whose entries expire.
    pub workers: String,
}

impl Names {
    /// Returns the names that begin with `prefix`.
    #[must_use]
    pub fn of(prefix: &str) -> Self {
        Self {
            prefix: prefix.to_owned(),
            findings: format!("{prefix}_FINDINGS"),
            state: format!("{prefix}_STATE"),
            workers: format!("{prefix}_WORKERS"),
        }
    }

    /// Returns the name of the stream that stores the packets of a partition.
    #[must_use]
    pub fn packets(&self, partition: u16) -> String {
        format!("{}_{partition}", self.prefix)
    }
}

/// Whether a name can be a key of a bucket: 1 to 64 letters, digits, `_` and `-`.
pub(crate) fn is_plain(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=64).contains(&name.len()) && name.bytes().all(is_plain)
}

/// How many characters a [`hash`] has.
pub(crate) const HASH_LENGTH: usize = 32;

/// Bytes in 128 bits of SipHash-1-3, in hexadecimal.
pub(crate) fn hash(bytes: impl AsRef<[u8]>) -> String {
    let mut hasher = SipHasher13::new();
    hasher.write(bytes.as_ref());
    format!("{:032x}", hasher.finish128().as_u128())
}

/// What only OMEN's own programs write into a stream of packets: parts for the partition and for `lost`, `tick` or `note` follow.
pub const MARKS: &str = "omen.marks";

/// A line of a log that names no episode. Each stream has it, since it may have been a packet of any episode.
pub(crate) const LOST: &str = "lost";

/// A mark of time, by which idle episodes end.
pub(crate) const TICK: &str = "tick";

/// How far a log is published: a part for the log follows.
pub(crate) const NOTE: &str = "note";

/// The subject of a mark in the stream of a partition.
pub(crate) fn mark(partition: u16, what: &str) -> String {
    format!("{MARKS}.{partition}.{what}")
}

/// Findings: parts for the partition and the worst severity follow.
pub const FINDINGS: &str = "omen.findings";

/// All findings of a partition.
pub(crate) fn findings_of(partition: u16) -> String {
    format!("{FINDINGS}.{partition}.>")
}

/// In a message to the subject of an episode: the episode has ended.
pub const END_HEADER: &str = "Omen-End";

/// Header of a message of findings: the commit, which says up to which message the findings are complete.
pub(crate) const COMMIT_HEADER: &str = "Omen-Commit";
