//! Rules: the structural codes and invariants in `rules.json`, and the E rules next to the table.

use super::codes::known_code;
use super::index::Index;
use super::kind::MistakeKind;
use super::node::Node;
use super::record::{self, FieldSpec, Want, may, need};
use super::report::Report;
use super::{help, predicate, root, suggest};
use crate::load::{FSM_FILE, RULES_FILE, SchemaSet};

const FILE: &[FieldSpec] = &[
    need("version", Want::Text),
    need("structural", Want::List),
    need("invariants", Want::List),
    may("provenance", Want::List),
];

const RULE: &[FieldSpec] = &[
    need("code", Want::Text),
    need("title", Want::Text),
    need("severity", Want::Text),
    need("condition", Want::Text),
    may("packet_types", Want::Texts),
    need("statement", Want::Text),
    need("rationale", Want::Text),
    need("help", Want::Text),
    need("failure", Want::Text),
    need("source", Want::Text),
    may("shared_with", Want::Text),
    may("reported_as", Want::Text),
    may("helps", Want::List),
    may("predicates", Want::List),
];
/// Field for the lists whose entries state their stage. Invariants, and the rules on the origin of packets, belong to
/// the stage `invariant`.
const STAGE: &[FieldSpec] = &[need("stage", Want::Text)];
const POLICY: &[FieldSpec] = &[need("policy", Want::Texts)];

const STAGES: [&str; 3] = ["json", "schema", "fsm"];
const SEVERITIES: [&str; 3] = ["error", "warning", "error|warning"];

pub(super) fn check(set: &SchemaSet, index: &Index<'_>, report: &mut Report) {
    if let Some(json) = set.file(RULES_FILE) {
        let file = Node::root(RULES_FILE, json);
        record::check(report, &file, &[FILE]);
        root::version(&file, report);
        let structural = file.list("structural");
        rules(index, &structural, STAGE, report);
        in_capitals(&structural, report);
        let invariants = file.list("invariants");
        rules(index, &invariants, POLICY, report);
        in_order(&invariants, |number| format!("INV-{number:03}"), report);
        let provenance = file.list("provenance");
        rules(index, &provenance, &[], report);
        in_capitals(&provenance, report);
    }
    if let Some(json) = set.file(FSM_FILE) {
        let sequence = Node::root(FSM_FILE, json).list("rules");
        rules(index, &sequence, STAGE, report);
        in_order(&sequence, |number| format!("E{number}"), report);
    }
    unique(index, report);
    predicate::check(set, index, report);
}

fn rules(index: &Index<'_>, rules: &[Node<'_>], more: &[FieldSpec], report: &mut Report) {
    for rule in rules {
        record::check(report, rule, &[RULE, more]);
        word(rule, "stage", &STAGES, MistakeKind::UnknownStage, report);
        word(rule, "severity", &SEVERITIES, MistakeKind::UnknownSeverity, report);
        for key in ["shared_with", "reported_as"] {
            if let (Some(code), Some(at)) = (rule.text(key), rule.get(key)) {
                known_code(index, code, &at, report);
            }
        }
        for (name, at) in rule.texts("packet_types") {
            if index.packet(name).is_none() && !name.is_empty() {
                let help = suggest::help(name, index.packets().map(|packet| packet.name));
                report.add(MistakeKind::UnknownPacket, &at, format!("there is no packet `{name}`"), help);
            }
        }
        help::check(rule, report);
    }
}

fn word(rule: &Node<'_>, key: &str, known: &[&str], kind: MistakeKind, report: &mut Report) {
    if let (Some(word), Some(at)) = (rule.text(key), rule.get(key))
        && !known.contains(&word)
        && !word.trim().is_empty()
    {
        let problem = format!("unknown {key} `{word}`");
        report.add(kind, &at, problem, suggest::help(word, known.iter().copied()));
    }
}

fn in_capitals(rules: &[Node<'_>], report: &mut Report) {
    for (code, at) in rules.iter().filter_map(|rule| rule.text("code").zip(rule.get("code"))) {
        if !code.trim().is_empty() && !code.chars().all(|c| c.is_ascii_uppercase()) {
            report.add(
                MistakeKind::IdForm,
                &at,
                format!("the code `{code}` is not in CAPITALS"),
                "write ASCII capitals alone",
            );
        }
    }
}

fn in_order(rules: &[Node<'_>], code: impl Fn(usize) -> String, report: &mut Report) {
    for (number, rule) in (1..).zip(rules) {
        let wanted = code(number);
        // A missing code is already reported as missing.
        if rule.get("code").is_some() && rule.text("code") != Some(&wanted) {
            report.add(
                MistakeKind::RuleOrder,
                rule,
                format!("the code of this rule is not `{wanted}`"),
                "number the rules one after another, and keep them in this order",
            );
        }
    }
}

fn unique(index: &Index<'_>, report: &mut Report) {
    let mut seen = Vec::new();
    for (code, at) in index.codes() {
        if seen.contains(code) {
            let problem = format!("the code `{code}` is already used by another rule");
            report.add(MistakeKind::DuplicateCode, at, problem, "give one of the two another code");
        }
        seen.push(*code);
    }
}
