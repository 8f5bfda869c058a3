//! States and sub-states.

use std::collections::BTreeSet;

use super::super::kind::MistakeKind;
use super::super::names::pascal_case;
use super::super::node::Node;
use super::super::record::{self, FieldSpec, Want, may, need};
use super::super::report::Report;
use super::super::suggest;
use super::ids::unique_ids;
use crate::json::Json;

const STATE: &[FieldSpec] = &[
    need("id", Want::Text),
    need("name", Want::Text),
    need("title", Want::Text),
    need("description", Want::Text),
    may("initial", Want::Flag),
    may("substates", Want::List),
];

const SUBSTATE: &[FieldSpec] = &[need("id", Want::Text), need("name", Want::Text), need("description", Want::Text)];

/// Wildcard in `from` of a row: every state.
pub(super) const ANY: &str = "ANY";
/// Wildcard in `to` of a row: the source state.
pub(super) const SAME: &str = "SAME";

/// Node of an episode: a state without sub-states, or a sub-state.
#[derive(Debug)]
pub(super) struct Leaf<'a> {
    /// Path, such as `S1_SENSE` or `S3_DECIDE/ACT`.
    pub(super) path: String,
    state: &'a str,
    pub(super) node: Node<'a>,
}

#[derive(Debug)]
pub(super) struct States<'a> {
    pub(super) leaves: Vec<Leaf<'a>>,
    /// Initial state, if it is unambiguous.
    pub(super) initial: Option<String>,
}

impl<'a> States<'a> {
    pub(super) fn check(file: &Node<'a>, report: &mut Report) -> Self {
        let nodes = file.list("states");
        unique_ids(&nodes, report);
        let mut names = Vec::new();
        let mut leaves = Vec::new();
        for node in &nodes {
            record::check(report, node, &[STATE]);
            named(node, &mut names, report);
            let substates = node.list("substates");
            unique_ids(&substates, report);
            for sub in &substates {
                record::check(report, sub, &[SUBSTATE]);
                named(sub, &mut names, report);
            }
            let Some(state) = node.text("id") else { continue };
            if substates.is_empty() {
                leaves.push(Leaf { path: state.to_owned(), state, node: node.clone() });
            }
            for (id, sub) in substates.into_iter().filter_map(|sub| Some((sub.text("id")?, sub))) {
                leaves.push(Leaf { path: format!("{state}/{id}"), state, node: sub });
            }
        }
        // The first of several equal ids counts; the others have already been reported.
        let mut seen = BTreeSet::new();
        leaves.retain(|leaf| seen.insert(leaf.path.clone()));
        let initial = initial(file, &nodes, report);
        Self { leaves, initial }
    }

    /// Returns the leaves that `name` in a row's `from` denotes; empty if the name is unknown.
    pub(super) fn from(&self, name: &str) -> Vec<&str> {
        let means = |leaf: &&Leaf<'_>| name == ANY || name == leaf.state || name == leaf.path;
        self.leaves.iter().filter(means).map(|leaf| leaf.path.as_str()).collect()
    }

    /// Returns the leaf that `name` in a row's `to` denotes.
    pub(super) fn to(&self, name: &str) -> Option<&str> {
        self.leaves.iter().map(|leaf| leaf.path.as_str()).find(|path| *path == name)
    }

    /// Returns whether `name` is a state with sub-states.
    pub(super) fn has_substates(&self, name: &str) -> bool {
        self.to(name).is_none() && self.leaves.iter().any(|leaf| leaf.state == name)
    }

    pub(super) fn unknown(&self, name: &str, wildcard: Option<&str>, at: &Node<'_>, report: &mut Report) {
        let mut known = Vec::from_iter(wildcard);
        for leaf in &self.leaves {
            for way in [leaf.state, leaf.path.as_str()] {
                if !known.contains(&way) {
                    known.push(way);
                }
            }
        }
        let help = suggest::help(name, known);
        report.add(MistakeKind::UnknownState, at, format!("unknown state `{name}`"), help);
    }
}

fn named<'a>(node: &Node<'a>, names: &mut Vec<String>, report: &mut Report) {
    if let Some((id, at)) = node.text("id").zip(node.get("id")) {
        let fine = id.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
        if !fine || id == ANY || id == SAME {
            report.add(
                MistakeKind::IdForm,
                &at,
                format!("the id `{id}` is not in CAPITALS, or is reserved in rows"),
                format!("write ASCII capitals, digits and `_`, other than `{ANY}` and `{SAME}`"),
            );
        }
    }
    if let Some((name, at)) = node.text("name").zip(node.get("name")) {
        pascal_case(name, &at, report);
        if names.contains(&name.to_ascii_lowercase()) {
            let problem = format!("the name `{name}` is already used by another state or sub-state");
            report.add(MistakeKind::DuplicateName, &at, problem, "give one of the two another name");
        }
        names.push(name.to_ascii_lowercase());
    }
}

fn initial(file: &Node<'_>, nodes: &[Node<'_>], report: &mut Report) -> Option<String> {
    let list = file.get("states")?;
    let is_initial = |node: &&Node<'_>| node.get("initial").is_some_and(|at| *at.json == Json::Bool(true));
    let help = "set `initial` to true on one state without sub-states";
    let mut initial = nodes.iter().filter(is_initial);
    let Some(first) = initial.next() else {
        report.add(MistakeKind::InitialState, &list, "no state is initial", help);
        return None;
    };
    let before = report.count();
    if !first.list("substates").is_empty() {
        report.add(MistakeKind::InitialState, first, "the initial state has sub-states", help);
    }
    for second in initial {
        report.add(MistakeKind::InitialState, second, "another state is initial already", help);
    }
    if report.count() == before { first.text("id").map(str::to_owned) } else { None }
}
