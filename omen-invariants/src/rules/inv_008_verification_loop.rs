//! INV-008, as `rules.json` states it. The state machine reports the part that this rule shares with E3 (D37). This
//! module covers the ledger's part: which packets a closing belief update may cite as evidence (D22), and whether the
//! loop kept to its plan (D82).

use omen_types::{BeliefUpdatePayloadFacts, Code, Diagnostic};

use crate::context::Context;
use crate::help::inv_008 as help;
use crate::ledger::Ledger;

/// Warns about plan limits that the loop has exceeded. The packet must be the belief update that closes the loop.
pub fn check(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let excesses = context.ledger.plan_excesses(context.now);
    if excesses.is_empty() {
        return;
    }
    let figures = excesses.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    findings.push(
        Diagnostic::warning(Code::Inv008, format!("the verification loop exceeds its plan: {figures}"))
            .at("/header/packet_type")
            .label("closes the loop")
            .help(help::OVER_PLAN),
    );
}

/// Returns whether a belief update cites at least one piece of evidence of the running loop.
#[must_use]
pub fn cites_evidence(ledger: &Ledger, belief: &BeliefUpdatePayloadFacts<'_>) -> bool {
    belief.evidence_integration.iter().flatten().any(|packet_id| ledger.is_loop_evidence(packet_id))
}

#[cfg(test)]
mod tests {
    use omen_types::PacketType::{
        BeliefUpdatePacket, DecisionPacket, ObservationPacket, TaskResultPacket, VerificationPlanPacket,
    };
    use omen_types::{PacketFacts, PayloadFacts, Severity};
    use serde_json::json;

    use super::super::fixture::{Episode, packet};
    use super::{check, cites_evidence};
    use crate::ledger::Update;

    /// Returns whether naming a packet counts as citing evidence, given one observation before a loop and one in it.
    fn cites(packet_id: &str) -> bool {
        let seen = |id: &str| packet(ObservationPacket, &[("/header/packet_id", id.into())]);
        let episode = Episode::default()
            .accept(&seen("pkt_before"), Update::default())
            .accept(&packet(DecisionPacket, &[]), Update { opens_loop: true, ..Update::default() })
            .accept(&seen("pkt_inside"), Update { is_evidence: true, ..Update::default() });
        let belief = packet(BeliefUpdatePacket, &[("/payload/evidence_integration", json!([packet_id]))]).to_string();
        let facts = PacketFacts::parse(&belief).ok();
        facts.is_some_and(|facts| match &facts.payload {
            PayloadFacts::BeliefUpdate(belief) => cites_evidence(episode.ledger(), belief),
            _ => false,
        })
    }

    #[test]
    fn what_was_seen_in_the_loop_is_evidence() {
        assert!(cites("pkt_inside"));
    }

    #[test]
    fn what_was_seen_before_is_not() {
        assert!(!cites("pkt_before") && !cites("pkt_none"));
    }

    /// Returns the number of findings on a belief update that follows a plan after `second` seconds and `results` results.
    fn beyond(plan: serde_json::Value, results: usize, second: u32) -> usize {
        let at = |second: u32| serde_json::Value::from(format!("2026-03-01T10:00:{second:02}Z"));
        let opens = Update { opens_loop: true, ..Update::default() };
        let mut episode =
            Episode::default().accept(&packet(DecisionPacket, &[("/header/created_at", at(0))]), opens).accept(
                &packet(VerificationPlanPacket, &[("/header/created_at", at(0)), ("/payload", plan)]),
                Update::default(),
            );
        for number in 0..results {
            let id = format!("pkt_result_{number}");
            let members = [("/header/created_at", at(0)), ("/header/packet_id", id.into())];
            episode = episode.accept(&packet(TaskResultPacket, &members), Update::default());
        }
        let found = episode.check(check, &packet(BeliefUpdatePacket, &[("/header/created_at", at(second))]));
        assert!(found.iter().all(|(severity, _)| *severity == Severity::Warning));
        found.len()
    }

    #[test]
    fn a_loop_within_its_plan_passes() {
        let target = json!([{"assumption": "a", "method": "tool", "success_criteria": "c"}]);
        let plan = |more: serde_json::Value| {
            let mut plan = json!({"decision_packet_id": "pkt_1", "targets": target});
            plan.as_object_mut().into_iter().zip(more.as_object()).for_each(|(plan, more)| plan.extend(more.clone()));
            plan
        };
        assert_eq!(beyond(plan(json!({})), 5, 59), 0);
        let limited = plan(json!({"max_tool_calls": 2, "time_budget_seconds": 30}));
        assert_eq!(beyond(limited.clone(), 2, 30), 0);
        for (results, second) in [(3, 30), (2, 31), (3, 31)] {
            assert_eq!(beyond(limited.clone(), results, second), 1, "{results} results, {second} s");
        }
    }
}
