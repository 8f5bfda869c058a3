//! What the tests of the rules share: packets from the examples, and an episode so far.
#![allow(clippy::expect_used, clippy::panic, reason = "tests")]

use omen_invariants::ledger::Update;
use omen_invariants::{Context, Ledger};
use omen_types::{Code, PacketFacts, PacketType};
use serde_json::Value;

use super::refusals;
use super::transition::Transition;
use crate::table::{Event, Node, NodeSet};

/// The first packet of a type in the examples that the schemas accept, with members set by their JSON pointers; `null`
/// removes one.
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

/// An episode so far. Where it is, a test says; the ledger is that of the packets that were accepted.
pub(crate) struct Episode {
    nodes: NodeSet,
    ledger: Ledger,
}

impl Default for Episode {
    fn default() -> Self {
        Self::at(Node::INITIAL)
    }
}

impl Episode {
    pub(crate) fn at(node: Node) -> Self {
        Self { nodes: NodeSet::of(node), ledger: Ledger::default() }
    }

    /// Takes a packet in as if it had been accepted.
    pub(crate) fn accept(self, packet: &Value) -> Self {
        self.update(packet, Update::default())
    }

    /// Takes a packet in, with what the state machine would say of it.
    pub(crate) fn update(mut self, packet: &Value, update: Update) -> Self {
        let line = packet.to_string();
        let facts = PacketFacts::parse(&line).unwrap_or_else(|rejected| panic!("{rejected}"));
        let now = self.ledger.clock_at(facts.header.created_at);
        self.ledger.accept(&facts, now, update);
        self
    }

    /// Does something with the transition that a packet would make.
    pub(crate) fn with<T>(&self, packet: &Value, what: impl FnOnce(&Transition<'_>) -> T) -> T {
        let line = packet.to_string();
        let facts = PacketFacts::parse(&line).unwrap_or_else(|rejected| panic!("{rejected}"));
        let event = Event::of(&facts);
        let context = Context::new(&facts, &self.ledger, None);
        what(&Transition { context, event, nodes: self.nodes, next: self.nodes.after(event) })
    }

    /// The codes with which the table and E1–E7 refuse a packet, the first one first.
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
