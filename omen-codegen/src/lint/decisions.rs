//! Decisions: their numbers and texts, which the documentation prints and `omen explain` looks up.

use super::kind::MistakeKind;
use super::node::Node;
use super::record::{self, FieldSpec, Want, need};
use super::report::Report;
use super::root;
use crate::load::{DECISIONS_FILE, SchemaSet};

const FILE: &[FieldSpec] = &[need("version", Want::Text), need("decisions", Want::List)];

const DECISION: &[FieldSpec] = &[need("code", Want::Text), need("title", Want::Text), need("text", Want::Texts)];

pub(super) fn check(set: &SchemaSet, report: &mut Report) {
    let Some(json) = set.file(DECISIONS_FILE) else { return };
    let file = Node::root(DECISIONS_FILE, json);
    record::check(report, &file, &[FILE]);
    root::version(&file, report);
    for (number, decision) in (1..).zip(file.list("decisions")) {
        record::check(report, &decision, &[DECISION]);
        let wanted = format!("D{number}");
        // A missing code is already reported as missing.
        if decision.get("code").is_some() && decision.text("code") != Some(&wanted) {
            report.add(
                MistakeKind::RuleOrder,
                &decision,
                format!("the code of this decision is not `{wanted}`"),
                "number the decisions one after another, and keep them in this order",
            );
        }
    }
}
