//! Escalation to a human.

use omen_invariants::facts::{AtLeastOne, TwoOrThree};

use crate::episode::{Episode, Escalates};

/// Asks a human to choose between two or three options, and states at least one gap in the evidence and a
/// recommended next step (E5, INV-009). An escalation may be repeated.
pub(crate) fn escalate<S, Next, const O: usize, const G: usize>(
    mut episode: Episode<S>,
    escalation: impl Escalates<O, G>,
) -> Episode<Next>
where
    [(); O]: TwoOrThree,
    [(); G]: AtLeastOne,
{
    episode.core.must(escalation.full().draft());
    episode.at()
}
