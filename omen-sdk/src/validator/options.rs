//! Options.

use omen_types::Instant;

use super::levels::Levels;

/// Options of a validator.
#[derive(Clone, Debug, Default)]
pub struct ValidatorOptions {
    /// A fixed time, instead of the clock of each episode (D2).
    pub now: Option<Instant>,
    /// Levels of codes whose severity differs from that of the protocol.
    pub levels: Levels,
    /// How far packets are checked.
    pub depth: Depth,
}

/// How far packets are checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Depth {
    /// Each line by itself: JSON and schema.
    Schema,
    /// Each packet by itself: also the findings of the invariants that there are whatever came before it in its episode.
    Packet,
    /// Everything: packets in their episodes.
    #[default]
    InEpisode,
}
