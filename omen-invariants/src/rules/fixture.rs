//! Fixtures for the tests of the rules: packets from the examples, and an episode.
#![allow(clippy::expect_used, clippy::panic, reason = "tests")]

use omen_types::{Code, Diagnostic, PacketFacts, PacketType, Severity};
use serde_json::Value;

use crate::context::Context;
use crate::ledger::{Ledger, Update};

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

/// Sets a field, or removes it if the value is null.
pub(crate) fn set(packet: &mut Value, pointer: &str, value: &Value) {
    let (parent, member) = pointer.rsplit_once('/').expect("a JSON pointer");
    let object = packet.pointer_mut(parent).and_then(Value::as_object_mut).expect("the parent is an object");
    if value.is_null() {
        object.remove(member);
    } else {
        object.insert(member.to_owned(), value.clone());
    }
}

/// Episode in a test.
#[derive(Default)]
pub(crate) struct Episode {
    ledger: Ledger,
}

impl Episode {
    /// Accepts a packet without checks.
    pub(crate) fn accept(mut self, packet: &Value, update: Update) -> Self {
        let line = packet.to_string();
        let facts = PacketFacts::parse(&line).unwrap_or_else(|rejected| panic!("{rejected}"));
        let now = self.ledger.clock_at(facts.header.created_at);
        self.ledger.accept(&facts, now, update);
        self
    }

    /// Returns the findings of a rule on the next packet, as severity and location.
    pub(crate) fn check(
        &self,
        rule: impl Fn(&Context<'_>, &mut Vec<Diagnostic>),
        packet: &Value,
    ) -> Vec<(Severity, String)> {
        let line = packet.to_string();
        let facts = PacketFacts::parse(&line).unwrap_or_else(|rejected| panic!("{rejected}"));
        let mut findings = Vec::new();
        rule(&Context::new(&facts, &self.ledger, None), &mut findings);
        findings.into_iter().map(|found| (found.severity, found.pointer.expect("a place"))).collect()
    }

    pub(crate) fn ledger(&self) -> &Ledger {
        &self.ledger
    }
}

/// Returns the codes of invariants and sequence rules among the errors of the schema stage.
pub(crate) fn also(packet: &Value) -> Vec<Code> {
    let rejected = PacketFacts::parse(&packet.to_string()).err();
    let mut codes: Vec<Code> =
        rejected.into_iter().flat_map(|found| found.errors).flat_map(|error| error.also).collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}
