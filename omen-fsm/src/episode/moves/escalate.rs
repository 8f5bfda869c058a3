//! The escalation.

use omen_invariants::facts::{AtLeastOne, TwoOrThree};

use crate::episode::{Episode, Escalates};

/// Lays options before a human: two or three, at least one gap in the evidence, and what is recommended
/// (E5, INV-009). It may be presented again.
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
