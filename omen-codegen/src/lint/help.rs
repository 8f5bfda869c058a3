//! Help texts of individual findings: the entries in `helps` of a rule.

use super::kind::MistakeKind;
use super::names::is_snake_case;
use super::node::Node;
use super::record::{self, FieldSpec, Want, need};
use super::report::Report;
use crate::placeholders::placeholders;

const HELP: &[FieldSpec] = &[need("id", Want::Text), need("text", Want::Text)];

/// Checks the help texts of a rule. The id of each becomes the name of a constant or a function, and each
/// placeholder the name of a parameter.
pub(super) fn check(rule: &Node<'_>, report: &mut Report) {
    let mut ids = Vec::new();
    for help in rule.list("helps") {
        record::check(report, &help, &[HELP]);
        if let Some((id, at)) = named(&help, "id") {
            if !is_snake_case(id) {
                let problem = format!("the id `{id}` is not in snake_case");
                report.add(MistakeKind::HelpId, &at, problem, "write lower-case ASCII letters, digits and single `_`");
            } else if ids.contains(&id) {
                let problem = format!("another help of this rule has the id `{id}`");
                report.add(MistakeKind::HelpId, &at, problem, "give one of the two another id");
            }
            ids.push(id);
        }
        if let Some((text, at)) = named(&help, "text")
            && let Err(problem) = placeholders(text)
        {
            report.add(MistakeKind::HelpBraces, &at, problem, "write placeholders as `{limit}`, and no other braces");
        }
    }
}

/// Returns a field whose value is non-blank text.
fn named<'a>(node: &Node<'a>, key: &str) -> Option<(&'a str, Node<'a>)> {
    node.text(key).filter(|text| !text.trim().is_empty()).zip(node.get(key))
}
