//! The set of files, and the root of each.

use super::index::{HEADER, MCP, PACKET_UNION, is_library, stem};
use super::kind::MistakeKind;
use super::node::Node;
use super::record::{self, FieldSpec, Want, may, need};
use super::report::Report;
use super::suggest;
use crate::load::ENVELOPE;
use crate::load::{BASE_FILE, DECISIONS_FILE, FSM_FILE, GATE_FILE, RULES_FILE, SchemaSet};

/// Version of the protocol that the files describe; part of every `$id`.
const VERSION: &str = "0.7";

/// Keywords that only the root of a schema file has.
pub(super) const ROOT: &[FieldSpec] =
    &[need("$schema", Want::Any), need("$id", Want::Any), need("title", Want::Any), may("$defs", Want::Record)];

const LIBRARY: &[FieldSpec] = &[need("description", Want::Text)];

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";
const HOST: &str = "https://schemas.omen.example";

/// Files that other files and phases refer to by name, with their content.
const FILES: &[(&str, &str)] = &[
    (PACKET_UNION, "the union of all packets"),
    (HEADER, "the header of every packet"),
    (MCP, "the MCP envelope of every packet"),
    (BASE_FILE, "what all packets have in common"),
    (FSM_FILE, "the state machine"),
    (RULES_FILE, "the invariants and the structural codes"),
    (GATE_FILE, "the codes and the steps of the tool boundary"),
    (DECISIONS_FILE, "the decisions on questions that the documents leave open"),
];

pub(super) fn check(set: &SchemaSet, report: &mut Report) {
    for (file, holds) in FILES {
        if set.file(file).is_none() {
            report.add_missing_file(file, holds);
        }
    }
    for (file, json) in set.files() {
        let root = Node::root(file, json);
        if !file.ends_with(".schema.json") && ![DECISIONS_FILE, FSM_FILE, GATE_FILE, RULES_FILE].contains(&file) {
            report.add(
                MistakeKind::StrayFile,
                &root,
                format!("unknown file `{file}`"),
                "end the name of a schema in `.schema.json`, or remove the file",
            );
        }
        repeated_keys(&root, report);
    }
    for (file, json) in set.schemas() {
        let root = Node::root(file, json);
        fixed(&root, "$schema", DIALECT, MistakeKind::Dialect, report);
        fixed(&root, "$id", &format!("{HOST}/v{VERSION}/{file}"), MistakeKind::IdMismatch, report);
        title(&root, report);
        if is_library(json) {
            record::check(report, &root, &[ROOT, LIBRARY]);
        }
    }
}

/// Checks the `version` of a file that is not a schema.
pub(super) fn version(root: &Node<'_>, report: &mut Report) {
    fixed(root, "version", VERSION, MistakeKind::VersionMismatch, report);
}

fn fixed(root: &Node<'_>, key: &str, wanted: &str, kind: MistakeKind, report: &mut Report) {
    // A missing `$id` or title is reported together with the other keywords.
    if let Some(node) = root.get(key).filter(|node| node.json.as_str() != Some(wanted)) {
        report.add(kind, &node, format!("`{key}` is not `{wanted}`"), format!("write `{wanted}`"));
    }
}

fn title(root: &Node<'_>, report: &mut Report) {
    let Some(node) = root.get("title") else { return };
    let name = type_name(stem(root.file));
    if node.json.as_str() != Some(name.as_str()) {
        report.add(
            MistakeKind::TitleMismatch,
            &node,
            format!("the title of this file is not `{name}`"),
            format!("write `{name}`, or rename the file"),
        );
    }
}

/// Returns the name of the type that the file `stem` defines: the stem in PascalCase, or `McpEnvelope` for `MCP`.
fn type_name(stem: &str) -> String {
    if stem == ENVELOPE.0 {
        return ENVELOPE.1.to_owned();
    }
    let mut chars = stem.chars();
    let first: String = chars.next().iter().map(char::to_ascii_uppercase).collect();
    first + chars.as_str()
}

fn repeated_keys(node: &Node<'_>, report: &mut Report) {
    let mut seen = Vec::new();
    for (key, value) in node.members() {
        if seen.contains(&key) {
            report.add(
                MistakeKind::RepeatedKey,
                &value,
                format!("duplicate key {} in this object", suggest::list(&[key])),
                "remove or rename one of the two",
            );
        }
        seen.push(key);
        repeated_keys(&value, report);
    }
    for element in node.elements() {
        repeated_keys(&element, report);
    }
}
