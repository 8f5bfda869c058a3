//! States and sub-states.

use std::collections::BTreeSet;

use super::super::kind::Kind;
use super::super::names::pascal_case;
use super::super::node::Node;
use super::super::record::{self, Field, Want, may, need};
use super::super::report::Report;
use super::super::suggest;
use super::unique_ids;
use crate::json::Json;

const STATE: &[Field] = &[
    need("id", Want::Text),
    need("name", Want::Text),
    need("title", Want::Text),
    need("description", Want::Text),
    may("initial", Want::Flag),
    may("substates", Want::List),
];

const SUBSTATE: &[Field] = &[need("id", Want::Text), need("name", Want::Text), need("description", Want::Text)];

/// As `from` of a row: every state.
pub(super) const ANY: &str = "ANY";
/// As `to` of a row: the state it came from.
pub(super) const SAME: &str = "SAME";

/// A place where an episode can be: a state without sub-states, or a sub-state.
#[derive(Debug)]
pub(super) struct Leaf<'a> {
    /// `S1_SENSE`, or `S3_DECIDE/ACT`.
    pub(super) path: String,
    state: &'a str,
    pub(super) node: Node<'a>,
}

/// All states.
#[derive(Debug)]
pub(super) struct States<'a> {
    pub(super) leaves: Vec<Leaf<'a>>,
    /// Where episodes start, if that is clear.
    pub(super) initial: Option<String>,
}

impl<'a> States<'a> {
    /// Checks the states of the file.
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
        // Of a repeated id the first counts; the repeat has been reported.
        let mut seen = BTreeSet::new();
        leaves.retain(|leaf| seen.insert(leaf.path.clone()));
        let initial = initial(file, &nodes, report);
        Self { leaves, initial }
    }

    /// The leaves that `name` in `from` of a row stands for; none if it is not known.
    pub(super) fn from(&self, name: &str) -> Vec<&str> {
        let means = |leaf: &&Leaf<'_>| name == ANY || name == leaf.state || name == leaf.path;
        self.leaves.iter().filter(means).map(|leaf| leaf.path.as_str()).collect()
    }

    /// The leaf that `name` in `to` of a row stands for.
    pub(super) fn to(&self, name: &str) -> Option<&str> {
        self.leaves.iter().map(|leaf| leaf.path.as_str()).find(|path| *path == name)
    }

    /// Whether `name` is a state that has sub-states.
    pub(super) fn has_substates(&self, name: &str) -> bool {
        self.to(name).is_none() && self.leaves.iter().any(|leaf| leaf.state == name)
    }

    /// Reports a name that is not a state.
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
        report.add(Kind::UnknownState, at, format!("unknown state `{name}`"), help);
    }
}

fn named<'a>(node: &Node<'a>, names: &mut Vec<String>, report: &mut Report) {
    if let Some((id, at)) = node.text("id").zip(node.get("id")) {
        let fine = id.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
        if !fine || id == ANY || id == SAME {
            report.add(
                Kind::IdForm,
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
            report.add(Kind::DuplicateName, &at, problem, "give one of the two another name");
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
        report.add(Kind::InitialState, &list, "no state is initial", help);
        return None;
    };
    let before = report.count();
    if !first.list("substates").is_empty() {
        report.add(Kind::InitialState, first, "the initial state has sub-states", help);
    }
    for second in initial {
        report.add(Kind::InitialState, second, "another state is initial already", help);
    }
    if report.count() == before { first.text("id").map(str::to_owned) } else { None }
}
