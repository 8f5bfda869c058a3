//! The names on the server: streams, subjects and buckets.

use std::hash::Hasher as _;

pub use omen::log::{PACKETS, packets_of, token};
use siphasher::sip128::{Hasher128 as _, SipHasher13};

/// The streams and buckets that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// The stream of packets.
    pub packets: String,
    /// The stream of findings and commits.
    pub findings: String,
    /// The bucket of checkpoints, and of how far logs were published.
    pub bucket: String,
}

impl Names {
    /// The names that go with a stream of packets.
    #[must_use]
    pub fn of(packets: &str) -> Self {
        Self {
            packets: packets.to_owned(),
            findings: format!("{packets}_FINDINGS"),
            bucket: format!("{packets}_STATE"),
        }
    }

    /// The bucket of the workers that are alive, whose entries expire.
    pub(crate) fn members(&self) -> String {
        format!("{}_WORKERS", self.packets)
    }
}

/// How many characters a [`hash`] has.
pub(crate) const HASH_LENGTH: usize = 32;

/// Bytes in 128 bits of SipHash-1-3, in hexadecimal.
pub(crate) fn hash(bytes: impl AsRef<[u8]>) -> String {
    let mut hasher = SipHasher13::new();
    hasher.write(bytes.as_ref());
    format!("{:032x}", hasher.finish128().as_u128())
}

/// Where the commits of a partition are.
pub(crate) fn verdicts(partition: u16) -> String {
    format!("{VERDICTS}.{partition}")
}

/// Lines of logs that name no episode. Every partition reads them, since each may have been a packet of any.
pub const LOST: &str = "omen.lost";

/// Marks of time, by which idle episodes end. Every partition reads them.
pub(crate) const TICK: &str = "omen.tick";

/// Where the server stores packets: parts for the partition and the episode follow.
pub(crate) const PARTITION: &str = "omen.partition";

/// Findings: parts for severity and code follow.
pub const FINDINGS: &str = "omen.findings";

/// Commits: a part for the partition follows.
pub const VERDICTS: &str = "omen.verdicts";

/// In a message to the subject of an episode: the episode has ended.
pub const END_HEADER: &str = "Omen-End";
