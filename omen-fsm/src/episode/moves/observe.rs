//! Observations.

use omen_invariants::facts::EpistemicStatusFact;

use crate::episode::{After, Episode, Execute, Many, Observation, Open, Says, Verify};

/// Records an [`Observation`], or a generated payload, whose status is then OBSERVED.
pub(crate) fn observe<S, Next, St: EpistemicStatusFact>(
    mut episode: Episode<S>,
    observation: impl Says<Observation<St>>,
) -> Episode<Next> {
    episode.core.must(observation.said().draft());
    episode.at()
}

/// Records an observation. One with status OBSERVED is the evidence that the loop requires.
pub(crate) fn in_loop<P, O, T, St: EpistemicStatusFact + After<O>>(
    episode: Episode<Verify<P, O, T>>,
    observation: impl Says<Observation<St>>,
) -> Episode<Verify<P, <St as After<O>>::Then, T>> {
    observe(episode, observation)
}

/// Records an observation while directives of the loop are open.
pub(crate) fn in_open_loop<P, O, T, const N: usize, St: EpistemicStatusFact + After<O>>(
    episode: Episode<Open<Verify<P, O, T>, N>>,
    observation: impl Says<Observation<St>>,
) -> Episode<Open<Verify<P, <St as After<O>>::Then, T>, N>> {
    observe(episode, observation)
}

/// Records an observation while directives of the loop are open.
pub(crate) fn in_many_of_loop<P, O, T, St: EpistemicStatusFact + After<O>>(
    episode: Episode<Many<Verify<P, O, T>>>,
    observation: impl Says<Observation<St>>,
) -> Episode<Many<Verify<P, <St as After<O>>::Then, T>>> {
    observe(episode, observation)
}

/// Records an observation while directives are open.
pub(crate) fn in_open<const N: usize, St: EpistemicStatusFact>(
    episode: Episode<Open<Execute, N>>,
    observation: impl Says<Observation<St>>,
) -> Episode<Open<Execute, N>> {
    observe(episode, observation)
}

/// Records an observation while directives are open.
pub(crate) fn in_many<St: EpistemicStatusFact>(
    episode: Episode<Many<Execute>>,
    observation: impl Says<Observation<St>>,
) -> Episode<Many<Execute>> {
    observe(episode, observation)
}
