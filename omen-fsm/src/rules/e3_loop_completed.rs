//! E3, as `episode.fsm.json` states it (also INV-008).

use omen_invariants::Ledger;
use omen_invariants::rules::inv_008_verification_loop::cites_evidence;
use omen_types::{Code, Diagnostic, PayloadFacts};

use super::route;
use super::transition::Transition;
use crate::help::e3 as help;
use crate::table::{EVIDENCE_MISSING, Event, LOOP_CLOSED_BY, LOOP_NODE, NodeSet, Obligation};

/// Refuses a directive that is sent before the loop's plan (D22).
pub(super) fn planned(transition: &Transition<'_>) -> Option<Diagnostic> {
    (!has_plan(transition.context.ledger)).then(|| {
        Diagnostic::error(Code::E3, "cannot send a directive before the plan of the verification loop")
            .at("/header/packet_type")
            .label(Obligation::Plan.missing())
            .help(first(&[Event::Plan]))
    })
}

pub(super) fn has_plan(ledger: &Ledger) -> bool {
    ledger.verification().met.contains(Obligation::Plan)
}

/// Refuses a belief update that closes the loop too early.
pub(super) fn complete(transition: &Transition<'_>) -> Option<Diagnostic> {
    let PayloadFacts::BeliefUpdate(belief) = &transition.context.facts.payload else { return None };
    let ledger = transition.context.ledger;
    let mut missing = missing(ledger);
    let events = before_closing(transition.nodes, ledger);
    let mut pointer = "/header/packet_type";
    let mut help = first(&events);
    if !cites_evidence(ledger, belief) {
        help = match missing.is_empty() {
            true => help::CITE.to_owned(),
            false => help::close_again(route::words(&events), route::names(&events)),
        };
        missing.push(EVIDENCE_MISSING);
        pointer = "/payload/evidence_integration";
    }
    (!missing.is_empty()).then(|| {
        Diagnostic::error(Code::E3, format!("the verification loop is incomplete: {}", missing.join(", ")))
            .at(pointer)
            .help(help)
    })
}

/// Returns whether a belief update that cites evidence may close the loop.
pub(super) fn may_close(ledger: &Ledger) -> bool {
    ledger.verification().unmet().next().is_none()
}

/// Returns the finding on a packet that is not part of the loop (D51).
pub(super) fn inside(transition: &Transition<'_>) -> Diagnostic {
    let ledger = transition.context.ledger;
    let help = match route::to(transition.nodes, transition.event, ledger) {
        Some(events) => help::inside(route::words(&events), route::names(&events)),
        None => Code::E3.info().help.to_owned(),
    };
    let problem = format!("{} is not legal inside the verification loop", transition.event.description());
    Diagnostic::error(Code::E3, problem).at("/header/packet_type").label("the loop comes first").help(help)
}

/// Returns the finding on an episode that ends before the loop has closed, or before the decision that must follow it.
pub(super) fn at_end(nodes: NodeSet, ledger: &Ledger) -> Option<Diagnostic> {
    ledger.owes_decision().then(|| {
        // Any outcome except VERIFY_FIRST is a valid second decision.
        let decision = Event::DecideStop;
        if nodes == NodeSet::of(LOOP_NODE) {
            let missing = missing(ledger);
            let still = if missing.is_empty() { "no closing belief update".to_owned() } else { missing.join(", ") };
            let mut events = route::to(nodes, decision, ledger).unwrap_or_default();
            // A belief update closes the episode after the decision.
            events.extend([decision, Event::Believe]);
            Diagnostic::error(Code::E3, format!("the episode ends inside its verification loop: {still}"))
                .help(help::complete(route::words(&events), route::names(&events)))
        } else {
            let message = "the episode ends without the decision that has to follow its verification loop";
            Diagnostic::error(Code::E3, message).help(help::decide_again(route::names(&[decision, Event::Believe])))
        }
    })
}

/// Returns the packets after which the loop may close, provided that the closing packet cites the loop's evidence.
fn before_closing(nodes: NodeSet, ledger: &Ledger) -> Vec<Event> {
    route::to(nodes, LOOP_CLOSED_BY, ledger).unwrap_or_default()
}

fn first(events: &[Event]) -> String {
    help::first(route::words(events), route::names(events))
}

fn missing(ledger: &Ledger) -> Vec<&'static str> {
    ledger.verification().unmet().map(Obligation::missing).collect()
}

#[cfg(test)]
mod tests {
    use omen_invariants::ledger::{Obligations, Update};
    use omen_types::Code;
    use omen_types::PacketType::{BeliefUpdatePacket, DecisionPacket, ObservationPacket};
    use serde_json::{Value, json};

    use super::super::fixture::{TestEpisode, packet};
    use super::{at_end, may_close};
    use crate::table::{Node, Obligation};

    /// Returns a loop that meets all obligations except, optionally, one.
    fn looped(without: Option<Obligation>) -> TestEpisode {
        let verify = packet(DecisionPacket, &[("/payload/decision_outcome", "VERIFY_FIRST".into())]);
        let seen = packet(ObservationPacket, &[("/header/packet_id", "pkt_seen".into())]);
        let met: Obligations = Obligation::ALL.iter().copied().filter(|one| Some(*one) != without).collect();
        TestEpisode::at(Node::Verify)
            .accept(&packet(BeliefUpdatePacket, &[]))
            .update(&verify, Update { opens_loop: true, ..Update::default() })
            .update(&seen, Update { is_evidence: true, met, ..Update::default() })
    }

    fn closing() -> Value {
        packet(BeliefUpdatePacket, &[("/payload/evidence_integration", json!(["pkt_seen"]))])
    }

    #[test]
    fn a_complete_loop_may_close() {
        assert!(may_close(looped(None).ledger()));
        assert_eq!(looped(None).refused(&closing()), []);
    }

    #[test]
    fn a_loop_that_lacks_something_may_not() {
        for obligation in Obligation::ALL {
            let episode = looped(Some(*obligation));
            assert!(!may_close(episode.ledger()));
            assert_eq!(episode.refused(&closing()), [Code::E3, Code::Inv008], "{obligation:?}");
        }
        let uncited = packet(BeliefUpdatePacket, &[("/payload/evidence_integration", Value::Null)]);
        assert_eq!(looped(None).refused(&uncited), [Code::E3, Code::Inv008]);
    }

    #[test]
    fn an_episode_does_not_end_inside_the_loop() {
        let episode = looped(None);
        assert!(at_end(episode.nodes(), episode.ledger()).is_some());
        let decided = episode.accept(&packet(DecisionPacket, &[("/payload/decision_outcome", "DEFER".into())]));
        assert!(at_end(decided.nodes(), decided.ledger()).is_none());
    }
}
