//! Counts of a stream.

/// Counts of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Summary {
    /// Bytes read.
    pub bytes: u64,
    /// Lines that are not blank.
    pub packets: u64,
    /// Packets without an error.
    pub accepted: u64,
    /// Packets with an error.
    pub rejected: u64,
    /// Number of different correlation ids among the packets that match their schema. An episode that begins again after it was
    /// [ended](super::Validator::end_episode) counts twice.
    pub episodes: u64,
    /// Findings that are errors.
    pub errors: u64,
    /// Findings that are warnings.
    pub warnings: u64,
    /// Number of findings, errors and warnings, that follow from an earlier rejected packet; all others are root causes.
    pub consequences: u64,
}

impl std::ops::AddAssign for Summary {
    fn add_assign(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.packets += other.packets;
        self.accepted += other.accepted;
        self.rejected += other.rejected;
        self.episodes += other.episodes;
        self.errors += other.errors;
        self.warnings += other.warnings;
        self.consequences += other.consequences;
    }
}
