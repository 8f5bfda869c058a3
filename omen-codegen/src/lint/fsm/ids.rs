//! Ids of entries, and references to events.

use super::super::kind::MistakeKind;
use super::super::names::is_snake_case;
use super::super::node::Node;
use super::super::report::Report;
use super::super::suggest;

/// Checks that the `id`s of `nodes` are distinct and in snake_case, because methods are named after them.
pub(super) fn ids(nodes: &[Node<'_>], report: &mut Report) {
    unique_ids(nodes, report);
    for (id, at) in nodes.iter().filter_map(|node| node.text("id").zip(node.get("id"))) {
        if !is_snake_case(id) && !id.trim().is_empty() {
            report.add(
                MistakeKind::IdForm,
                &at,
                format!("the id `{id}` is not in snake_case"),
                "write lower-case ASCII letters and digits, with single `_` between words",
            );
        }
    }
}

/// Checks that the `id`s of `nodes` are distinct.
pub(super) fn unique_ids(nodes: &[Node<'_>], report: &mut Report) {
    ids_at("id", nodes, report);
}

/// Checks that the values at `key` of `nodes` are distinct.
pub(in crate::lint) fn ids_at(key: &str, nodes: &[Node<'_>], report: &mut Report) {
    let mut seen = Vec::new();
    for (id, at) in nodes.iter().filter_map(|node| node.text(key).zip(node.get(key))) {
        if seen.contains(&id) {
            let problem = format!("the {key} `{id}` is already used by another entry of this list");
            report.add(MistakeKind::DuplicateId, &at, problem, format!("give one of the two another {key}"));
        }
        seen.push(id);
    }
}

/// Checks that the event `id` exists, and returns whether it does.
pub(super) fn known_event(events: &[Node<'_>], id: &str, at: &Node<'_>, report: &mut Report) -> bool {
    let known: Vec<&str> = events.iter().filter_map(|event| event.text("id")).collect();
    let found = known.contains(&id);
    if !found {
        let help = suggest::help(id, known);
        report.add(MistakeKind::UnknownEvent, at, format!("unknown event `{id}`"), help);
    }
    found
}
