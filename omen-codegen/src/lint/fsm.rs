//! State machine: states, events and derived facts; rows and loop are in `fsm/`.

mod cells;
mod ids;
mod layers;
mod rows;
mod states;
mod typed;
mod verification;

use super::guard::{self, AbsentValue, DerivedFact};
use super::index::Index;
use super::kind::MistakeKind;
use super::node::Node;
use super::record::{self, FieldSpec, Want, may, need};
use super::report::Report;
use super::{root, suggest};
use crate::load::{FSM_FILE, SchemaSet};
use ids::ids;
pub(super) use ids::ids_at;
use states::States;

const FILE: &[FieldSpec] = &[
    need("version", Want::Text),
    need("title", Want::Text),
    need("description", Want::Text),
    may("derived", Want::List),
    need("states", Want::List),
    need("events", Want::List),
    need("rows", Want::List),
    need("verification_loop", Want::Record),
    need("cells", Want::Record),
    may("layers", Want::Record),
    may("typed", Want::Record),
    need("rules", Want::List),
];

const DERIVED: &[FieldSpec] = &[
    need("id", Want::Text),
    need("packet", Want::Text),
    may("enum", Want::Text),
    may("values", Want::Texts),
    need("description", Want::Text),
    need("source", Want::Text),
];

const EVENT: &[FieldSpec] = &[
    need("id", Want::Text),
    need("packet", Want::TextOrNull),
    need("when", Want::List),
    need("description", Want::Text),
];

pub(super) fn check(set: &SchemaSet, index: &Index<'_>, report: &mut Report) {
    let Some(json) = set.file(FSM_FILE) else { return };
    let file = Node::root(FSM_FILE, json);
    record::check(report, &file, &[FILE]);
    root::version(&file, report);
    let derived = facts(index, &file, report);
    let events = file.list("events");
    check_events(index, &derived, &file, &events, report);
    let states = States::check(&file, report);
    let table = rows::check(&file, &states, &events, report);
    if let Some(looped) = file.get("verification_loop") {
        verification::check(index, &derived, &states, &events, table.as_ref(), &looped, report);
    }
    // Mistakes in the machine or the rules would cause misleading ones in the cells and the typed API.
    if report.count() == 0
        && let Some(cells) = file.get("cells")
    {
        cells::check(index, &states, &events, &cells, report);
    }
    if report.count() == 0
        && let Some(layers) = file.get("layers")
    {
        layers::check(index, &events, &layers, report);
    }
    if report.count() == 0
        && let Some(typed) = file.get("typed")
    {
        let facts = file.get("cells").map(|cells| cells.list("facts")).unwrap_or_default();
        let machine = typed::Machine { states: &states, events: &events, facts: &facts, json };
        typed::check(index, &machine, &typed, report);
    }
}

fn known_packet(index: &Index<'_>, node: &Node<'_>, report: &mut Report) {
    if let (Some(name), Some(at)) = (node.text("packet"), node.get("packet"))
        && index.packet(name).is_none()
        && !name.trim().is_empty()
    {
        let help = suggest::help(name, index.packets().map(|packet| packet.name));
        report.add(MistakeKind::UnknownPacket, &at, format!("there is no packet `{name}`"), help);
    }
}

/// Returns the values of a derived fact: those of its enum, which include any new values, or its own.
fn values<'a>(index: &Index<'a>, node: &Node<'a>, report: &mut Report) -> Vec<&'a str> {
    let own = node.texts("values").into_iter().map(|(value, _)| value).collect();
    let mut wrong =
        |at: &Node<'_>, problem: String, help: String| report.add(MistakeKind::DerivedValues, at, problem, help);
    match (node.text("enum").zip(node.get("enum")), node.get("values")) {
        (Some((name, at)), None) => {
            let enums = || index.definitions().filter(|definition| definition.shape == super::index::Shape::Enum);
            if let Some(definition) = enums().find(|definition| definition.name == name) {
                return definition.value_names();
            }
            let help = suggest::help(name, enums().map(|definition| definition.name));
            wrong(&at, format!("there is no enum `{name}`"), help);
        }
        (None, Some(_)) => {}
        _ => {
            let problem = "a derived fact has either `enum` or `values`".to_owned();
            wrong(node, problem, "name the enum whose values it has, or list its own".to_owned());
        }
    }
    own
}

fn facts<'a>(index: &Index<'a>, file: &Node<'a>, report: &mut Report) -> Vec<DerivedFact<'a>> {
    let nodes = file.list("derived");
    ids(&nodes, report);
    let fact = |node: &Node<'a>| {
        record::check(report, node, &[DERIVED]);
        known_packet(index, node, report);
        let values = values(index, node, report);
        Some(DerivedFact { id: node.text("id")?, packet: node.text("packet")?, values })
    };
    nodes.iter().filter_map(fact).collect()
}

fn check_events<'a>(
    index: &Index<'a>,
    derived: &[DerivedFact<'a>],
    file: &Node<'a>,
    events: &[Node<'a>],
    report: &mut Report,
) {
    ids(events, report);
    for event in events {
        record::check(report, event, &[EVENT]);
        known_packet(index, event, report);
        if event.text("packet").is_none() && !event.list("when").is_empty() {
            report.add(
                MistakeKind::GuardForm,
                event,
                "this event has guards, but no packet that they could check",
                "remove the guards, or name the packet",
            );
        }
    }
    let Some(list) = file.get("events") else { return };
    for packet in index.packets() {
        let of_packet: Vec<&Node<'a>> =
            events.iter().filter(|event| event.text("packet") == Some(packet.name)).collect();
        let before = report.count();
        for guard in of_packet.iter().flat_map(|event| event.list("when")) {
            guard::check(index, derived, packet, &guard, AbsentValue::Refused, report);
        }
        if report.count() == before {
            guard::partition(index, derived, packet, &of_packet, &list, report);
        }
    }
}
