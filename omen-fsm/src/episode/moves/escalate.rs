//! The escalation.

use omen_invariants::facts::{AtLeastOne, TwoOrThree};

use crate::episode::{Episode, Escalation};

/// Lays options before a human: two or three, at least one gap in the evidence, and what is recommended
/// (E5, INV-009). It may be presented again.
pub(crate) fn escalate<S, Next, const O: usize, const G: usize>(
    mut episode: Episode<S>,
    escalation: Escalation<O, G>,
) -> Episode<Next>
where
    [(); O]: TwoOrThree,
    [(); G]: AtLeastOne,
{
    episode.core.must(escalation.draft());
    episode.at()
}
