//! Fixtures for the tests of the rules: packets from the examples, and an episode.
#![allow(clippy::expect_used, clippy::panic, reason = "tests")]

use omen_invariants::ledger::Update;
use omen_invariants::{Context, Ledger};
use omen_types::{Code, PacketFacts, PacketType};
use serde_json::Value;

use super::refusals;
use super::transition::Transition;
use crate::table::{Event, Node, NodeSet};

/// Returns the first packet of a type in the valid examples, with fields set by their JSON pointers; `null` removes a field.
pub(crate) fn packet(packet_type: PacketType, members: &[(&str, Value)]) -> Value {
    let mut packet = omen_schema::EXAMPLES
        .iter()
        .filter(|(path, _)| path.ends_with(".jsonl"))
        .flat_map(|(_, log)| log.lines())
        .filter(|line| PacketFacts::parse(line).is_ok_and(|facts| facts.payload.packet_type() == packet_type))
        .find_map(|line| serde_json::from_str(line).ok())
        .unwrap_or_else(|| panic!("no example of {packet_type}"));
    members.iter().for_each(|(pointer, value)| set(&mut packet, pointer, value));
    packet
}

fn set(packet: &mut Value, pointer: &str, value: &Value) {
    let (parent, member) = pointer.rsplit_once('/').expect("a JSON pointer");
    let object = packet.pointer_mut(parent).and_then(Value::as_object_mut).expect("the parent is an object");
    if value.is_null() {
        object.remove(member);
    } else {
        object.insert(member.to_owned(), value.clone());
    }
}

/// Episode in a test. The test sets its nodes; the ledger reflects the accepted packets.
pub(crate) struct TestEpisode {
    nodes: NodeSet,
    ledger: Ledger,
}

impl Default for TestEpisode {
    fn default() -> Self {
        Self::at(Node::INITIAL)
    }
}

impl TestEpisode {
    pub(crate) fn at(node: Node) -> Self {
        Self { nodes: NodeSet::of(node), ledger: Ledger::default() }
    }

    /// Accepts a packet without checks.
    pub(crate) fn accept(self, packet: &Value) -> Self {
        self.update(packet, Update::default())
    }

    /// Accepts a packet, with what the state machine knows about it.
    pub(crate) fn update(mut self, packet: &Value, update: Update) -> Self {
        let line = packet.to_string();
        let facts = PacketFacts::parse(&line).unwrap_or_else(|rejected| panic!("{rejected}"));
        let now = self.ledger.clock_at(facts.header.created_at);
        self.ledger.accept(&facts, now, update);
        self
    }

    /// Calls a function with the transition that a packet would cause.
    pub(crate) fn with<T>(&self, packet: &Value, what: impl FnOnce(&Transition<'_>) -> T) -> T {
        let line = packet.to_string();
        let facts = PacketFacts::parse(&line).unwrap_or_else(|rejected| panic!("{rejected}"));
        let event = Event::of(&facts);
        let context = Context::new(&facts, &self.ledger, None);
        what(&Transition { context, event, nodes: self.nodes, next: self.nodes.after(event) })
    }

    /// Returns the codes for which the table and E1–E7 refuse a packet, in order.
    pub(crate) fn refused(&self, packet: &Value) -> Vec<Code> {
        let found = self.with(packet, refusals::check);
        found.into_iter().flat_map(|found| std::iter::once(found.code).chain(found.also)).collect()
    }

    pub(crate) fn nodes(&self) -> NodeSet {
        self.nodes
    }

    pub(crate) fn ledger(&self) -> &Ledger {
        &self.ledger
    }
}
