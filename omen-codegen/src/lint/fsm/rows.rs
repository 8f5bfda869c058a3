//! The transition table.

use std::collections::BTreeMap;

use super::super::kind::MistakeKind;
use super::super::node::Node;
use super::super::record::{self, FieldSpec, Want, need};
use super::super::report::Report;
use super::ids::known_event;
use super::states::{ANY, SAME, States};

const ROW: &[FieldSpec] = &[
    need("from", Want::Texts),
    need("events", Want::Texts),
    need("to", Want::Texts),
    need("description", Want::Text),
    need("source", Want::Text),
];

/// Transition table: targets by state and event. States are given as paths of leaves.
pub(super) type Table<'a> = BTreeMap<(String, &'a str), Vec<String>>;

/// Checks the rows, and returns the table if they have no mistakes.
pub(super) fn check<'a>(
    file: &Node<'a>,
    states: &States<'a>,
    events: &[Node<'a>],
    report: &mut Report,
) -> Option<Table<'a>> {
    let mut table = Table::new();
    let before = report.count();
    for row in file.list("rows") {
        record::check(report, &row, &[ROW]);
        enter(&row, states, events, &mut table, report);
    }
    // A faulty row would make its targets look unreachable.
    if report.count() > before || file.get("rows").is_none() {
        return None;
    }
    unreachable(states, &table, report);
    dead(events, &table, report);
    Some(table)
}

fn enter<'a>(row: &Node<'a>, states: &States<'a>, events: &[Node<'a>], table: &mut Table<'a>, report: &mut Report) {
    let from = from(row, states, report);
    let to = to(row, states, report);
    let mut taken = Vec::new();
    for (event, at) in row.texts("events") {
        if !known_event(events, event, &at, report) {
            continue;
        }
        for state in &from {
            let to = to.iter().map(|to| if *to == SAME { *state } else { *to });
            let targets = to.map(str::to_owned).collect();
            if table.insert(((*state).to_owned(), event), targets).is_some() {
                taken.push(format!("`{event}` in `{state}`"));
            }
        }
    }
    if let Some(first) = taken.first() {
        let more = match taken.len() {
            1 => String::new(),
            n => format!(" and {} more", n - 1),
        };
        report.add(
            MistakeKind::RowOverlap,
            row,
            format!("another row, or this one, already has {first}{more}"),
            "keep one row for a state and an event; a row can lead to several states",
        );
    }
}

fn from<'s>(row: &Node<'_>, states: &'s States<'_>, report: &mut Report) -> Vec<&'s str> {
    let names = row.texts("from");
    alone(ANY, &names, report);
    let mut from = Vec::new();
    for (name, at) in names {
        let leaves = states.from(name);
        if leaves.is_empty() {
            states.unknown(name, Some(ANY), &at, report);
        }
        from.extend(leaves);
    }
    from
}

fn to<'s>(row: &Node<'_>, states: &'s States<'_>, report: &mut Report) -> Vec<&'s str> {
    let names = row.texts("to");
    alone(SAME, &names, report);
    let mut to = Vec::new();
    for (name, at) in names {
        if name == SAME {
            to.push(SAME);
        } else if let Some(leaf) = states.to(name) {
            to.push(leaf);
        } else if states.has_substates(name) {
            report.add(
                MistakeKind::BareTarget,
                &at,
                format!("`{name}` has sub-states, and this row leads to none of them"),
                format!("name one of them: `{}`", states.from(name).join("`, `")),
            );
        } else {
            states.unknown(name, Some(SAME), &at, report);
        }
    }
    to
}

fn alone(wildcard: &str, names: &[(&str, Node<'_>)], report: &mut Report) {
    if let Some((_, at)) = names.iter().find(|(name, _)| *name == wildcard)
        && names.len() > 1
    {
        report.add(
            MistakeKind::WildcardNotAlone,
            at,
            format!("`{wildcard}` is combined with other states"),
            format!("remove the others, or `{wildcard}`"),
        );
    }
}

fn unreachable(states: &States<'_>, table: &Table<'_>, report: &mut Report) {
    let Some(initial) = &states.initial else { return };
    let mut reached = vec![initial.as_str()];
    let mut waiting = reached.clone();
    while let Some(state) = waiting.pop() {
        for ((_, _), targets) in table.iter().filter(|((from, _), _)| from == state) {
            for target in targets {
                if !reached.contains(&target.as_str()) {
                    reached.push(target);
                    waiting.push(target);
                }
            }
        }
    }
    for leaf in states.leaves.iter().filter(|leaf| !reached.contains(&leaf.path.as_str())) {
        report.add(
            MistakeKind::UnreachableState,
            &leaf.node,
            format!("no run of the table reaches `{}`", leaf.path),
            "add a row that leads to it, or remove it",
        );
    }
}

/// Reports events without a row that are not packets. A packet without a row is merely illegal in every state, but
/// any other event without a row has no effect at all.
fn dead(events: &[Node<'_>], table: &Table<'_>, report: &mut Report) {
    for event in events.iter().filter(|event| event.text("packet").is_none()) {
        let Some(id) = event.text("id") else { continue };
        if !table.keys().any(|(_, with_row)| *with_row == id) {
            report.add(
                MistakeKind::DeadEvent,
                event,
                format!("the event `{id}` is not a packet and has no row"),
                "add a row for it, or remove it",
            );
        }
    }
}
