//! Verification loop: the packets that a state requires before it may be left.

use super::super::codes::known_code;
use super::super::guard::{self, AbsentValue, DerivedFact};
use super::super::index::Index;
use super::super::kind::MistakeKind;
use super::super::names::pascal_case;
use super::super::node::Node;
use super::super::record::{self, FieldSpec, Want, may, need};
use super::super::report::Report;
use super::ids::{ids, known_event};
use super::rows::Table;
use super::states::States;

const LOOP: &[FieldSpec] = &[
    need("state", Want::Text),
    need("opened_by", Want::Text),
    need("closed_by", Want::Text),
    need("rule", Want::Text),
    need("description", Want::Text),
    need("obligations", Want::List),
    need("evidence", Want::Record),
];

const OBLIGATION: &[FieldSpec] = &[
    need("id", Want::Text),
    need("name", Want::Text),
    need("events", Want::Texts),
    need("when", Want::List),
    need("missing", Want::Text),
    need("description", Want::Text),
    may("waived_unless", Want::Record),
];

const EVIDENCE: &[FieldSpec] =
    &[need("events", Want::Texts), need("missing", Want::Text), need("description", Want::Text)];

pub(super) fn check<'a>(
    index: &Index<'a>,
    derived: &[DerivedFact<'a>],
    states: &States<'a>,
    events: &[Node<'a>],
    table: Option<&Table<'a>>,
    node: &Node<'a>,
    report: &mut Report,
) {
    record::check(report, node, &[LOOP]);
    if let Some((code, at)) = node.text("rule").zip(node.get("rule")) {
        known_code(index, code, &at, report);
    }
    let looped = Loop { events, table, state: state(states, node, report) };
    looped.ends(node, report);
    let obligations = node.list("obligations");
    ids(&obligations, report);
    names(&obligations, report);
    for obligation in &obligations {
        record::check(report, obligation, &[OBLIGATION]);
        looped.all_come(obligation, report);
        for (event, _) in obligation.texts("events") {
            let Some(packet) = looped.packet(event).and_then(|packet| index.packet(packet)) else {
                continue;
            };
            for guard in obligation.list("when") {
                guard::check(index, derived, packet, &guard, AbsentValue::Allowed, report);
            }
        }
        if let Some(guard) = obligation.get("waived_unless") {
            // The packet before the closing one can have any type. Reporting one mistake is enough.
            let before = report.count();
            for packet in index.packets() {
                if report.count() == before {
                    guard::check(index, derived, packet, &guard, AbsentValue::Allowed, report);
                }
            }
        }
    }
    if let Some(evidence) = node.get("evidence") {
        record::check(report, &evidence, &[EVIDENCE]);
        looped.all_come(&evidence, report);
    }
}

struct Loop<'l, 'a> {
    events: &'l [Node<'a>],
    /// Transition table, if it has no mistakes.
    table: Option<&'l Table<'a>>,
    /// State of the loop, if known.
    state: Option<&'a str>,
}

impl<'a> Loop<'_, 'a> {
    fn packet(&self, event: &str) -> Option<&'a str> {
        self.events.iter().find(|node| node.text("id") == Some(event))?.text("packet")
    }

    /// Checks that `opened_by` leads into the loop's state, and `closed_by` out of it.
    fn ends(&self, node: &Node<'a>, report: &mut Report) {
        for (key, opens) in [("opened_by", true), ("closed_by", false)] {
            let Some((event, at)) = node.text(key).zip(node.get(key)) else { continue };
            if !known_event(self.events, event, &at, report) {
                continue;
            }
            let Some((state, table)) = self.state.zip(self.table) else { continue };
            let crosses = table.iter().any(|((from, with), targets)| {
                let leads_in = targets.iter().any(|to| to == state);
                let leads_out = targets.iter().any(|to| to != state);
                *with == event && if opens { from != state && leads_in } else { from == state && leads_out }
            });
            if !crosses {
                let way = if opens { "into" } else { "out of" };
                let problem = format!("no row for `{event}` leads {way} `{state}`");
                report.add(MistakeKind::LoopRow, &at, problem, "name an event that does, or add a row");
            }
        }
    }

    /// Checks that the `events` of an obligation or of the evidence are possible in the loop's state.
    fn all_come(&self, node: &Node<'a>, report: &mut Report) {
        for (event, at) in node.texts("events") {
            if !known_event(self.events, event, &at, report) {
                continue;
            }
            let Some((state, table)) = self.state.zip(self.table) else { continue };
            if !table.contains_key(&(state.to_owned(), event)) {
                let problem = format!("`{event}` has no row from `{state}`, so it never happens there");
                report.add(MistakeKind::LoopRow, &at, problem, "name an event that does, or add a row");
            }
        }
    }
}

fn state<'a>(states: &States<'a>, node: &Node<'a>, report: &mut Report) -> Option<&'a str> {
    let (state, at) = node.text("state").zip(node.get("state"))?;
    if states.to(state).is_none() {
        states.unknown(state, None, &at, report);
        return None;
    }
    Some(state)
}

fn names(obligations: &[Node<'_>], report: &mut Report) {
    let mut seen = Vec::new();
    for (name, at) in obligations.iter().filter_map(|node| node.text("name").zip(node.get("name"))) {
        pascal_case(name, &at, report);
        if seen.contains(&name) {
            let problem = format!("the name `{name}` is already used by another obligation");
            report.add(MistakeKind::DuplicateName, &at, problem, "give one of the two another name");
        }
        seen.push(name);
    }
}
