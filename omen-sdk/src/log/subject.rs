//! Subjects of packets.

use std::borrow::Cow;
use std::hash::Hasher as _;

use siphasher::sip128::{Hasher128 as _, SipHasher13};

/// First tokens of the subject of a packet; the tokens for the partition and the episode follow.
pub const PACKETS: &str = "omen.packets";

/// Metadata key for the number of partitions, present on each stream of packets.
pub const PARTITIONS_KEY: &str = "omen-partitions";

/// Returns the subject for the packets of an episode, given the number of partitions. All packets of an episode, and no
/// others, must be published to it.
///
/// ```
/// assert_eq!(omen::log::packets_of("corr_7", 4), "omen.packets.1.corr_7");
/// ```
#[must_use]
pub fn packets_of(correlation_id: &str, partitions: u16) -> String {
    format!("{PACKETS}.{}.{}", partition_of(correlation_id, partitions), token(correlation_id))
}

/// Returns the partition of an episode, from 0 to `partitions - 1`: FNV-1a (32 bits) of its [`token`], modulo
/// `partitions`. A server that maps subjects with `partition(4,1)` computes the same value.
#[must_use]
pub fn partition_of(correlation_id: &str, partitions: u16) -> u16 {
    let hash = short(correlation_id)
        .bytes()
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    u16::try_from(hash % u32::from(partitions.max(1))).unwrap_or(0)
}

/// Returns the last token of an episode's subject: its correlation id, or a hash of an id that is too long.
#[must_use]
pub fn token(correlation_id: &str) -> String {
    short(correlation_id).into_owned()
}

fn short(correlation_id: &str) -> Cow<'_, str> {
    if correlation_id.len() <= LONGEST {
        return Cow::Borrowed(correlation_id);
    }
    let mut hasher = SipHasher13::new();
    hasher.write(correlation_id.as_bytes());
    Cow::Owned(format!("~{:032x}", hasher.finish128().as_u128()))
}

/// Maximum length of a token in bytes. Servers limit the line with the subject to 4 KiB.
const LONGEST: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_correlation_id_has_a_subject_of_its_own() {
        let long = |last: char| format!("corr_{}{last}", "x".repeat(300));
        assert_ne!(token(&long('a')), token(&long('b')));
        assert!(token(&long('a')).len() <= LONGEST && token(&long('a')).starts_with('~'));
    }

    #[test]
    fn each_partition_has_its_share() {
        let partitions: Vec<u16> = (0..4_000).map(|number| partition_of(&format!("corr_{number}"), 4)).collect();
        for partition in 0..4 {
            let share = partitions.iter().filter(|one| **one == partition).count();
            assert!((900..1_100).contains(&share), "{share} of 4,000 in partition {partition}");
        }
        assert_eq!(partition_of("corr_7", 1), 0);
    }
}
