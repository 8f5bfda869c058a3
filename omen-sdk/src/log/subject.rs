//! The subjects of packets.

use std::hash::Hasher as _;

use siphasher::sip128::{Hasher128 as _, SipHasher13};

/// Where packets are published: a part for the episode follows.
pub const PACKETS: &str = "omen.packets";

/// The subject of the packets of an episode. All packets of an episode must be published to it, and no others.
///
/// ```
/// assert_eq!(omen::log::packets_of("corr_7"), "omen.packets.corr_7");
/// ```
#[must_use]
pub fn packets_of(correlation_id: &str) -> String {
    format!("{PACKETS}.{}", token(correlation_id))
}

/// The last part of an episode's subject: its correlation id, or a hash of one that is too long for a subject.
#[must_use]
pub fn token(correlation_id: &str) -> String {
    if correlation_id.len() <= LONGEST {
        return correlation_id.to_owned();
    }
    let mut hasher = SipHasher13::new();
    hasher.write(correlation_id.as_bytes());
    format!("~{:032x}", hasher.finish128().as_u128())
}

/// A server limits the line that has the subject to 4 KiB.
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
}
