//! The names on the server: streams, subjects and buckets.

use std::hash::Hasher as _;

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

/// The subject of the packets of an episode. All packets of an episode must be published to it, and no others.
#[must_use]
pub fn packets_of(correlation_id: &str) -> String {
    format!("{PACKETS}.{}", token(correlation_id))
}

/// The last part of an episode's subject: its correlation id, or a hash of one that is too long for a subject.
#[must_use]
pub fn token(correlation_id: &str) -> String {
    if correlation_id.len() <= LONGEST_TOKEN { correlation_id.to_owned() } else { format!("~{}", hash(correlation_id)) }
}

/// Bytes in 128 bits of SipHash-1-3, in hexadecimal.
pub(crate) fn hash(bytes: impl AsRef<[u8]>) -> String {
    let mut hasher = SipHasher13::new();
    hasher.write(bytes.as_ref());
    format!("{:032x}", hasher.finish128().as_u128())
}

/// Where packets are stored by the server.
pub(crate) fn partition(partition: u16) -> String {
    format!("{PARTITION}.{partition}.*")
}

/// Where the commits of a partition are.
#[must_use]
pub fn verdicts(partition: u16) -> String {
    format!("{VERDICTS}.{partition}")
}

/// Where packets are published: a part for the episode follows.
pub const PACKETS: &str = "omen.packets";

/// Lines of logs that name no episode. Every partition reads them, since each may have been a packet of any.
pub const LOST: &str = "omen.lost";

/// Marks of time, by which idle episodes end. Every partition reads them.
pub const TICK: &str = "omen.tick";

/// Where the server stores packets: parts for the partition and the episode follow.
pub(crate) const PARTITION: &str = "omen.partition";

/// Findings: parts for severity and code follow.
pub const FINDINGS: &str = "omen.findings";

/// Commits: a part for the partition follows.
pub const VERDICTS: &str = "omen.verdicts";

/// In a message to the subject of an episode: the episode has ended.
pub const END_HEADER: &str = "Omen-End";

/// In a message that came from a log: which one.
pub const SOURCE_HEADER: &str = "Omen-Source";

/// In a message that came from a log: its line.
pub const LINE_HEADER: &str = "Omen-Line";

/// A server limits the line that has the subject to 4 KiB.
const LONGEST_TOKEN: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_correlation_id_has_a_subject_of_its_own() {
        assert_eq!(packets_of("corr_7"), "omen.packets.corr_7");
        let long = |last: char| format!("corr_{}{last}", "x".repeat(300));
        assert_ne!(token(&long('a')), token(&long('b')));
        assert!(token(&long('a')).len() <= LONGEST_TOKEN && token(&long('a')).starts_with('~'));
    }
}
