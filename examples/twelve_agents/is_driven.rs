//! An agent that is driven by a model, whose illegal proposals are refused with a reason.

use super::*;

const TOO_SOON: &str = r#"{"packet_type": "DecisionPacket", "payload": {"decision_outcome": "CANCEL",
    "decision_summary": "nothing to do, safety first", "constraints_satisfied":
    {"constitutional_check": true, "budget_check": true, "tier_check": true}}}"#;
const BELIEVE: &str = r#"{"packet_type": "BeliefUpdatePacket", "payload": {"update_type": "new_belief",
    "belief_changes": [{"domain": "backup", "key": "is_fresh", "new_value": true, "prior_value": null}]}}"#;

pub(crate) fn agent(now: Instant) -> Log {
    let envelope = OpenEnvelope::low(
        Intent::new(text!("find out how old the backup is"), text!("host db1")),
        Done::when(text!("the age is known"), ["age_hours is a number"]),
        Evidence::user_observation(text!("chat/14"), now.into()),
    )
    .seal();
    let mut episode = Setup::new("corr_is-driven".parse()?, &envelope, move || now)
        .start()?
        .observe(Observation::user_input(Observed, fields!({ "ask": "is the backup fresh?" })))
        .into_any();
    for said in [TOO_SOON, BELIEVE, TOO_SOON, BELIEVE] {
        episode = match episode.propose(said) {
            Ok(moved) => moved.episode,
            // The model reads the reason, and proposes something else.
            Err(refused) => refused.episode,
        };
    }
    let AnyEpisode::Review(episode) = episode else { return Err("the model has not come to an end".into()) };
    Ok(episode.close()?.lines().to_vec())
}
