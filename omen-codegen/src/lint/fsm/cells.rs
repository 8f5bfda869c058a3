//! Code of each cell: refusals, and the facts on which they depend.

use super::super::codes::known_code;
use super::super::index::Index;
use super::super::kind::MistakeKind;
use super::super::node::Node;
use super::super::record::{self, FieldSpec, Want, may, need};
use super::super::report::Report;
use super::super::suggest;
use super::ids::{ids, known_event};
use super::states::{ANY, States};

const CELLS: &[FieldSpec] = &[need("description", Want::Text), need("facts", Want::List), need("refusals", Want::List)];

const FACT: &[FieldSpec] = &[
    need("id", Want::Text),
    may("set_by", Want::Texts),
    may("cleared_by", Want::Texts),
    may("may_clear", Want::Texts),
    may("only_with", Want::Text),
    need("description", Want::Text),
];

const REFUSAL: &[FieldSpec] = &[
    need("code", Want::Text),
    need("in", Want::Texts),
    may("except", Want::Texts),
    need("events", Want::Texts),
    may("without_row", Want::Flag),
    may("if", Want::Text),
    may("unless", Want::Text),
    may("typed", Want::Flag),
    need("description", Want::Text),
    need("source", Want::Text),
];

/// Maximum number of facts; the build enumerates all sets of facts as bits.
const MOST_FACTS: usize = 16;

pub(super) fn check(
    index: &Index<'_>,
    states: &States<'_>,
    events: &[Node<'_>],
    cells: &Node<'_>,
    report: &mut Report,
) {
    record::check(report, cells, &[CELLS]);
    let facts = cells.list("facts");
    ids(&facts, report);
    for fact in &facts {
        record::check(report, fact, &[FACT]);
        for (event, at) in ["set_by", "cleared_by", "may_clear"].iter().flat_map(|key| fact.texts(key)) {
            known_event(events, event, &at, report);
        }
        fact_at(&facts, fact, "only_with", report);
    }
    if let Some(fact) = facts.get(MOST_FACTS) {
        let problem = format!("there are more than {MOST_FACTS} facts");
        report.add(MistakeKind::RefusalForm, fact, problem, "remove facts on which no refusal depends");
    }
    for refusal in cells.list("refusals") {
        record::check(report, &refusal, &[REFUSAL]);
        if let (Some(code), Some(at)) = (refusal.text("code"), refusal.get("code")) {
            known_code(index, code, &at, report);
        }
        for (name, at) in refusal.texts("in").into_iter().chain(refusal.texts("except")) {
            if states.from(name).is_empty() {
                states.unknown(name, Some(ANY), &at, report);
            }
        }
        for (event, at) in refusal.texts("events").into_iter().filter(|(event, _)| *event != ANY) {
            known_event(events, event, &at, report);
        }
        ["if", "unless"].iter().for_each(|key| fact_at(&facts, &refusal, key, report));
        form(&refusal, report);
    }
}

/// Checks that the fact exists.
pub(super) fn known_fact(facts: &[Node<'_>], fact: &str, at: &Node<'_>, report: &mut Report) {
    let known: Vec<&str> = facts.iter().filter_map(|fact| fact.text("id")).collect();
    if !known.contains(&fact) {
        report.add(MistakeKind::UnknownFact, at, format!("unknown fact `{fact}`"), suggest::help(fact, known));
    }
}

fn fact_at(facts: &[Node<'_>], node: &Node<'_>, key: &str, report: &mut Report) {
    if let (Some(fact), Some(at)) = (node.text(key), node.get(key)) {
        known_fact(facts, fact, &at, report);
    }
}

/// Checks that a refusal depends on the table or on one fact: otherwise, it would forbid events that have a row.
fn form(refusal: &Node<'_>, report: &mut Report) {
    let facts = ["if", "unless"].iter().filter(|key| refusal.get(key).is_some()).count();
    let without_row = refusal.get("without_row").is_some_and(|flag| flag.json.as_bool() == Some(true));
    if facts > 1 {
        report.add(MistakeKind::RefusalForm, refusal, "a refusal depends on one fact", "keep `if` or `unless`");
    } else if facts == 0 && !without_row {
        report.add(
            MistakeKind::RefusalForm,
            refusal,
            "this refusal applies regardless of the table",
            "add `\"without_row\": true`, or the fact on which it depends as `if` or `unless`",
        );
    }
}
