//! Believing.

use crate::episode::{Belief, Episode, Evidenced, Model, Proof, Succeeded, Verify};

/// Updates what is believed.
pub(crate) fn believe<S, Next>(mut episode: Episode<S>, belief: Belief) -> Episode<Next> {
    episode.core.must(belief.draft());
    episode.at()
}

/// Closes the verification loop: takes its evidence, which it names, into what is believed (D22). The
/// proof makes the loop's assumptions [`Verified`].
pub(crate) fn in_loop<P: Succeeded<T>, O: Evidenced<P, T>, T>(
    mut episode: Episode<Verify<P, O, T>>,
    mut belief: Belief,
) -> (Episode<Model>, Proof) {
    let looped = std::mem::take(&mut episode.core.looped);
    belief.cite(looped.evidence.into_iter());
    episode.core.must(belief.draft());
    let proof = Proof { observed: looped.observed, plans: looped.plans, episode: episode.core.mark.clone() };
    (episode.at(), proof)
}
