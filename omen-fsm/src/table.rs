//! Transition table, generated from `episode.fsm.json`, and sets of its nodes.

use std::fmt;

use omen_invariants::derived;
pub use omen_invariants::ledger::{Obligation, Obligations};
#[allow(unused_imports, reason = "the schema says which enums the guards compare")]
use omen_types::*;

include!(concat!(env!("OUT_DIR"), "/fsm.rs"));

/// Row of the table, for documentation.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RowInfo {
    /// Source states, states with sub-state (`S3_DECIDE/ACT`), or `ANY`.
    pub from: &'static [&'static str],
    /// Events of the row.
    pub events: &'static [Event],
    /// Targets; empty if the state does not change.
    pub to: &'static [&'static str],
    /// Description of the row.
    pub description: &'static str,
    /// Source: decisions, or sections of the protocol documents.
    pub source: &'static str,
}

/// Reason to refuse an event in some states: an entry of `refusals` in `cells`.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RefusalInfo {
    /// Code of the finding, or an element of its `also` if another refusal comes first.
    pub code: Code,
    /// Nodes to which the refusal applies.
    pub within: NodeSet,
    /// Events to which the refusal applies.
    pub events: &'static [Event],
    /// Whether the refusal applies only if the table has no row.
    pub without_row: bool,
    /// Fact on which the refusal depends, and the value for which it applies.
    pub fact: Option<(Fact, bool)>,
    /// Whether only the typed API uses the refusal; a log may contain the event.
    pub typed: bool,
    /// Reason for the refusal.
    pub description: &'static str,
    /// Source: decisions, or sections of the protocol documents.
    pub source: &'static str,
}

impl RefusalInfo {
    /// Returns whether the refusal applies to an event in all nodes of a set.
    #[must_use]
    pub fn is_about(&self, nodes: NodeSet, event: Event) -> bool {
        self.is_within(nodes) && self.events.contains(&event)
    }

    /// Returns whether the refusal applies to all nodes of a set.
    pub(crate) fn is_within(&self, nodes: NodeSet) -> bool {
        nodes.0 & !self.within.0 == 0
    }
}

/// Layer with the packets that it sends: an entry of `layers`.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SenderInfo {
    /// Layer that sends.
    pub layer: LayerSource,
    /// Packets that the layer sends, in addition to the packets that any layer may send.
    pub sends: &'static [PacketType],
    /// Description of the layer's role.
    pub description: &'static str,
}

impl SenderInfo {
    /// Returns the layer as written in JSON, without quotes.
    #[must_use]
    pub fn name(&self) -> String {
        layer_name(self.layer)
    }
}

/// Returns a layer as written in JSON, without quotes.
pub(crate) fn layer_name(layer: LayerSource) -> String {
    match layer {
        LayerSource::LayerNumber(number) => number.get().to_string(),
        LayerSource::IntegrityLayer(overlay) => overlay.as_str().to_owned(),
    }
}

/// Set of nodes: the possible positions of an episode. More than one if the table is nondeterministic (D11).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct NodeSet(u16);

impl NodeSet {
    /// The empty set.
    pub const EMPTY: NodeSet = NodeSet(0);

    /// Returns the set with one node.
    #[must_use]
    pub const fn of(node: Node) -> Self {
        Self(1 << node as u8)
    }

    /// Returns whether the set is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns whether the set contains a node.
    #[must_use]
    pub const fn contains(self, node: Node) -> bool {
        self.0 & Self::of(node).0 != 0
    }

    /// Returns the nodes, in order.
    #[must_use]
    pub fn iter(self) -> Nodes {
        Nodes(self.0)
    }

    /// Returns the set as bits, one per node.
    pub(crate) const fn bits(self) -> u16 {
        self.0
    }

    pub(crate) const fn of_bits(bits: u16) -> Self {
        Self(bits)
    }

    /// Returns the states of the nodes, in order, without duplicates.
    #[must_use]
    pub fn states(self) -> Vec<State> {
        let mut states: Vec<State> = self.iter().map(Node::state).collect();
        // Nodes are sorted by state.
        states.dedup();
        states
    }

    /// Returns the target nodes of an event; empty if the table has no row for it.
    #[must_use]
    pub fn after(self, event: Event) -> Self {
        let mut next = 0;
        for node in self.iter() {
            next |= row(node, event);
        }
        Self(next)
    }

    /// Returns the events for which the table has a row, in order.
    pub fn legal(self) -> impl Iterator<Item = Event> {
        Event::ALL.iter().copied().filter(move |event| !self.after(*event).is_empty())
    }
}

/// Iterator over the nodes of a set, in order.
///
/// It goes from bit to bit: a filter over all nodes, inlined into filters over all states, once took LLVM ten minutes
/// to unswitch.
#[derive(Clone, Debug)]
pub struct Nodes(u16);

impl Iterator for Nodes {
    type Item = Node;

    fn next(&mut self) -> Option<Node> {
        let node = Node::ALL.get(self.0.trailing_zeros() as usize).copied()?;
        self.0 &= self.0 - 1;
        Some(node)
    }
}

fn row(node: Node, event: Event) -> u16 {
    NEXT.get(node as usize).and_then(|row| row.get(event as usize)).copied().unwrap_or(0)
}

impl FromIterator<Node> for NodeSet {
    fn from_iter<I: IntoIterator<Item = Node>>(nodes: I) -> Self {
        Self(nodes.into_iter().fold(0, |bits, node| bits | Self::of(node).0))
    }
}

/// Prints the states, joined by "or".
impl fmt::Display for NodeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, state) in self.states().into_iter().enumerate() {
            if i > 0 {
                f.write_str(" or ")?;
            }
            f.write_str(state.as_str())?;
        }
        Ok(())
    }
}

impl fmt::Debug for NodeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(Node::as_str)).finish()
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
