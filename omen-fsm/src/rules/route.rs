//! Route to a packet that is not legal yet: the packets that a finding suggests sending first. The table provides the
//! rows, the ledger the directives to settle on the way.
//!
//! Only packets on a natural route are suggested. A suggestion never writes, sends directives or escalates merely to
//! reach another state, unless the decision was to escalate: such a route would be legal, but it is not what the
//! sender has forgotten.

use omen_invariants::Ledger;

use crate::table::{Event, LOOP_CLOSED_BY, LOOP_NODE, LOOP_OPENED_BY, Node, NodeSet, Obligation, Obligations, step};

/// Returns the fewest packets after which an event is legal, according to the table and the rules E1 to E7. `None` if
/// no packets lead there. Alerts are not suggested, except the one that ends safe mode.
pub(crate) fn to(nodes: NodeSet, event: Event, ledger: &Ledger) -> Option<Vec<Event>> {
    let takes = |node: &&Node| !NodeSet::of(**node).after(event).is_empty();
    let only_after_a_halt = Node::ALL.iter().filter(takes).all(|node| *node == Node::SafeMode);
    if only_after_a_halt && !nodes.contains(Node::SafeMode) {
        return None;
    }
    let mut known = vec![SearchNode { place: Situation::start(nodes, ledger), by: None, sent: 0 }];
    let most_open = ledger.open().len().min(MOST_OPEN) + 1;
    let mut at = 0;
    // Breadth-first: each node is at least as far away as those before it, so the first match is the nearest.
    while let Some(SearchNode { place, sent, .. }) = known.get(at).copied() {
        if place.takes(event) {
            return Some(way(&known, at));
        }
        for step in place.steps().filter(|_| sent < LONGEST) {
            if let Some(next) = place.after(step, event)
                && next.open <= most_open
                && !known.iter().any(|other| other.place == next)
            {
                known.push(SearchNode { place: next, by: Some((at, step)), sent: sent + 1 });
            }
        }
        at += 1;
    }
    None
}

#[derive(Clone, Copy, Debug)]
struct SearchNode {
    place: Situation,
    /// Last packet, and the index of the node from which it is sent; `None` for the start.
    by: Option<(usize, Event)>,
    /// Number of packets sent.
    sent: usize,
}

/// Returns the packets that lead to the node at an index.
fn way(known: &[SearchNode], mut at: usize) -> Vec<Event> {
    let mut sent = Vec::new();
    while let Some((before, event)) = known.get(at).and_then(|reached| reached.by) {
        sent.push(event);
        at = before;
    }
    sent.reverse();
    sent
}

/// Upper bound for the length of a route: the longest leads out of a new verification loop and on to a token.
const LONGEST: usize = 12;

/// Maximum number of open directives that are counted: a longer list of results to send is not helpful.
const MOST_OPEN: usize = 4;

/// Situation of an episode after some packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Situation {
    nodes: NodeSet,
    met: Obligations,
    /// Number of directives without a result.
    open: usize,
    /// Whether a token permits a directive that may write.
    authorized: bool,
}

impl Situation {
    fn start(nodes: NodeSet, ledger: &Ledger) -> Self {
        let looped = ledger.verification();
        let met = Obligation::ALL.iter().filter(|one| looped.met.contains(**one) || looped.waived.contains(**one));
        let authorized = ledger.clock().is_some_and(|now| ledger.tokens().any_live(now));
        Self { nodes, met: met.copied().collect(), open: ledger.open().len().min(MOST_OPEN), authorized }
    }

    fn is_in(&self, node: Node) -> bool {
        self.nodes == NodeSet::of(node)
    }

    /// Returns whether an event is legal here.
    fn takes(&self, event: Event) -> bool {
        if self.nodes.after(event).is_empty() {
            return false;
        }
        let leaves = event == LOOP_CLOSED_BY && (self.is_in(LOOP_NODE) || self.is_in(Node::Execute));
        match event {
            _ if leaves && self.open > 0 => false,
            _ if leaves && self.is_in(LOOP_NODE) => Obligation::ALL.iter().all(|one| self.met.contains(*one)),
            Event::DirectRead if self.is_in(LOOP_NODE) => self.met.contains(Obligation::Plan),
            Event::DirectWrite => self.authorized,
            Event::Settle => self.open > 0,
            _ => true,
        }
    }

    /// Returns the packets to try, with those of the verification loop in order. If the decision was to escalate, the
    /// escalation comes first.
    fn steps(&self) -> impl Iterator<Item = Event> + use<> {
        let decided = self.is_in(Node::DecideEscalate).then_some(Event::Escalate);
        let looped = self.is_in(LOOP_NODE).then(|| Obligation::ALL.iter().copied().map(step));
        decided.into_iter().chain(looped.into_iter().flatten()).chain(Event::ALL.iter().copied())
    }

    /// Returns the situation after a packet on the way to `goal`.
    fn after(&self, event: Event, goal: Event) -> Option<Self> {
        let is_meant = match event {
            Event::Alert | Event::Halt | Event::Close | Event::DirectWrite => false,
            Event::DirectRead => self.is_in(LOOP_NODE) && goal != Event::Settle,
            Event::Authorize => goal == Event::DirectWrite,
            Event::Escalate => goal == Event::Escalate || self.is_in(Node::DecideEscalate),
            Event::DecideEscalate => goal == Event::Escalate,
            _ => true,
        };
        if !is_meant || !self.takes(event) {
            return None;
        }
        let mut place = *self;
        place.nodes = self.nodes.after(event);
        if event == LOOP_OPENED_BY {
            place.met = Obligations::default();
        }
        if self.is_in(LOOP_NODE) {
            place.met.extend(Obligation::ALL.iter().copied().filter(|one| step(*one) == event).collect());
        }
        match event {
            Event::DirectRead | Event::DirectWrite => place.open += 1,
            Event::Settle => place.open -= 1,
            Event::Authorize => place.authorized = true,
            // The CLEAR cancels the directives that were open when safe mode began (D13).
            Event::Release => place.open = 0,
            _ => {}
        }
        Some(place)
    }
}

/// Describes a sequence of packets, for example "a belief update, then a decision to act".
pub(crate) fn words(events: &[Event]) -> String {
    events.iter().map(|event| event.description()).collect::<Vec<_>>().join(", then ")
}

/// Returns the names of the packets for `omen new`.
pub(crate) fn names(events: &[Event]) -> String {
    events.iter().map(|event| event.as_str()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use omen_invariants::Ledger;

    use super::{names, to};
    use crate::table::{Event, Node, NodeSet};

    #[track_caller]
    fn check(from: Node, event: Event, expected: Option<&str>) {
        let route = to(NodeSet::of(from), event, &Ledger::default());
        assert_eq!(route.as_deref().map(names).as_deref(), expected, "from {from:?} to {event}");
    }

    #[test]
    fn the_nearest_packets_come_first() {
        check(Node::Idle, Event::Observe, Some(""));
        check(Node::Idle, Event::Believe, Some("observe"));
        check(Node::Model, Event::DirectRead, Some("decide_act"));
        check(Node::Model, Event::Escalate, Some("decide_escalate"));
        check(Node::Model, Event::Observe, Some("decide_verify_first"));
        check(Node::Execute, Event::Authorize, Some("believe decide_act"));
        check(Node::SafeMode, Event::DecideAct, Some("release observe believe"));
    }

    #[test]
    fn a_loop_is_completed_before_it_is_left() {
        check(Node::Verify, Event::DecideAct, Some("plan direct_read settle observe believe"));
        check(Node::Verify, Event::DirectRead, Some("plan"));
    }

    #[test]
    fn a_write_needs_a_token() {
        check(Node::Model, Event::DirectWrite, Some("decide_act authorize"));
    }

    #[test]
    fn nothing_leads_to_a_packet_that_no_state_takes() {
        check(Node::Model, Event::Enqueue, None);
        check(Node::Model, Event::Release, None);
    }

    #[test]
    fn nothing_is_done_only_to_get_somewhere_else() {
        check(Node::Authorize, Event::DirectRead, None);
        check(Node::SafeMode, Event::Settle, None);
        check(
            Node::DecideAct,
            Event::DecideEscalate,
            Some("decide_verify_first plan direct_read settle observe believe"),
        );
    }
}
