//! Believing.

use crate::episode::{Belief, Episode, Evidenced, Model, Proof, Says, Succeeded, Verify};

/// Updates what is believed.
pub(crate) fn believe<S, Next>(mut episode: Episode<S>, belief: impl Says<Belief>) -> Episode<Next> {
    episode.core.must(belief.said().draft());
    episode.at()
}

/// Closes the verification loop: takes its evidence, which it names, into what is believed (D22). The
/// proof makes the loop's assumptions [`Verified`]; if the update was refused, which [`Episode::trouble`] tells,
/// it proves nothing.
pub(crate) fn in_loop<P: Succeeded<T>, O: Evidenced<P, T>, T>(
    mut episode: Episode<Verify<P, O, T>>,
    belief: impl Says<Belief>,
) -> (Episode<Model>, Proof) {
    let mut belief = belief.said();
    let core = &mut episode.core;
    belief.cite(core.looped.evidence.iter().cloned());
    // A loop whose belief update was refused goes on, and with no plan to its name the proof is none.
    let plans = match core.must(belief.draft()) {
        Some(_) => std::mem::take(&mut core.looped.plans),
        None => Vec::new(),
    };
    let observed = core.looped.observed.clone();
    let proof = Proof { observed, plans, has_succeeded: core.has_succeeded(), episode: core.mark.clone() };
    (episode.at(), proof)
}
