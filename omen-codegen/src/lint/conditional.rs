//! Conditional requirements: `if` a field has a value (or is an empty list), `then` another field is required (as text).

use super::codes::known_codes;
use super::index::{Definition, Index, Shape};
use super::kind::MistakeKind;
use super::node::Node;
use super::record::{self, FieldSpec, Want, may, need};
use super::report::Report;
use super::suggest;
use crate::json::Json;

const CONDITIONAL: &[FieldSpec] = &[
    need("description", Want::Text),
    need("if", Want::Record),
    need("then", Want::Record),
    may("x-omen-otherwise", Want::Texts),
    may("x-omen-rules", Want::Texts),
];

const FORM: &str = "write `if` as \
    `{ \"properties\": { P: { \"enum\": [V] } }, \"required\": [P] }`, or with \
    `{ \"maxItems\": 0 }` for an array, and `then` as `{ \"required\": [Q] }`, to demand text with \
    `\"properties\": { Q: { \"type\": \"string\", \"minLength\": 1 } }`";

pub(super) fn check(index: &Index<'_>, owner: &Definition<'_>, node: &Node<'_>, report: &mut Report) {
    let before = report.count();
    record::check(report, node, &[CONDITIONAL]);
    known_codes(index, node, report);
    if let Some(at) = node.get("if") {
        condition(index, owner, &at, report);
    }
    if let Some(at) = node.get("then") {
        consequence(owner, &at, report);
    }
    // With a faulty condition, the wrong values would be outside it.
    if report.count() == before
        && let Some(at) = node.get("if")
    {
        otherwise(index, owner, node, &at, report);
    }
}

/// Returns whether a conditional of `owner` requires the field `name` to be non-empty text.
pub(super) fn demands_text(owner: &Definition<'_>, name: &str) -> bool {
    owner.node.list("allOf").iter().filter_map(|node| node.get("then")).any(|then| {
        let demanded = then.get("properties").and_then(|properties| properties.get(name));
        demanded.is_some_and(|demanded| is_text(demanded.json))
    })
}

/// Returns whether a conditional of `owner` requires the field `name` for values of an enum.
pub(super) fn demands(index: &Index<'_>, owner: &Definition<'_>, name: &str, of: &Definition<'_>) -> bool {
    owner.node.list("allOf").iter().any(|node| {
        let demanded = node.get("then").is_some_and(|then| then.texts("required").iter().any(|(it, _)| *it == name));
        let tested = node.get("if").map(|test| test.texts("required")).unwrap_or_default();
        let about = tested.iter().filter_map(|(subject, _)| index.referred(&owner.property(subject)?));
        demanded && about.into_iter().any(|target| target.key == of.key)
    })
}

/// Returns the field on which a conditional depends.
pub(super) fn subject<'a>(node: &Node<'a>) -> Option<&'a str> {
    node.get("if")?.texts("required").first().map(|(name, _)| *name)
}

/// Returns the field that a conditional requires.
pub(super) fn requires<'a>(node: &Node<'a>) -> Option<&'a str> {
    node.get("then")?.texts("required").first().map(|(name, _)| *name)
}

/// Returns whether a conditional applies to a case of a field: `("value", V)`, or `("when", "empty")`.
pub(super) fn applies(node: &Node<'_>, name: &str, (key, case): (&str, &str)) -> bool {
    let test = node.get("if").and_then(|condition| tested(&condition, name));
    let holds = test.is_some_and(|test| match key {
        "value" => test.texts("enum").iter().any(|(value, _)| *value == case),
        _ => case == "empty" && test.get("maxItems").is_some(),
    });
    holds && subject(node) == Some(name)
}

fn condition(index: &Index<'_>, owner: &Definition<'_>, node: &Node<'_>, report: &mut Report) {
    let Some((name, at)) = required(owner, node, report) else { return };
    let Some(test) = tested(node, name) else { return form(node, report) };
    let Some(property) = owner.property(name) else { return };
    match test.json.members() {
        [(key, Json::Array(values))]
            if key == "enum" && !values.is_empty() && values.iter().all(|v| v.as_str().is_some()) =>
        {
            match index.referred(&property).filter(|target| target.shape == Shape::Enum) {
                Some(target) => {
                    for (value, at) in test.texts("enum") {
                        known_value(target, value, &at, report);
                    }
                }
                None => untestable(&at, name, "an enum", report),
            }
        }
        [(key, bound)] if key == "maxItems" && bound.as_u64() == Some(0) => {
            if property.text("type") != Some("array") {
                untestable(&at, name, "an array", report);
            }
        }
        _ => form(&test, report),
    }
}

/// Checks that each value of the enum is either in the condition or listed as outside it. Otherwise, a new value would
/// be outside without being noticed.
fn otherwise(index: &Index<'_>, owner: &Definition<'_>, node: &Node<'_>, condition: &Node<'_>, report: &mut Report) {
    let Some(tested) = condition.get("properties") else { return };
    let Some((name, test)) = tested.members().next() else { return };
    let listed: Vec<&str> = test.texts("enum").into_iter().map(|(value, _)| value).collect();
    if listed.is_empty() {
        if let Some(at) = node.get("x-omen-otherwise") {
            form(&at, report);
        }
        return;
    }
    let property = owner.property(name);
    let Some(target) = property.as_ref().and_then(|property| index.referred(property)) else { return };
    if target.shape != Shape::Enum {
        return;
    }
    let outside = node.texts("x-omen-otherwise");
    for (value, at) in &outside {
        known_value(target, value, at, report);
        if listed.contains(value) {
            let problem = format!("`{value}` is both in the condition and in `x-omen-otherwise`");
            report.add(MistakeKind::ConditionalBoth, at, problem, "remove it from one of the two");
        }
    }
    for value in target.value_names() {
        if !listed.contains(&value) && outside.iter().all(|(other, _)| *other != value) {
            let problem =
                format!("`{value}` of `{}` is neither in the condition nor in `x-omen-otherwise`", target.name);
            let help = format!("add `{value}` to the `enum` of the condition, or to `x-omen-otherwise`");
            report.add(MistakeKind::ConditionalGap, node, problem, help);
        }
    }
}

fn consequence(owner: &Definition<'_>, node: &Node<'_>, report: &mut Report) {
    let Some((name, at)) = required(owner, node, report) else { return };
    if owner.requires(name) {
        report.add(
            MistakeKind::ConditionalIdle,
            &at,
            format!("`{name}` is always required"),
            "remove the conditional, or take it out of the object's `required`",
        );
    }
    if node.get("properties").is_none() {
        return;
    }
    let Some(demanded) = tested(node, name).filter(|demanded| is_text(demanded.json)) else {
        return form(node, report);
    };
    let string = |types: &Json| types.as_str() == Some("string") || types.strings().contains(&"string");
    let is_string = owner.property(name).is_none_or(|at| at.json.get("type").is_some_and(string));
    if !is_string {
        untestable(&demanded, name, "a string", report);
    }
}

/// Returns the only field that `required` of an `if` or a `then` names.
fn required<'a>(owner: &Definition<'_>, node: &Node<'a>, report: &mut Report) -> Option<(&'a str, Node<'a>)> {
    let known_keys = node.json.members().iter().all(|(key, _)| key == "required" || key == "properties");
    let mut names = node.texts("required").into_iter();
    let (Some((name, at)), None, true) = (names.next(), names.next(), known_keys) else {
        form(node, report);
        return None;
    };
    if owner.property(name).is_none() {
        let problem = format!("unknown field `{name}` in this object");
        let help = suggest::help(name, owner.property_names());
        report.add(MistakeKind::ConditionalProperty, &at, problem, help);
    }
    Some((name, at))
}

/// Returns the schema in `properties` of an `if` or a `then` for its only field `name`.
fn tested<'a>(node: &Node<'a>, name: &str) -> Option<Node<'a>> {
    let properties = node.get("properties")?;
    properties.get(name).filter(|_| properties.json.members().len() == 1)
}

fn is_text(demanded: &Json) -> bool {
    demanded.members().len() == 2
        && demanded.get("type").and_then(Json::as_str) == Some("string")
        && demanded.get("minLength").and_then(Json::as_u64) == Some(1)
}

fn known_value(target: &Definition<'_>, value: &str, at: &Node<'_>, report: &mut Report) {
    let known = target.value_names();
    if !known.contains(&value) {
        let problem = format!("invalid value `{value}` for `{}`", target.name);
        report.add(MistakeKind::ConditionalValue, at, problem, suggest::help(value, known));
    }
}

fn untestable(at: &Node<'_>, name: &str, wanted: &str, report: &mut Report) {
    let problem = format!("`{name}` is not {wanted}, but this conditional requires one");
    report.add(MistakeKind::ConditionalForm, at, problem, FORM);
}

fn form(at: &Node<'_>, report: &mut Report) {
    report.add(MistakeKind::ConditionalForm, at, "a conditional of this form is not supported", FORM);
}
