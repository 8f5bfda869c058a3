//! Fields of objects: a reference, a boolean, a plain string, or an array of one of these.

use super::codes::known_codes;
use super::conditional;
use super::index::{Definition, Index, Shape};
use super::keyword::{ANY_VALUE, order, unsupported_type};
use super::kind::MistakeKind;
use super::node::Node;
use super::record::{self, FieldSpec, Want, may, need};
use super::report::Report;
use crate::json::Json;
use crate::pattern::Pattern;

const COMMON: &[FieldSpec] =
    &[need("description", Want::Text), may("x-omen-rules", Want::Texts), may("examples", Want::Any)];
const REFERENCE: &[FieldSpec] = &[need("$ref", Want::Any), may("default", Want::Any)];
const TYPED: &[FieldSpec] = &[need("type", Want::Any), may("default", Want::Any)];
const NULLABLE: &[FieldSpec] = &[need("type", Want::Any)];
const ARRAY: &[FieldSpec] =
    &[need("type", Want::Any), need("items", Want::Record), may("minItems", Want::Count), may("maxItems", Want::Count)];
/// Tag of a packet's header; checked with the packet.
const TAG: &[FieldSpec] = &[may("properties", Want::Record)];

/// Constraints for which a refusal comes with specific help.
const BOUNDS: &[FieldSpec] = &[
    may("pattern", Want::Any),
    may("format", Want::Any),
    may("minLength", Want::Any),
    may("maxLength", Want::Any),
    may("minimum", Want::Any),
    may("maximum", Want::Any),
];
const BOUND_NAMES: [&str; 6] = ["pattern", "format", "minLength", "maxLength", "minimum", "maximum"];

/// Form of a field, or of an array's items, determined by its keywords.
enum Form {
    Reference,
    Boolean,
    Text,
    Array,
    Nullable,
    /// A schema that should be a separate definition: kind of mistake, and description.
    Inline(MistakeKind, &'static str),
    Const,
    Unknown,
}

pub(super) fn check(index: &Index<'_>, owner: &Definition<'_>, name: &str, node: &Node<'_>, report: &mut Report) {
    let tag: &[FieldSpec] = if owner.is_packet() && name == "header" { TAG } else { &[] };
    match form(node.json) {
        Form::Reference => members(report, node, &[COMMON, REFERENCE, tag]),
        Form::Boolean | Form::Text => members(report, node, &[COMMON, TYPED]),
        Form::Array => {
            members(report, node, &[COMMON, ARRAY]);
            order(node, "minItems", "maxItems", report);
            if let Some(items) = node.get("items") {
                check_items(&items, report);
            }
        }
        Form::Nullable => {
            members(report, node, &[COMMON, NULLABLE]);
            nullable(owner, name, node, report);
        }
        other => return refuse(&other, node, &["array", "boolean", "string"], report),
    }
    known_codes(index, node, report);
    if let Some(at) = node.get("examples") {
        example(index, name, node, &at, report);
    }
    if let Some(at) = node.get("default") {
        default(index, owner, name, node, &at, report);
    }
}

/// Checks the keywords of a value in `properties` or `items`.
fn members(report: &mut Report, node: &Node<'_>, fields: &[&[FieldSpec]]) {
    for (key, at) in node.members().filter(|(key, _)| BOUND_NAMES.contains(key)) {
        report.add(
            MistakeKind::InlineBound,
            &at,
            format!("`{key}` is not supported on a field"),
            "define a scalar with this constraint in `$defs`, and refer to it",
        );
    }
    let fields: Vec<&[FieldSpec]> = fields.iter().copied().chain([BOUNDS]).collect();
    record::check(report, node, &fields);
}

fn check_items(node: &Node<'_>, report: &mut Report) {
    match form(node.json) {
        Form::Reference => members(report, node, &[&[need("$ref", Want::Any)]]),
        Form::Text => members(report, node, &[&[need("type", Want::Any)]]),
        Form::Boolean | Form::Array | Form::Nullable => {
            refuse(&Form::Unknown, node, &["string"], report);
        }
        other => refuse(&other, node, &["string"], report),
    }
}

fn form(json: &Json) -> Form {
    let has = |key: &str| json.get(key).is_some();
    let inline_object = Form::Inline(MistakeKind::InlineObject, "an object");
    if has("$ref") {
        Form::Reference
    } else if has("const") {
        Form::Const
    } else if has("enum") {
        Form::Inline(MistakeKind::InlineEnum, "an enum")
    } else if let Some(branches) = json.get("oneOf") {
        let refers = branches.elements().iter().any(|branch| branch.get("$ref").is_some());
        if refers {
            Form::Inline(MistakeKind::InlineUnion, "a union")
        } else {
            Form::Inline(MistakeKind::InlineEnum, "an enum")
        }
    } else if has("properties") {
        inline_object
    } else {
        match json.get("type") {
            Some(Json::String(word)) => match word.as_str() {
                "boolean" => Form::Boolean,
                "string" => Form::Text,
                "array" => Form::Array,
                "object" => inline_object,
                "integer" | "number" => Form::Inline(MistakeKind::InlineScalar, "a number"),
                _ => Form::Unknown,
            },
            Some(Json::Array(words)) => match words.as_slice() {
                [Json::String(one), Json::String(null)] if one == "string" && null == "null" => Form::Nullable,
                _ => Form::Unknown,
            },
            _ => Form::Unknown,
        }
    }
}

/// Reports an unsupported form of a field or an item.
fn refuse(form: &Form, node: &Node<'_>, supported: &[&str], report: &mut Report) {
    match form {
        Form::Inline(kind, what) => report.add(
            *kind,
            node,
            format!("{what} is written out here, where it has no name"),
            "define it in `$defs`, and refer to it with `$ref`",
        ),
        Form::Const => {
            report.add(MistakeKind::ConstUsed, node, "`const` is not supported", "refer to a named enum with one value")
        }
        _ if !matches!(node.json, Json::Object(_)) => record::malformed(report, node, "an object"),
        _ => match node.get("type") {
            Some(at) => unsupported_type(&at, supported, report),
            None => report.add(
                MistakeKind::MissingKeyword,
                node,
                "there is neither `$ref` nor `type`",
                format!("refer to a definition; the one for any value is `{ANY_VALUE}`"),
            ),
        },
    }
}

/// Checks that a nullable string serves its only purpose: text that a conditional requires, otherwise `null`.
fn nullable(owner: &Definition<'_>, name: &str, node: &Node<'_>, report: &mut Report) {
    if owner.requires(name) || !conditional::demands_text(owner, name) {
        report.add(
            MistakeKind::Nullable,
            node,
            format!("`{name}` may be `null`, but no conditional requires it as text"),
            "write `\"type\": \"string\"`, and leave it out of `required` if it may be absent",
        );
    }
}

fn default(index: &Index<'_>, owner: &Definition<'_>, name: &str, node: &Node<'_>, at: &Node<'_>, report: &mut Report) {
    if owner.requires(name) {
        report.add(
            MistakeKind::DefaultRequired,
            at,
            format!("`{name}` is required, so its default is never used"),
            "remove the default, or take it out of `required`",
        );
    }
    if !fits(index, node, at.json) {
        report.add(
            MistakeKind::DefaultUnfit,
            at,
            format!("the default of `{name}` does not fit the field"),
            "write a value that fits the member's type and bounds",
        );
    }
}

/// Checks that there is an example and that it fits the field. For objects and unions, only a packet built from the
/// examples can show that; the tests of the types do so.
fn example(index: &Index<'_>, name: &str, node: &Node<'_>, at: &Node<'_>, report: &mut Report) {
    let Some(first) = at.json.elements().first() else {
        return record::malformed(report, at, "a list with one example");
    };
    let is_scalar = index
        .referred(node)
        .is_none_or(|target| matches!(target.shape, Shape::Enum | Shape::Integer | Shape::Number | Shape::Text));
    if is_scalar && !fits(index, node, first) {
        report.add(
            MistakeKind::ExampleUnfit,
            at,
            format!("the example of `{name}` does not fit the field"),
            "write a value that fits the field's type and bounds",
        );
    }
}

/// Returns whether a value fits a field, as far as this phase checks it.
fn fits(index: &Index<'_>, node: &Node<'_>, value: &Json) -> bool {
    match form(node.json) {
        Form::Boolean => value.as_bool().is_some(),
        Form::Text => value.as_str().is_some(),
        // A broken reference is reported elsewhere.
        Form::Reference => index.referred(node).is_none_or(|target| is_a(target, value)),
        _ => true,
    }
}

/// Returns whether `value` is valid for `definition`; only scalars and enums can have a default.
fn is_a(definition: &Definition<'_>, value: &Json) -> bool {
    let bound = |key: &str| definition.node.get(key).and_then(|at| at.json.as_f64());
    let within = |number: f64, low: &str, high: &str| {
        bound(low).is_none_or(|low| low <= number) && bound(high).is_none_or(|high| number <= high)
    };
    match definition.shape {
        Shape::Enum => value.as_str().is_some_and(|text| definition.value_names().contains(&text)),
        Shape::Integer | Shape::Number => {
            let whole = definition.shape == Shape::Number || value.as_u64().is_some();
            whole && value.as_f64().is_some_and(|number| within(number, "minimum", "maximum"))
        }
        Shape::Text => value.as_str().is_some_and(|text| {
            let pattern = definition.node.text("pattern").and_then(|p| Pattern::parse(p).ok());
            let length = u32::try_from(text.chars().count()).map_or(f64::INFINITY, f64::from);
            within(length, "minLength", "maxLength") && pattern.is_none_or(|pattern| pattern.holds(text))
        }),
        Shape::Object | Shape::Free | Shape::Any | Shape::Union | Shape::Unknown => false,
    }
}
