//! Outcomes of each event in each typestate: the codes that refuse the event, for every combination of facts that a log
//! can have.

use std::collections::{BTreeMap, BTreeSet};

use super::cells::{Fact, LogPosition, OPEN, Refusal};
use super::fsm::Fsm;
use super::table::Target;
use super::typed::Typestate;

/// Outcomes of an event in a typestate: for each combination of facts, the codes that refuse the event, most specific
/// first; empty where the event is legal.
pub type Outcomes = BTreeSet<Vec<String>>;

/// Refusal that applies to a cell if its fact has the given value: bit of the fact, and that value.
struct ApplicableRefusal<'m> {
    of: &'m Refusal,
    bit: Option<(u32, bool)>,
}

/// Event with a row: its target, and the refusals that may apply.
struct Transition<'m> {
    to: u32,
    event: &'m str,
    refusals: Vec<ApplicableRefusal<'m>>,
}

impl ApplicableRefusal<'_> {
    fn holds(&self, facts: u32) -> bool {
        self.bit.is_none_or(|(bit, value)| (facts & bit != 0) == value)
    }
}

impl Fsm {
    /// Returns the ids of the states without sub-states and of the sub-states (`S3_DECIDE/ACT`), in order.
    #[must_use]
    pub fn nodes(&self) -> Vec<String> {
        let mut nodes = Vec::new();
        for state in &self.states {
            if state.substates.is_empty() {
                nodes.push(state.id.clone());
            }
            nodes.extend(state.substates.iter().map(|sub| format!("{}/{}", state.id, sub.id)));
        }
        nodes
    }

    /// Returns the outcomes of an event in a typestate, as far as state and facts determine them. An event that the
    /// typed API does not offer there (`offered` is false) is refused as if the table had no row for it. `for_types`
    /// adds the refusals of the typed API, and omits cases that the type excludes in practice.
    #[must_use]
    pub fn outcomes(&self, state: &Typestate, event: &str, offered: bool, for_types: bool) -> Outcomes {
        let nodes = self.nodes();
        let bits = self.bits(&nodes, &state.of);
        let is_open = self.fact(OPEN).filter(|_| self.is_counted(state));
        let has_row = offered && self.after(&nodes, bits, event) != 0;
        let usually = state.usually.iter().filter(|_| for_types).fold(0, |bits, fact| bits | self.bit(fact));
        let refusals = self.applicable(&nodes, bits, event, has_row);
        let mut outcomes = Outcomes::new();
        for facts in self.facts_at(bits) {
            let other = is_open.is_some_and(|open| (facts & open != 0) != state.open);
            if !other && facts & usually == usually {
                outcomes.extend(self.complete(facts).map(|facts| {
                    let broken =
                        refusals.iter().filter(|refusal| refusal.holds(facts) && (for_types || !refusal.of.typed));
                    codes(broken.map(|refusal| refusal.of))
                }));
            }
        }
        outcomes
    }

    /// Returns the facts of the logs that lead to exactly these nodes, or all combinations of facts if there are no such logs.
    fn facts_at(&self, at: u32) -> Vec<u32> {
        let reached: Vec<u32> =
            self.cells.places.iter().filter(|(nodes, _)| *nodes == at).map(|(_, facts)| *facts).collect();
        if !reached.is_empty() {
            return reached;
        }
        let of_log = self.cells.facts.iter().filter(|fact| !fact.set_by.is_empty());
        of_log.fold(vec![0], |all, fact| {
            let bit = self.bit(&fact.id);
            all.into_iter().flat_map(|facts| [facts, facts | bit]).collect()
        })
    }

    /// Returns the facts on which the outcome of an event in a typestate depends.
    #[must_use]
    pub fn depends_on(&self, state: &Typestate, event: &str) -> Vec<&Fact> {
        let in_all = |refusal: &&Refusal| state.of.iter().all(|node| refusal.is_in(node));
        let packet = self.is_packet(event);
        let of: BTreeSet<&str> = self
            .cells
            .refusals
            .iter()
            .filter(in_all)
            .filter(|refusal| refusal.is_about(event, packet))
            .filter_map(|refusal| refusal.fact().map(|(fact, _)| fact))
            .collect();
        self.cells.facts.iter().filter(|fact| of.contains(fact.id.as_str())).collect()
    }

    /// Returns whether another type represents the same states, with or without open directives.
    fn is_counted(&self, state: &Typestate) -> bool {
        self.typed.states.iter().any(|other| other.of == state.of && other.open != state.open)
    }

    /// Returns the refusals of an event that node and table do not rule out, in order.
    fn applicable(&self, nodes: &[String], at: u32, event: &str, has_row: bool) -> Vec<ApplicableRefusal<'_>> {
        let packet = self.is_packet(event);
        let applies = |refusal: &&Refusal| {
            let within = members(nodes, at).all(|node| refusal.is_in(node));
            within && refusal.is_about(event, packet) && !(refusal.without_row && has_row)
        };
        let with_bit = |of| ApplicableRefusal { of, bit: of.fact().map(|(fact, value)| (self.bit(fact), value)) };
        self.cells.refusals.iter().filter(applies).map(with_bit).collect()
    }

    /// Returns every position that a legal log can reach.
    pub(super) fn places(&self) -> BTreeSet<LogPosition> {
        let nodes = self.nodes();
        let initial: Vec<String> = self.states.iter().filter(|s| s.initial).map(|s| s.id.clone()).collect();
        let mut reached = BTreeSet::from([(self.bits(&nodes, &initial), 0)]);
        let mut waiting: Vec<LogPosition> = reached.iter().copied().collect();
        // Many combinations of facts share a few sets of nodes.
        let mut steps: BTreeMap<u32, Vec<Transition<'_>>> = BTreeMap::new();
        while let Some((at, facts)) = waiting.pop() {
            let steps = steps.entry(at).or_insert_with(|| {
                let mut steps = Vec::new();
                for event in self.events.iter().filter(|event| event.packet.is_some()) {
                    let to = self.after(&nodes, at, &event.id);
                    let mut refusals = self.applicable(&nodes, at, &event.id, to != 0);
                    refusals.retain(|refusal| !refusal.of.typed);
                    if to != 0 {
                        steps.push(Transition { to, event: &event.id, refusals });
                    }
                }
                steps
            });
            for Transition { to, event, refusals } in steps {
                let legal = |facts: u32| !refusals.iter().any(|refusal| refusal.holds(facts));
                if !self.complete(facts).any(legal) {
                    continue;
                }
                for facts in self.then(facts, event) {
                    if reached.insert((*to, facts)) {
                        waiting.push((*to, facts));
                    }
                }
            }
        }
        reached
    }

    /// Returns the facts of a log, extended with every combination of facts about the packet under check.
    fn complete(&self, facts: u32) -> impl Iterator<Item = u32> {
        let mut all = vec![facts];
        for fact in self.cells.facts.iter().filter(|fact| fact.set_by.is_empty()) {
            let needs = fact.only_with.as_deref().map_or(0, |other| self.bit(other));
            let with: Vec<u32> =
                all.iter().filter(|all| *all & needs == needs).map(|all| all | self.bit(&fact.id)).collect();
            all.extend(with);
        }
        all.into_iter()
    }

    /// Returns the facts of a log after one more packet: several possibilities if the event alone does not determine them.
    fn then(&self, facts: u32, event: &str) -> Vec<u32> {
        let names = |list: &[String]| list.iter().any(|id| id == event);
        let mut all = vec![facts];
        for fact in &self.cells.facts {
            let bit = self.bit(&fact.id);
            if names(&fact.set_by) {
                all.iter_mut().for_each(|facts| *facts |= bit);
            } else if names(&fact.cleared_by) {
                all.iter_mut().for_each(|facts| *facts &= !bit);
            } else if names(&fact.may_clear) {
                all.extend(all.clone().into_iter().map(|facts| facts & !bit));
            }
        }
        all
    }

    /// Returns the nodes that an event leads to from a set of nodes.
    fn after(&self, nodes: &[String], at: u32, event: &str) -> u32 {
        let mut to = 0;
        for row in self.rows.iter().filter(|row| row.events.iter().any(|id| id == event)) {
            for from in members(nodes, at).filter(|node| row.is_from(node)) {
                for target in &row.to {
                    let target = match target {
                        Target::Same => from,
                        Target::State(to) => to,
                    };
                    to |= self.bits(nodes, &[target.to_owned()]);
                }
            }
        }
        to
    }

    fn bits(&self, nodes: &[String], of: &[String]) -> u32 {
        (0..).zip(nodes).filter(|(_, node)| of.contains(node)).fold(0, |bits, (at, _)| bits | nth(at))
    }

    fn is_packet(&self, event: &str) -> bool {
        self.events.iter().any(|known| known.id == event && known.packet.is_some())
    }

    fn fact(&self, id: &str) -> Option<u32> {
        (0..).zip(&self.cells.facts).find(|(_, fact)| fact.id == id).map(|(at, _)| nth(at))
    }

    /// Returns the bit of a fact, or 0 for an unknown fact.
    fn bit(&self, id: &str) -> u32 {
        self.fact(id).unwrap_or(0)
    }
}

fn members(nodes: &[String], at: u32) -> impl Iterator<Item = &str> {
    (0..).zip(nodes).filter(move |(bit, _)| at & nth(*bit) != 0).map(|(_, node)| node.as_str())
}

/// Returns one bit, or 0 beyond the last bit, which the emitter refuses.
fn nth(bit: u32) -> u32 {
    1_u32.checked_shl(bit).unwrap_or(0)
}

/// Returns the codes of refusals, without duplicates.
fn codes<'m>(found: impl Iterator<Item = &'m Refusal>) -> Vec<String> {
    let mut codes = Vec::new();
    for refusal in found {
        if !codes.contains(&refusal.code) {
            codes.push(refusal.code.clone());
        }
    }
    codes
}
