//! Names on the server: streams, subjects and buckets.

use std::hash::Hasher as _;

pub use omen::log::{PACKETS, PARTITIONS_KEY, packets_of, partition_of, token};
use siphasher::sip128::{Hasher128 as _, SipHasher13};

/// Names of one set of streams and buckets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// Prefix of all names.
    pub prefix: String,
    /// Stream of findings.
    pub findings: String,
    /// Bucket of checkpoints, and of the positions of readers of findings.
    pub state: String,
    /// Bucket of live workers, whose entries expire.
    pub workers: String,
}

impl Names {
    /// Returns the names that begin with `prefix`.
    #[must_use]
    pub fn with_prefix(prefix: &str) -> Self {
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

/// Returns whether a name is a valid key of a bucket: 1 to 64 letters, digits, `_` and `-`.
pub(crate) fn is_plain(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=64).contains(&name.len()) && name.bytes().all(is_plain)
}

/// Length of a [`hash`] in characters.
pub(crate) const HASH_LENGTH: usize = 32;

/// Returns the 128-bit SipHash-1-3 of some bytes, in hexadecimal.
pub(crate) fn hash(bytes: impl AsRef<[u8]>) -> String {
    let mut hasher = SipHasher13::new();
    hasher.write(bytes.as_ref());
    format!("{:032x}", hasher.finish128().as_u128())
}

/// First tokens of the subjects that only OMEN's own programs write to a stream of packets. A token for the partition and `lost`,
/// `tick` or `note` follow.
pub const MARKS: &str = "omen.marks";

/// Token of a line of a log that names no episode. Each stream has the line, since it may have been a packet of any episode.
pub(crate) const LOST: &str = "lost";

/// Token of a time mark, at which idle episodes end.
pub(crate) const TICK: &str = "tick";

/// Token of a note on the progress of a published log. A token for the log follows.
pub(crate) const NOTE: &str = "note";

/// Returns the subject of a mark in the stream of a partition.
pub(crate) fn mark(partition: u16, what: &str) -> String {
    format!("{MARKS}.{partition}.{what}")
}

/// First tokens of the subjects of findings. Tokens for the partition and the worst severity follow.
pub const FINDINGS: &str = "omen.findings";

pub(crate) fn findings_of(partition: u16) -> String {
    format!("{FINDINGS}.{partition}.>")
}

/// Header of a message that ends the episode of its subject.
pub const END_HEADER: &str = "Omen-End";

/// Header of a message of findings with its commit, which states up to which message the findings are complete.
pub(crate) const COMMIT_HEADER: &str = "Omen-Commit";
