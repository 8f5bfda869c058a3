//! Counts over a stream.

/// Counts over a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Summary {
    /// Number of bytes read.
    pub bytes: u64,
    /// Number of lines that are not blank.
    pub packets: u64,
    /// Number of packets without errors.
    pub accepted: u64,
    /// Number of packets with errors.
    pub rejected: u64,
    /// Number of distinct correlation ids among the packets that match their schema. An episode that begins again after
    /// it was [ended](super::Validator::end_episode) counts twice.
    pub episodes: u64,
    /// Number of findings that are errors.
    pub errors: u64,
    /// Number of findings that are warnings.
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
