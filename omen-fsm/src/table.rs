//! The transition table, generated from `episode.fsm.json`, and sets of its nodes.

use std::fmt;

use omen_invariants::derived;
pub use omen_invariants::ledger::{Obligation, Obligations};
#[allow(unused_imports, reason = "the schema says which enums the guards compare")]
use omen_types::*;

include!(concat!(env!("OUT_DIR"), "/fsm.rs"));

/// A row of the table, as it is documented.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RowInfo {
    /// States, states with sub-state (`S3_DECIDE/ACT`), or `ANY`.
    pub from: &'static [&'static str],
    /// What happens.
    pub events: &'static [Event],
    /// Where it leads; empty if the state does not change.
    pub to: &'static [&'static str],
    /// What it means.
    pub description: &'static str,
    /// Where it comes from.
    pub source: &'static str,
}

/// A reason to refuse an event in some states: an entry of `refusals` in `cells`.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RefusalInfo {
    /// The code of the finding; it stands in `also` if another refusal comes first.
    pub code: Code,
    /// The nodes that it is about.
    pub within: NodeSet,
    /// The events that it is about.
    pub events: &'static [Event],
    /// Whether it applies only where the table has no row.
    pub without_row: bool,
    /// The fact on which it depends, and the value with which it applies.
    pub fact: Option<(Fact, bool)>,
    /// Whether only the typed API refuses it; a log may have it.
    pub typed: bool,
    /// Why it is refused.
    pub description: &'static str,
    /// Where it comes from.
    pub source: &'static str,
}

impl RefusalInfo {
    /// Whether it is about an event, wherever in a set of nodes the episode is.
    #[must_use]
    pub fn is_about(&self, nodes: NodeSet, event: Event) -> bool {
        self.is_within(nodes) && self.events.contains(&event)
    }

    /// Whether it is about all nodes of a set.
    pub(crate) fn is_within(&self, nodes: NodeSet) -> bool {
        nodes.0 & !self.within.0 == 0
    }
}

/// A layer and what it sends: an entry of `layers`.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SenderInfo {
    /// The layer.
    pub layer: LayerSource,
    /// The packets that it sends, besides those that any layer may send.
    pub sends: &'static [PacketType],
    /// What the layer does.
    pub description: &'static str,
}

impl SenderInfo {
    /// The layer as JSON has it, without quotes.
    #[must_use]
    pub fn name(&self) -> String {
        layer_name(self.layer)
    }
}

/// A layer as JSON has it, without quotes.
pub(crate) fn layer_name(layer: LayerSource) -> String {
    match layer {
        LayerSource::LayerNumber(number) => number.get().to_string(),
        LayerSource::IntegrityLayer(overlay) => overlay.as_str().to_owned(),
    }
}

/// A set of nodes: where an episode may be. More than one if the table allows several (D11).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct NodeSet(u16);

impl NodeSet {
    /// No node.
    pub const EMPTY: NodeSet = NodeSet(0);

    /// One node.
    #[must_use]
    pub const fn of(node: Node) -> Self {
        Self(1 << node as u8)
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether a node is among them.
    #[must_use]
    pub const fn contains(self, node: Node) -> bool {
        self.0 & Self::of(node).0 != 0
    }

    /// The nodes, in order.
    #[must_use]
    pub fn iter(self) -> Nodes {
        Nodes(self.0)
    }

    /// The set as bits, one for each node.
    pub(crate) const fn bits(self) -> u16 {
        self.0
    }

    /// The set that some bits are.
    pub(crate) const fn of_bits(bits: u16) -> Self {
        Self(bits)
    }

    /// The states that the nodes belong to, in order, each once.
    #[must_use]
    pub fn states(self) -> Vec<State> {
        let mut states: Vec<State> = self.iter().map(Node::state).collect();
        // Nodes are in the order of their states.
        states.dedup();
        states
    }

    /// Where an event leads from here; empty if the table has no row for it.
    #[must_use]
    pub fn after(self, event: Event) -> Self {
        let mut next = 0;
        for node in self.iter() {
            next |= row(node, event);
        }
        Self(next)
    }

    /// The events for which the table has a row here, in order.
    pub fn legal(self) -> impl Iterator<Item = Event> {
        Event::ALL.iter().copied().filter(move |event| !self.after(*event).is_empty())
    }
}

/// The nodes of a set, in order.
///
/// Goes from bit to bit: a filter over all nodes, inlined into filters over all states, once took
/// LLVM ten minutes to unswitch.
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

/// The states, joined by "or".
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
