//! `omen graph`: prints the transition table as a diagram.
//!
//! Events that are legal in every state, with the same target, have one edge, from a node for any state.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;

use omen_fsm::{Event, Node, NodeSet, State};

use crate::args::GraphFormat;
use crate::exit::{Exit, Failure};
use crate::output::Output;

pub(crate) fn run(format: GraphFormat, out: &mut Output) -> Result<Exit, Failure> {
    let graph = Graph::of_table();
    let text = match format {
        GraphFormat::Mermaid => graph.mermaid(),
        GraphFormat::Dot => graph.dot(),
    };
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(Exit::Clean)
}

/// The edges, sorted by source and target, with their events.
struct Graph {
    edges: BTreeMap<(&'static str, &'static str), BTreeSet<&'static str>>,
}

impl Graph {
    fn of_table() -> Self {
        let mut edges: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        for event in Event::ALL {
            let rows = Node::ALL.iter().map(|node| (*node, NodeSet::of(*node).after(*event)));
            let stays = |(node, to): (Node, NodeSet)| to == NodeSet::of(node);
            let (from, to): (Vec<_>, Vec<_>) = rows.clone().unzip();
            if rows.clone().all(stays) {
                edges.entry((ANY, ANY)).or_default().insert(event.as_str());
            } else if let Some(first) = to.first().filter(|first| to.iter().all(|to| to == *first)) {
                for to in first.iter() {
                    edges.entry((ANY, to.as_str())).or_default().insert(event.as_str());
                }
            } else {
                for (from, to) in from.into_iter().zip(to) {
                    for to in to.iter() {
                        edges.entry((from.as_str(), to.as_str())).or_default().insert(event.as_str());
                    }
                }
            }
        }
        Self { edges }
    }

    /// The states, each with its sub-states.
    fn states() -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
        State::ALL.iter().map(|state| {
            let nodes = Node::ALL.iter().filter(|node| node.state() == *state);
            (state.as_str(), nodes.filter_map(|node| Some(node.as_str().split_once('/')?.1)).collect())
        })
    }

    fn any_is_used(&self) -> bool {
        self.edges.keys().any(|(from, _)| *from == ANY)
    }

    fn mermaid(&self) -> String {
        let mut text = String::from("stateDiagram-v2\n");
        for (state, parts) in Self::states() {
            if parts.is_empty() {
                let _ = writeln!(text, "    state \"{state}\" as {state}");
            } else {
                let _ = writeln!(text, "    state {state} {{");
                for part in parts {
                    let _ = writeln!(text, "        state \"{part}\" as {state}_{part}");
                }
                text.push_str("    }\n");
            }
        }
        if self.any_is_used() {
            let _ = writeln!(text, "    state \"{ANY_TITLE}\" as {ANY}");
        }
        let _ = writeln!(text, "    [*] --> {}", Node::INITIAL.as_str().replace('/', "_"));
        for ((from, to), events) in &self.edges {
            let _ =
                writeln!(text, "    {} --> {} : {}", from.replace('/', "_"), to.replace('/', "_"), join(events, ", "));
        }
        text
    }

    fn dot(&self) -> String {
        let mut text = String::from("digraph episode {\n    rankdir=LR;\n    node [shape=box, style=rounded];\n");
        for (state, parts) in Self::states() {
            if parts.is_empty() {
                let _ = writeln!(text, "    \"{state}\";");
            } else {
                let _ = writeln!(text, "    subgraph \"cluster_{state}\" {{\n        label=\"{state}\";");
                for part in parts {
                    let _ = writeln!(text, "        \"{state}/{part}\" [label=\"{part}\"];");
                }
                text.push_str("    }\n");
            }
        }
        if self.any_is_used() {
            let _ = writeln!(text, "    \"{ANY}\" [label=\"{ANY_TITLE}\", style=dashed];");
        }
        let _ = writeln!(text, "    \"start\" [shape=point];\n    \"start\" -> \"{}\";", Node::INITIAL.as_str());
        for ((from, to), events) in &self.edges {
            let _ = writeln!(text, "    \"{from}\" -> \"{to}\" [label=\"{}\"];", join(events, "\\n"));
        }
        text.push_str("}\n");
        text
    }
}

fn join(events: &BTreeSet<&str>, between: &str) -> String {
    events.iter().copied().collect::<Vec<_>>().join(between)
}

const ANY: &str = "ANY";
const ANY_TITLE: &str = "any state";
