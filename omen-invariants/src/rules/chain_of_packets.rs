//! CHAIN, as `rules.json` states it: the references of a packet exist (D65, D78).

use omen_types::suggest::recalled;
use omen_types::{Code, Diagnostic, PacketId, PayloadFacts};

use crate::context::Context;
use crate::help::chain as help;
use crate::ledger::{Awaited, Ledger};

pub(super) fn check(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let header = &context.facts.header;
    if let Some(previous) = &header.previous_packet_id
        && !context.ledger.has_accepted(previous)
    {
        let finding = dangling("previous_packet_id", previous, "/header/previous_packet_id");
        findings.push(finding.help(remedy(previous, context.ledger, help::PREVIOUS)));
    }
    if let Some(campaign) = &header.campaign_id
        && context.ledger.is_other_campaign(campaign)
    {
        let problem = format!("`campaign_id` `{campaign}` differs from the first one stated in this episode");
        findings.push(
            Diagnostic::warning(Code::Chain, problem)
                .at("/header/campaign_id")
                .label("another campaign")
                .help(help::CAMPAIGN),
        );
    }
    named(context, findings);
}

/// Checks the references in the payload.
fn named(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let ledger = context.ledger;
    let mut link = |member: &str, id: &str, pointer: String| {
        if !ledger.has_accepted(id) {
            // The search takes about a thousand lookups, so it runs only once per packet.
            let help = if findings.is_empty() { remedy(id, ledger, help::NAMED) } else { help::NAMED.to_owned() };
            findings.push(dangling(member, id, pointer).help(help));
        }
    };
    match &context.facts.payload {
        PayloadFacts::BeliefUpdate(belief) => {
            for (at, id) in belief.evidence_integration.iter().flatten().enumerate() {
                // A name in another form refers to evidence elsewhere.
                if !ledger.has_accepted(id) && PacketId::new(id.as_ref()).is_ok() {
                    link("evidence_integration", id, format!("/payload/evidence_integration/{at}"));
                }
            }
            let details = belief.contradiction_details.as_ref();
            let conflicting = details.and_then(|details| details.conflicting_packet_ids.as_ref());
            for (at, id) in conflicting.into_iter().flatten().enumerate() {
                link(
                    "conflicting_packet_ids",
                    id,
                    format!("/payload/contradiction_details/conflicting_packet_ids/{at}"),
                );
            }
        }
        PayloadFacts::Escalation(escalation) => {
            if let Some(id) = &escalation.blocking_decision_packet_id {
                link("blocking_decision_packet_id", id, "/payload/blocking_decision_packet_id".to_owned());
            }
        }
        PayloadFacts::IntegrityAlert(alert) => {
            for (at, id) in alert.related_packet_ids.iter().flatten().enumerate() {
                link("related_packet_ids", id, format!("/payload/related_packet_ids/{at}"));
            }
        }
        PayloadFacts::VerificationPlan(plan) => {
            let id = &plan.decision_packet_id;
            if let Some(decision) = ledger.verifying_decision()
                && decision != &**id
            {
                let problem =
                    format!("`decision_packet_id` `{id}` is not the decision VERIFY_FIRST in force, `{decision}`");
                let finding = Diagnostic::warning(Code::Chain, problem).at("/payload/decision_packet_id");
                findings.push(finding.label("another decision").help(help::plan(decision)));
            }
        }
        _ => {}
    }
}

/// Returns the packet whose id may be misspelt, or otherwise another remedy.
fn remedy(id: &str, ledger: &Ledger, other: &str) -> String {
    recalled(id, |id| ledger.has_accepted(id)).map_or_else(|| other.to_owned(), help::misspelt)
}

fn dangling(member: &str, id: &str, pointer: impl Into<String>) -> Diagnostic {
    let problem = format!("`{member}` `{id}` is not an earlier accepted packet of this episode");
    Diagnostic::warning(Code::Chain, problem).at(pointer).label("no such packet")
}

/// Returns the findings on announced observations that were never accepted, each with the packet id of the result.
pub fn at_end(ledger: &Ledger) -> impl Iterator<Item = (Option<&str>, Diagnostic)> {
    ledger.awaited().iter().map(|Awaited { result, observation }| {
        let problem = format!(
            "`observation_packet_id` `{observation}` of the result `{result}` is not an accepted observation of this episode"
        );
        let finding = Diagnostic::warning(Code::Chain, problem).help(help::observation(observation));
        (Some(result.as_ref()), finding)
    })
}

#[cfg(test)]
mod tests {
    use omen_types::PacketType::{
        BeliefUpdatePacket, DecisionPacket, EscalationPacket, IntegrityAlertPacket, ObservationPacket,
        TaskResultPacket, VerificationPlanPacket,
    };
    use omen_types::{PacketType, Severity};
    use serde_json::{Value, json};

    use super::super::fixture::{Episode, packet as example};
    use super::{at_end, check};

    /// Returns an example packet without the references in its header.
    fn packet(packet_type: PacketType, members: &[(&str, Value)]) -> Value {
        let links = ["/header/previous_packet_id", "/header/campaign_id"].map(|link| (link, Value::Null));
        example(packet_type, &[&links, members].concat())
    }

    fn belief(id: &str, previous: &str, campaign: &str) -> Value {
        packet(
            BeliefUpdatePacket,
            &[
                ("/header/packet_id", id.into()),
                ("/header/previous_packet_id", previous.into()),
                ("/header/campaign_id", campaign.into()),
                ("/payload/evidence_integration", Value::Null),
            ],
        )
    }

    fn begun() -> Episode {
        Episode::default().accept(&belief("pkt_1", "pkt_0", "camp_a"), Default::default())
    }

    #[test]
    fn links_within_the_episode_pass() {
        assert_eq!(begun().check(check, &belief("pkt_2", "pkt_1", "camp_a")), []);
    }

    #[test]
    fn a_packet_whose_id_is_misspelt_is_named() {
        let episode = Episode::default().accept(&belief("pkt_belief_1", "pkt_0", "camp_a"), Default::default());
        let help = |previous: &str| super::remedy(previous, episode.ledger(), super::help::PREVIOUS);
        for id in ["pkt_belef_1", "PKT_belief_1", "pkt_beleif_1", "pkt-belief_1", "pkt_belief_l"] {
            assert_eq!(help(id), "did you mean `pkt_belief_1`?", "{id}");
        }
        assert_eq!(help("pkt_belief_2"), super::help::PREVIOUS);
    }

    #[test]
    fn links_that_lead_elsewhere_are_warnings() {
        let found = begun().check(check, &belief("pkt_2", "pkt_9", "camp_b"));
        let places = ["/header/previous_packet_id", "/header/campaign_id"];
        assert_eq!(found, places.map(|place| (Severity::Warning, place.to_owned())));
    }

    #[test]
    fn every_field_that_names_packets_is_looked_up() {
        let details = |ids: Value| json!({ "conflicting_packet_ids": ids });
        let fields = [
            (BeliefUpdatePacket, "/payload/evidence_integration", "/payload/evidence_integration/1"),
            (IntegrityAlertPacket, "/payload/related_packet_ids", "/payload/related_packet_ids/1"),
        ];
        for (packet_type, field, place) in fields {
            let named = |ids: Value| packet(packet_type, &[(field, ids)]);
            assert_eq!(begun().check(check, &named(json!(["pkt_1"]))), [], "{field}");
            let found = begun().check(check, &named(json!(["pkt_1", "pkt_nothing_77"])));
            assert_eq!(found, [(Severity::Warning, place.to_owned())]);
        }
        let conflict = |ids: Value| {
            let members =
                [("/payload/contradiction_details", details(ids)), ("/payload/evidence_integration", Value::Null)];
            packet(BeliefUpdatePacket, &members)
        };
        assert_eq!(begun().check(check, &conflict(json!(["pkt_1"]))), []);
        let place = "/payload/contradiction_details/conflicting_packet_ids/0";
        assert_eq!(begun().check(check, &conflict(json!(["memo"]))), [(Severity::Warning, place.to_owned())]);
        let blocking = |id: &str| packet(EscalationPacket, &[("/payload/blocking_decision_packet_id", id.into())]);
        assert_eq!(begun().check(check, &blocking("pkt_1")), []);
        let place = "/payload/blocking_decision_packet_id";
        assert_eq!(begun().check(check, &blocking("pkt_2")), [(Severity::Warning, place.to_owned())]);
        // Evidence may be stored elsewhere, under a name that is not a packet id.
        let memo = packet(BeliefUpdatePacket, &[("/payload/evidence_integration", json!(["ticket 4711"]))]);
        assert_eq!(begun().check(check, &memo), []);
    }

    #[test]
    fn a_plan_belongs_to_the_decision_in_force() {
        let verify = |id: &str| {
            let members = [("/header/packet_id", id.into()), ("/payload/decision_outcome", "VERIFY_FIRST".into())];
            packet(DecisionPacket, &members)
        };
        let episode = || {
            let first = Episode::default().accept(&verify("pkt_d1"), Default::default());
            first.accept(&verify("pkt_d2"), Default::default())
        };
        let plan = |id: &str| packet(VerificationPlanPacket, &[("/payload/decision_packet_id", id.into())]);
        assert_eq!(episode().check(check, &plan("pkt_d2")), []);
        for other in ["pkt_d1", "pkt_nothing"] {
            let place = "/payload/decision_packet_id".to_owned();
            assert_eq!(episode().check(check, &plan(other)), [(Severity::Warning, place)], "{other}");
        }
    }

    #[test]
    fn an_observation_that_a_result_names_comes_before_or_after_it() {
        let seen = packet(ObservationPacket, &[("/header/packet_id", "pkt_seen".into())]);
        let result = |id: &str| {
            let members = [("/header/packet_id", "pkt_r".into()), ("/payload/observation_packet_id", id.into())];
            packet(TaskResultPacket, &members)
        };
        let ends = |packets: &[&Value]| {
            let episode = packets.iter().fold(begun(), |episode, packet| episode.accept(packet, Default::default()));
            at_end(episode.ledger()).map(|(id, _)| id.map(str::to_owned)).collect::<Vec<_>>()
        };
        assert_eq!(ends(&[&seen, &result("pkt_seen")]), []);
        assert_eq!(ends(&[&result("pkt_seen"), &seen]), []);
        assert_eq!(ends(&[&result("pkt_seen")]), [Some("pkt_r".to_owned())]);
        // A packet of another type does not count as an observation.
        assert_eq!(ends(&[&seen, &result("pkt_1")]), [Some("pkt_r".to_owned())]);
    }
}
