//! Used ids, stored as fingerprints.
//!
//! A fingerprint is 126 bits of SipHash and two marks: an id takes 16 bytes, regardless of its length. Among 2^40 ids,
//! the probability that any two share a fingerprint is below 2^-47. The keys are public, so an attacker who spends 2^64
//! hashes can find two colliding ids; the only effect is that a packet with a new id is refused.

use std::hash::{BuildHasherDefault, Hasher};

use siphasher::sip128::SipHasher13;

/// Kind of the object that an id identifies; a packet and a task may have the same id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A packet.
    Packet,
    /// A task.
    Task,
    /// A token.
    Token,
    /// The campaign of the episode.
    Campaign,
    /// A packet that is evidence of a verification loop, by the loop's number.
    Evidence(u32),
    /// A tool that was used to write, or only to read.
    Tool {
        /// Whether it was used to write.
        writes: bool,
    },
}

/// Short fingerprint of an id of some kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(u128);

impl Fingerprint {
    /// Returns the fingerprint of an id.
    #[must_use]
    pub fn new(kind: Kind, id: &str) -> Self {
        let (tag, number) = match kind {
            Kind::Packet => (0, 0),
            Kind::Task => (1, 0),
            Kind::Token => (2, 0),
            Kind::Evidence(number) => (3, number),
            Kind::Campaign => (4, 0),
            Kind::Tool { writes } => (5, u32::from(writes)),
        };
        // The kind is the key of the hash, so the id does not have to be copied after a prefix.
        let hash = SipHasher13::new_with_keys(tag, u64::from(number)).hash(id.as_bytes());
        Self(hash.as_u128() & !MARKS)
    }

    /// Returns the fingerprint with a mark, which is one of its bits and takes no extra space.
    #[must_use]
    pub(super) fn marked(self) -> Self {
        Self(self.0 | MARK)
    }

    pub(super) fn is_marked(self) -> bool {
        self.0 & MARK != 0
    }

    /// Returns the fingerprint with the mark of an observation (D78).
    pub(super) fn observed(self) -> Self {
        Self(self.0 | OBSERVED)
    }

    /// Returns whether the fingerprint has the mark of an observation.
    pub(super) fn is_observed(self) -> bool {
        self.0 & OBSERVED != 0
    }

    /// Returns whether both identify the same id, regardless of marks.
    pub(super) fn is_same(self, other: Self) -> bool {
        self.0 | MARKS == other.0 | MARKS
    }

    /// Returns a hash that does not depend on the marks: other bits of the fingerprint, which is itself a hash.
    pub(super) fn hash(self) -> u64 {
        (self.0 >> 64) as u64
    }

    pub(super) fn to_bytes(self) -> [u8; 16] {
        self.0.to_le_bytes()
    }

    pub(super) fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(u128::from_le_bytes(bytes))
    }
}

/// Bits that no hash sets.
const MARKS: u128 = MARK | OBSERVED;
const MARK: u128 = 1;
const OBSERVED: u128 = 2;

/// Identity hasher, because a fingerprint is already a hash.
pub(super) type PassThrough = BuildHasherDefault<First64>;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct First64(u64);

impl Hasher for First64 {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "any 64 bits of a hash are a hash")]
    fn write_u128(&mut self, value: u128) {
        self.0 = value as u64;
    }
}
