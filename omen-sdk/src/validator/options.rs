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
}
