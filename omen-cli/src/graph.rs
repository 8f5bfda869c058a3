//! `omen graph`: prints the transition table as a diagram, and marks the path of an episode.
//!
//! Events that are legal in every state, with the same target, share one edge from a node that represents any state.

mod episode_path;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;

use omen_fsm::{Event, Node, NodeSet, State};

use self::episode_path::{ANY, EpisodePath};
use crate::args::{GraphArgs, GraphFormat};
use crate::exit::{Exit, Failure};
use crate::output::Output;

pub(crate) fn run(args: &GraphArgs, out: &mut Output) -> Result<Exit, Failure> {
    let path = args.log.as_deref().map(|log| EpisodePath::read(log, args, out)).transpose()?;
    let graph = Graph::of_table();
    let text = match args.format {
        GraphFormat::Mermaid => graph.mermaid(path.as_ref()),
        GraphFormat::Dot => graph.dot(path.as_ref()),
    };
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(Exit::Clean)
}

/// Edges with their events, sorted by source and target.
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

    /// Returns the states, each with its sub-states.
    fn states() -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
        State::ALL.iter().map(|state| {
            let nodes = Node::ALL.iter().filter(|node| node.state() == *state);
            (state.as_str(), nodes.filter_map(|node| Some(node.as_str().split_once('/')?.1)).collect())
        })
    }

    fn any_is_used(&self) -> bool {
        self.edges.keys().any(|(from, _)| *from == ANY)
    }

    fn mermaid(&self, path: Option<&EpisodePath>) -> String {
        let mut text = String::from("stateDiagram-v2\n");
        if let Some(path) = path {
            let _ = writeln!(text, "    %% {}", path.title());
        }
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
            let (from_id, to_id) = (from.replace('/', "_"), to.replace('/', "_"));
            let (taken, others) = split(path, (from, to), events);
            let mut labels: Vec<_> = taken.iter().map(|(event, lines)| format!("✓ {event} ({lines})")).collect();
            if !others.is_empty() {
                labels.push(others.join(", "));
            }
            for label in one_if_loop(from == to, labels, "<br>") {
                let _ = writeln!(text, "    {from_id} --> {to_id} : {label}");
            }
        }
        let Some(path) = path else { return text };
        for (node, lines) in path.rejected() {
            let _ = writeln!(text, "    note right of {} : rejected in {lines}", node.replace('/', "_"));
        }
        text.push_str("    classDef taken fill:#d7f0db,stroke:#1a7f37,stroke-width:2px,color:#000\n");
        text.push_str("    classDef last fill:#1a7f37,stroke:#1a7f37,color:#fff\n");
        for (class, nodes) in [("taken", path.passed()), ("last", path.end())] {
            let nodes: Vec<_> = nodes.iter().map(|node| node.as_str().replace('/', "_")).collect();
            if !nodes.is_empty() {
                let _ = writeln!(text, "    class {} {class}", nodes.join(","));
            }
        }
        text
    }

    fn dot(&self, path: Option<&EpisodePath>) -> String {
        let mut text = String::from("digraph episode {\n");
        if let Some(path) = path {
            let _ = writeln!(text, "    // {}", path.title());
        }
        text.push_str("    rankdir=LR;\n    node [shape=box, style=rounded];\n");
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
            let (taken, others) = split(path, (from, to), events);
            let is_loop = from == to;
            let labels: Vec<_> = taken.iter().map(|(event, lines)| format!("{event}\\n({lines})")).collect();
            // The edge of a taken loop also names the other events.
            let is_done = others.is_empty() || is_loop && !labels.is_empty();
            for label in one_if_loop(is_loop, labels, "\\n") {
                let rest =
                    if is_loop { others.iter().map(|event| format!("\\n{event}")).collect() } else { String::new() };
                let _ = writeln!(text, "    \"{from}\" -> \"{to}\" [label=\"{label}{rest}\", {TAKEN}, penwidth=2];");
            }
            if !is_done {
                let _ = writeln!(text, "    \"{from}\" -> \"{to}\" [label=\"{}\"];", others.join("\\n"));
            }
        }
        if let Some(path) = path {
            for node in path.passed() {
                let _ = writeln!(text, "    \"{}\" [{TAKEN}, penwidth=2];", node.as_str());
            }
            for node in path.end() {
                let _ = writeln!(
                    text,
                    "    \"{}\" [{TAKEN}, style=\"rounded,filled\", fillcolor=\"#d7f0db\"];",
                    node.as_str()
                );
            }
            for (node, lines) in path.rejected() {
                let _ = writeln!(
                    text,
                    "    \"rejected in {node}\" [label=\"rejected in\\n{lines}\", shape=note, color=\"#cf222e\"];"
                );
                let _ = writeln!(
                    text,
                    "    \"{node}\" -> \"rejected in {node}\" [style=dashed, color=\"#cf222e\", arrowhead=none];"
                );
            }
        }
        text.push_str("}\n");
        text
    }
}

/// Returns the labels of the edges between two states. Loops would overlap, and so would their labels, so they are merged.
fn one_if_loop(is_loop: bool, labels: Vec<String>, line_end: &str) -> Vec<String> {
    if is_loop && labels.len() > 1 { vec![labels.join(line_end)] } else { labels }
}

/// Splits the events of an edge into those taken, each with its lines, and the others.
fn split(
    path: Option<&EpisodePath>,
    edge: (&str, &str),
    events: &BTreeSet<&'static str>,
) -> (Vec<(&'static str, String)>, Vec<&'static str>) {
    let (mut taken, mut others) = (Vec::new(), Vec::new());
    for event in events {
        match path.and_then(|path| path.lines(edge, event)) {
            Some(lines) => taken.push((*event, lines)),
            None => others.push(*event),
        }
    }
    (taken, others)
}

const ANY_TITLE: &str = "any state";

/// Graphviz attributes of the path.
const TAKEN: &str = "color=\"#1a7f37\", fontcolor=\"#1a7f37\"";
