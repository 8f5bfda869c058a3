//! Options of a validator.

use omen_fsm::Machine;
use omen_types::{Diagnostic, Instant};

use super::levels::Levels;

/// Options of a validator.
#[derive(Clone, Debug, Default)]
pub struct ValidatorOptions {
    /// Fixed time that replaces the clock of each episode (D2).
    pub now: Option<Instant>,
    /// Levels of codes whose severity differs from the protocol's.
    pub levels: Levels,
    /// Depth of the check.
    pub depth: Depth,
}

/// Depth of the check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Depth {
    /// Each line on its own: JSON and schema.
    Schema,
    /// Each packet on its own: also the findings of invariants that do not depend on earlier packets of its episode.
    Packet,
    /// Packets within their episodes: all checks.
    #[default]
    InEpisode,
}

/// Returns the findings on an episode at the end of the stream, each with the packet id that it concerns, if any.
pub(super) fn at_end<'m>(machine: &'m Machine, options: &ValidatorOptions) -> Vec<(Option<&'m str>, Diagnostic)> {
    let mut found = machine.finish_at(options.now);
    options.levels.apply_to(&mut found, |(_, diagnostic)| diagnostic);
    found
}
