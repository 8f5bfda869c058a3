//! FSM, as `rules.json` states it: the table has a row for each packet, and an episode closes from S7 (D81).

use omen_invariants::Ledger;
use omen_types::{Code, Diagnostic};

use super::route;
use super::transition::Transition;
use crate::help::fsm as help;
use crate::table::{Event, Node, NodeSet, RefusalInfo};

/// Returns the finding on an illegal packet, worded according to the code of the refusal.
pub(super) fn check(refusal: &RefusalInfo, transition: &Transition<'_>) -> Diagnostic {
    let nodes = transition.nodes;
    let problem = format!("{} is not legal in {nodes}", transition.event.description());
    let finding = Diagnostic::error(refusal.code, problem).at("/header/packet_type");
    if refusal.code == Code::Fsm {
        finding.label(format!("no transition from {nodes} for this packet")).help(remedy(transition))
    } else {
        finding.note(refusal.description).help(refusal.code.info().help)
    }
}

/// Returns the packets to send first, if the packet is legal after them, and the packets that are legal now.
fn remedy(transition: &Transition<'_>) -> String {
    let (nodes, event) = (transition.nodes, transition.event);
    let help = match route::to(nodes, event, transition.context.ledger) {
        Some(events) => help::first(route::words(&events), route::names(&events), nodes, legal(nodes)),
        None => help::nowhere(nodes, legal(nodes)),
    };
    // The list includes a packet that differs only in `observation_type`.
    let may_answer = event == Event::Observe && !nodes.after(Event::ObserveUser).is_empty();
    if may_answer { help::no_answer(help) } else { help }
}

/// Returns the finding on an episode that ends in a state in which no episode closes (D81).
pub(super) fn at_end(nodes: NodeSet, ledger: &Ledger) -> Option<Diagnostic> {
    if nodes.contains(Node::INITIAL) || nodes.contains(Node::Review) {
        return None;
    }
    let closes = Node::Review.as_str();
    let (problem, help) = if nodes == NodeSet::of(Node::Escalated) {
        let events = route::names(&[Event::ObserveUser]);
        (format!("the episode ends in {nodes}: a human is awaited"), help::awaited(events))
    } else {
        // A decision to act should be carried out: another decision would be a detour.
        let route = route::to(nodes, Event::Close, ledger).filter(|_| nodes != NodeSet::of(Node::DecideAct));
        let help = match route {
            Some(events) => help::close(route::words(&events), route::names(&events)),
            None => help::UNUSED.to_owned(),
        };
        (format!("the episode ends in {nodes}, and an episode closes from {closes}"), help)
    };
    Some(Diagnostic::warning(Code::Fsm, problem).help(help))
}

/// Returns a description of the packets that are legal in the given nodes.
fn legal(nodes: NodeSet) -> String {
    // Alerts are legal everywhere and would only lengthen the list.
    let legal = nodes.legal().filter(|event| !matches!(event, Event::Alert | Event::Halt));
    legal.map(Event::description).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use omen_invariants::Ledger;
    use omen_types::Code;
    use omen_types::PacketType::{BeliefUpdatePacket, ObservationPacket};

    use super::super::fixture::{TestEpisode, packet};
    use super::at_end;
    use crate::table::{Event, Node, NodeSet};

    #[test]
    fn a_packet_with_a_row_passes() {
        assert_eq!(TestEpisode::at(Node::Idle).refused(&packet(ObservationPacket, &[])), []);
    }

    #[test]
    fn an_episode_ends_where_it_closes() {
        for node in Node::ALL {
            let closes = matches!(node, Node::Idle | Node::Review);
            let found = at_end(NodeSet::of(*node), &Ledger::default());
            assert_eq!(found.is_none(), closes, "{node:?}");
            if let Some(found) = found {
                assert_eq!(found.message.contains("a human is awaited"), *node == Node::Escalated, "{node:?}");
            }
        }
        // A belief update that left S6 may be the last packet (D11).
        let left = NodeSet::of(Node::Execute).after(Event::Believe);
        assert!(at_end(left, &Ledger::default()).is_none());
    }

    #[test]
    fn a_packet_without_a_row_is_refused() {
        assert_eq!(TestEpisode::at(Node::Idle).refused(&packet(BeliefUpdatePacket, &[])), [Code::Fsm]);
    }
}
