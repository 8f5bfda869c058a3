//! The state machine in the form that the page needs: states, events and rows, taken from the schema.

use omen_fsm::{Event, Node, NodeSet, State};
use omen_types::PacketType;
use serde::Serialize;

/// States, events and rows, which refer to each other by index in these lists.
#[derive(Debug, Serialize)]
pub(super) struct Tables {
    /// Name and meaning of each state.
    states: Vec<[&'static str; 2]>,
    /// Name of each node, and the index of its state.
    nodes: Vec<(&'static str, usize)>,
    /// Name and meaning of each event.
    events: Vec<[&'static str; 2]>,
    /// Rows of the transition table: source node, event, target node.
    rows: Vec<[usize; 3]>,
    types: Vec<&'static str>,
}

impl Tables {
    pub(super) fn new() -> Self {
        let rows = Node::ALL.iter().flat_map(|from| {
            Event::ALL.iter().flat_map(move |event| {
                let to = NodeSet::of(*from).after(*event);
                to.iter().map(move |to| [node(*from), self::event(*event), node(to)])
            })
        });
        Self {
            states: State::ALL.iter().map(|state| [state.as_str(), state.description()]).collect(),
            nodes: Node::ALL.iter().map(|node| (node.as_str(), place(State::ALL, node.state()))).collect(),
            events: Event::ALL.iter().map(|event| [event.as_str(), event.description()]).collect(),
            rows: rows.collect(),
            types: PacketType::ALL.iter().map(|packet_type| packet_type.as_str()).collect(),
        }
    }
}

pub(super) fn nodes(set: NodeSet) -> Vec<usize> {
    set.iter().map(node).collect()
}

fn node(node: Node) -> usize {
    place(Node::ALL, node)
}

pub(super) fn event(event: Event) -> usize {
    place(Event::ALL, event)
}

pub(super) fn packet_type(packet_type: PacketType) -> usize {
    place(PacketType::ALL, packet_type)
}

/// Returns the index of a value in the list of all values, by linear search since the list is short.
fn place<T: PartialEq>(all: &[T], value: T) -> usize {
    all.iter().position(|other| *other == value).unwrap_or_default()
}
