//! An agent that presents options to a human, and follows the answer.

use super::*;

pub(crate) fn agent(now: Instant) -> Log {
    let envelope = OpenEnvelope::high(
        Intent::new(text!("bring the order database back"), text!("database orders")),
        Done::when(text!("orders are taken"), ["orders.accepting"]),
        Evidence::tool_output(text!("probe/primary"), now.into()),
    )
    .seal();
    let choice = |id: &str, pro: &str, con: &str| Choice {
        id: id.to_owned(),
        description: format!("{id} now"),
        pros: vec![pro.to_owned()],
        cons: vec![con.to_owned()],
    };
    let episode = Setup::new("corr_escalates".parse()?, &envelope, move || now)
        .start()?
        .observe(Observation::tool_output(Observed, "probe", fields!({ "primary": "unreachable" })))
        .believe(Belief::new("db", "primary", "unreachable"))
        .to_escalate(ruling("ask")?, &envelope)
        .escalate(Escalation {
            trigger: EscalationTrigger::HighStakesHighUncertainty,
            options: [choice("fail over", "fast", "may lose writes"), choice("wait", "loses nothing", "slow")],
            gaps: [Gap { gap: "the replica's lag".to_owned(), impact_if_unknown: "unknown loss".to_owned() }],
            next_step: Recommendation { step: text!("ask the network team"), rationale: "they know".to_owned() },
        })
        .answered(Answer::text(&text!("wait")));
    let episode = episode.cancel(ruling("do nothing")?, &envelope).believe(Belief::new("db", "failover", "cancelled"));
    Ok(episode.close()?.lines().to_vec())
}
