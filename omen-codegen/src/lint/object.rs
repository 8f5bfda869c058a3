//! Objects with named fields.

use super::branches;
use super::conditional;
use super::index::{Definition, Index};
use super::kind::MistakeKind;
use super::property;
use super::record::{FieldSpec, Want, may, need};
use super::report::Report;
use super::suggest;
use crate::json::Json;

const OBJECT: &[FieldSpec] = &[
    need("description", Want::Text),
    need("type", Want::Any),
    need("properties", Want::Record),
    may("required", Want::Texts),
    may("additionalProperties", Want::Any),
    may("allOf", Want::List),
    may("x-omen-branches", Want::Record),
];

const PACKET: &[FieldSpec] = &[
    need("description", Want::Text),
    need("type", Want::Any),
    need("properties", Want::Record),
    may("required", Want::Texts),
    may("additionalProperties", Want::Any),
    may("patternProperties", Want::Record),
];

/// Returns the keywords that the object may have.
pub(super) fn fields(definition: &Definition<'_>) -> &'static [FieldSpec] {
    if definition.is_packet() { PACKET } else { OBJECT }
}

pub(super) fn check(index: &Index<'_>, definition: &Definition<'_>, report: &mut Report) {
    let node = &definition.node;
    match node.get("additionalProperties") {
        Some(at) if *at.json == Json::Bool(false) => {}
        at => report.add(
            MistakeKind::ObjectOpen,
            at.as_ref().unwrap_or(node),
            "this object accepts unknown fields",
            "write `\"additionalProperties\": false`",
        ),
    }
    for (name, at) in node.texts("required") {
        if definition.property(name).is_none() {
            let problem = format!("`required` names `{name}`, an unknown field of this object");
            let help = suggest::help(name, definition.property_names());
            report.add(MistakeKind::RequiredUnknown, &at, problem, help);
        }
    }
    for (name, at) in definition.properties() {
        property::check(index, definition, name, &at, report);
    }
    let before = report.count();
    for at in node.list("allOf") {
        conditional::check(index, definition, &at, report);
    }
    // A faulty conditional would also make its branches wrong.
    if report.count() == before {
        branches::check(index, definition, report);
    }
}
