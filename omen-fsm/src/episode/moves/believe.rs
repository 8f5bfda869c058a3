//! Belief updates.

use crate::episode::{Belief, Episode, Evidenced, Model, Proof, Says, Succeeded, Verify};

/// Updates the beliefs.
pub(crate) fn believe<S, Next>(mut episode: Episode<S>, belief: impl Says<Belief>) -> Episode<Next> {
    episode.core.must(belief.said().draft());
    episode.at()
}

/// Closes the verification loop with a belief update that cites its evidence (D22). The proof makes the loop's
/// assumptions [`Verified`]. If the update was refused (see [`Episode::trouble`]), it proves nothing.
pub(crate) fn in_loop<P: Succeeded<T>, O: Evidenced<P, T>, T>(
    mut episode: Episode<Verify<P, O, T>>,
    belief: impl Says<Belief>,
) -> (Episode<Model>, Proof) {
    let mut belief = belief.said();
    let core = &mut episode.core;
    belief.cite(core.looped.evidence.iter().cloned());
    // If the belief update was refused, the loop continues: a proof without plans proves nothing.
    let plans = match core.must(belief.draft()) {
        Some(_) => std::mem::take(&mut core.looped.plans),
        None => Vec::new(),
    };
    let observed = core.looped.observed.clone();
    let proof = Proof { observed, plans, has_succeeded: core.has_succeeded(), episode: core.tag.clone() };
    (episode.at(), proof)
}
