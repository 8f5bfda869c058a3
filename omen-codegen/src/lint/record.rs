//! Permitted fields of an object: the allowlist of keywords, and the JSON type of each.

use super::kind::MistakeKind;
use super::node::Node;
use super::report::Report;
use super::suggest;
use crate::json::Json;

/// Required type of a field's value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Want {
    /// A non-blank string.
    Text,
    /// A non-empty list of distinct strings.
    Texts,
    /// A non-blank string, or `null`.
    TextOrNull,
    /// `true` or `false`.
    Flag,
    /// An integer, at least 0.
    Count,
    Number,
    /// An array.
    List,
    /// An object.
    Record,
    /// Any value; checked elsewhere.
    Any,
}

/// Permitted field of an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct FieldSpec {
    name: &'static str,
    want: Want,
    needed: bool,
}

/// Returns the specification of a required field.
pub(super) const fn need(name: &'static str, want: Want) -> FieldSpec {
    FieldSpec { name, want, needed: true }
}

/// Returns the specification of an optional field.
pub(super) const fn may(name: &'static str, want: Want) -> FieldSpec {
    FieldSpec { name, want, needed: false }
}

/// Checks the fields of `node` against all the lists in `fields`.
pub(super) fn check(report: &mut Report, node: &Node<'_>, fields: &[&[FieldSpec]]) {
    if !matches!(node.json, Json::Object(_)) {
        return malformed(report, node, "an object");
    }
    let fields = || fields.iter().copied().flatten();
    for (key, value) in node.members() {
        match fields().find(|field| field.name == key) {
            Some(field) => value_of(report, &value, field),
            None if key == "const" => report.add(
                MistakeKind::ConstUsed,
                &value,
                "`const` is not supported",
                "refer to a named enum with one value",
            ),
            None => report.add(
                MistakeKind::UnsupportedKeyword,
                &value,
                format!("`{key}` is not supported here"),
                suggest::help(key, fields().map(|field| field.name)),
            ),
        }
    }
    for field in fields().filter(|field| field.needed && node.get(field.name).is_none()) {
        missing(report, node, field);
    }
}

/// Reports a value of the wrong JSON type.
pub(super) fn malformed(report: &mut Report, node: &Node<'_>, wanted: &str) {
    report.add(MistakeKind::Malformed, node, format!("this is not {wanted}"), format!("write {wanted} here"));
}

fn missing(report: &mut Report, node: &Node<'_>, field: &FieldSpec) {
    let name = field.name;
    match field.want {
        Want::Text => missing_text(report, node, name),
        _ => report.add(MistakeKind::MissingKeyword, node, format!("`{name}` is missing"), format!("add `{name}`")),
    }
}

fn missing_text(report: &mut Report, node: &Node<'_>, name: &str) {
    if name == "description" {
        report.add(
            MistakeKind::MissingDescription,
            node,
            "missing description",
            "describe it in `description`; the text becomes the documentation",
        );
    } else {
        report.add(
            MistakeKind::MissingText,
            node,
            format!("`{name}` is missing or blank"),
            format!("write the text of `{name}`"),
        );
    }
}

fn value_of(report: &mut Report, value: &Node<'_>, field: &FieldSpec) {
    let json = value.json;
    let (fits, wanted) = match field.want {
        Want::Text | Want::TextOrNull => {
            if json.as_str().is_some_and(|text| text.trim().is_empty()) {
                return missing_text(report, value, field.name);
            }
            if matches!(field.want, Want::Text) {
                (json.as_str().is_some(), "a string")
            } else {
                (json.as_str().is_some() || *json == Json::Null, "a string or `null`")
            }
        }
        Want::Texts => return texts(report, value),
        Want::Flag => (json.as_bool().is_some(), "`true` or `false`"),
        Want::Count | Want::Number => return number(report, value, field),
        Want::List => (matches!(json, Json::Array(_)), "a list"),
        Want::Record => (matches!(json, Json::Object(_)), "an object"),
        Want::Any => return,
    };
    if !fits {
        malformed(report, value, wanted);
    }
}

fn number(report: &mut Report, value: &Node<'_>, field: &FieldSpec) {
    let (fits, wanted) = match field.want {
        Want::Count => (value.json.as_u64().is_some(), "an integer of at least 0"),
        _ => (value.json.as_f64().is_some(), "a number"),
    };
    if !fits {
        report.add(
            MistakeKind::BoundType,
            value,
            format!("`{}` is not {wanted}", field.name),
            format!("write {wanted}"),
        );
    }
}

fn texts(report: &mut Report, value: &Node<'_>) {
    let Json::Array(elements) = value.json else {
        return malformed(report, value, "a list of strings");
    };
    if elements.is_empty() {
        report.add(MistakeKind::EmptyList, value, "this list is empty", "name at least one");
    }
    let mut seen = Vec::new();
    for element in value.elements() {
        match element.json.as_str() {
            None | Some("") => malformed(report, &element, "a non-empty string"),
            Some(text) if seen.contains(&text) => report.add(
                MistakeKind::DuplicateEntry,
                &element,
                format!("`{text}` is in this list twice"),
                "remove one of the two",
            ),
            Some(text) => seen.push(text),
        }
    }
}
