//! Decisions: their numbers and texts, which the documentation prints and `omen explain` looks up.

use super::kind::Kind;
use super::node::Node;
use super::record::{self, Field, Want, need};
use super::report::Report;
use super::root;
use crate::load::{DECISIONS_FILE, SchemaSet};

const FILE: &[Field] = &[need("version", Want::Text), need("decisions", Want::List)];

const DECISION: &[Field] = &[need("code", Want::Text), need("title", Want::Text), need("text", Want::Texts)];

pub(super) fn check(set: &SchemaSet, report: &mut Report) {
    let Some(json) = set.file(DECISIONS_FILE) else { return };
    let file = Node::root(DECISIONS_FILE, json);
    record::check(report, &file, &[FILE]);
    root::version(&file, report);
    for (number, decision) in (1..).zip(file.list("decisions")) {
        record::check(report, &decision, &[DECISION]);
        let wanted = format!("D{number}");
        // A code that is missing is reported as missing.
        if decision.get("code").is_some() && decision.text("code") != Some(&wanted) {
            report.add(
                Kind::RuleOrder,
                &decision,
                format!("the code of this decision is not `{wanted}`"),
                "number the decisions one after another, and keep them in this order",
            );
        }
    }
}
