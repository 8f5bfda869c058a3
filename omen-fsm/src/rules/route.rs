//! The packets that lead from where an episode is to a packet that is not legal yet: what a finding tells the reader to send
//! first. The table knows the rows; what has to be settled on the way, the ledger knows.
//!
//! Only packets that lead there are suggested. Nothing is written, directed or escalated to get somewhere else: such a way is
//! legal, but nobody who has forgotten a packet has forgotten that one.

use omen_invariants::Ledger;

use crate::table::{Event, LOOP_CLOSED_BY, LOOP_NODE, LOOP_OPENED_BY, Node, NodeSet, Obligation, Obligations, step};

/// The fewest packets after which an event is legal, as far as the table and the rules E1 to E7 go. `None` if no packets lead
/// there; alerts are not suggested, but for the one that ends safe mode.
pub(crate) fn to(nodes: NodeSet, event: Event, ledger: &Ledger) -> Option<Vec<Event>> {
    let takes = |node: &&Node| !NodeSet::of(**node).after(event).is_empty();
    let only_after_a_halt = Node::ALL.iter().filter(takes).all(|node| *node == Node::SafeMode);
    if only_after_a_halt && !nodes.contains(Node::SafeMode) {
        return None;
    }
    let mut known = vec![Reached { place: Place::start(nodes, ledger), by: None, sent: 0 }];
    let most_open = ledger.open().len().min(MOST_OPEN) + 1;
    let mut at = 0;
    // Each place has as many packets before it as those before, or more: the first that fits is nearest.
    while let Some(Reached { place, sent, .. }) = known.get(at).copied() {
        if place.takes(event) {
            return Some(way(&known, at));
        }
        for step in place.steps().filter(|_| sent < LONGEST) {
            if let Some(next) = place.after(step, event)
                && next.open <= most_open
                && !known.iter().any(|other| other.place == next)
            {
                known.push(Reached { place: next, by: Some((at, step)), sent: sent + 1 });
            }
        }
        at += 1;
    }
    None
}

/// A place that packets lead to.
#[derive(Clone, Copy, Debug)]
struct Reached {
    place: Place,
    /// The last of the packets, and the position of the place where it is sent; none for the first place.
    by: Option<(usize, Event)>,
    /// How many packets.
    sent: usize,
}

/// The packets that lead to the place at a position.
fn way(known: &[Reached], mut at: usize) -> Vec<Event> {
    let mut sent = Vec::new();
    while let Some((before, event)) = known.get(at).and_then(|reached| reached.by) {
        sent.push(event);
        at = before;
    }
    sent.reverse();
    sent
}

/// More packets than the longest way needs: out of a new verification loop, and on to a token.
const LONGEST: usize = 12;

/// How many open directives are counted: a longer list of results to send helps nobody.
const MOST_OPEN: usize = 4;

/// Where an episode is after some packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    nodes: NodeSet,
    met: Obligations,
    /// How many directives have no result.
    open: usize,
    /// Whether a directive of the decision that rests here may write.
    authorized: bool,
}

impl Place {
    fn start(nodes: NodeSet, ledger: &Ledger) -> Self {
        let looped = ledger.verification();
        let met = Obligation::ALL.iter().filter(|one| looped.met.contains(**one) || looped.waived.contains(**one));
        let authorized = ledger.clock().is_some_and(|now| ledger.tokens().any_live(now));
        Self { nodes, met: met.copied().collect(), open: ledger.open().len().min(MOST_OPEN), authorized }
    }

    fn is_in(&self, node: Node) -> bool {
        self.nodes == NodeSet::of(node)
    }

    /// Whether an event is legal here.
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

    /// The packets to try, those of the verification loop in their order.
    fn steps(&self) -> impl Iterator<Item = Event> + use<> {
        let looped = self.is_in(LOOP_NODE).then(|| Obligation::ALL.iter().copied().map(step));
        looped.into_iter().flatten().chain(Event::ALL.iter().copied())
    }

    /// The place after a packet on the way to another.
    fn after(&self, event: Event, goal: Event) -> Option<Self> {
        let is_meant = match event {
            Event::Alert | Event::Halt | Event::Close | Event::DirectWrite => false,
            Event::DirectRead => self.is_in(LOOP_NODE) && goal != Event::Settle,
            Event::Authorize => goal == Event::DirectWrite,
            Event::DecideEscalate | Event::Escalate => goal == Event::Escalate,
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
            // What was open when safe mode began is cancelled (D13).
            Event::Release => place.open = 0,
            _ => {}
        }
        Some(place)
    }
}

/// Packets in words: "a belief update, then a decision to act".
pub(crate) fn words(events: &[Event]) -> String {
    events.iter().map(|event| event.description()).collect::<Vec<_>>().join(", then ")
}

/// The names that `omen new` takes.
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
