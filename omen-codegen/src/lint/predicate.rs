//! Predicates: conditions of rules on types, and the texts of their compile errors.

use super::codes::known_code;
use super::index::{Definition, Index, Shape};
use super::kind::MistakeKind;
use super::names::pascal_case;
use super::node::Node;
use super::record::{self, FieldSpec, Want, malformed, may, need};
use super::report::Report;
use super::{conditional, suggest};
use crate::load::{RULE_LISTS, SchemaSet};

const PREDICATE: &[FieldSpec] = &[
    need("name", Want::Text),
    may("parameters", Want::List),
    may("requires", Want::Text),
    may("holds", Want::Record),
    need("message", Want::Text),
    need("label", Want::Text),
    need("note", Want::Text),
    may("python", Want::Text),
];

const HOLDS: &[FieldSpec] = &[
    need("of", Want::Text),
    may("where", Want::Text),
    may("unless", Want::Text),
    may("for", Want::Text),
    may("values", Want::Record),
];

/// Texts that may name parameters.
const TEXTS: [&str; 4] = ["message", "label", "note", "python"];

pub(super) fn check(set: &SchemaSet, index: &Index<'_>, report: &mut Report) {
    let mut names = Vec::new();
    for (file, list) in RULE_LISTS {
        let Some(json) = set.file(file) else { continue };
        for rule in Node::root(file, json).list(list) {
            for predicate in rule.list("predicates") {
                record::check(report, &predicate, &[PREDICATE]);
                name(&predicate, &mut names, report);
                let parameters = parameters(&predicate, report);
                begins_with_code(index, rule.text("code"), &predicate, report);
                if let Some(at) = predicate.get("holds") {
                    holds(index, &at, report);
                }
                for text in TEXTS {
                    braces(&predicate, text, &parameters, report);
                }
            }
        }
    }
}

/// Checks that each value of the enums is listed, so that no new value is forgotten.
fn holds(index: &Index<'_>, node: &Node<'_>, report: &mut Report) {
    let before = report.count();
    record::check(report, node, &[HOLDS]);
    let of = named_enum(index, node, "of", report);
    match (node.get("where"), node.get("unless"), node.get("for")) {
        (Some(at), None, None) | (None, Some(at), None) => {
            let demanded = at.json.as_str().and_then(|path| path.split_once('/'));
            let is_demanded = demanded.zip(of).is_some_and(|((object, member), of)| {
                let mut objects = index.definitions().filter(|definition| definition.name == object);
                objects.any(|object| conditional::demands(index, object, member, of))
            });
            if !is_demanded && report.count() == before {
                let problem = "no conditional requires this member for values of the enum";
                let help = "write `OBJECT/MEMBER`, where values of the enum require the member of the object";
                report.add(MistakeKind::PredicateHolds, &at, problem, help);
            }
        }
        (None, None, Some(_)) => {
            let parameter = named_enum(index, node, "for", report);
            if let (Some(of), Some(parameter), Some(at)) = (of, parameter, node.get("values")) {
                values(of, parameter, &at, report);
            } else if report.count() == before {
                report.add(
                    MistakeKind::PredicateHolds,
                    node,
                    "missing `values`",
                    "add `values`, by the value of `for`",
                );
            }
        }
        _ => {
            let problem = "expected exactly one of `where`, `unless` and `for`";
            report.add(
                MistakeKind::PredicateHolds,
                node,
                problem,
                "use one of the three to state for which values it holds",
            );
        }
    }
}

fn named_enum<'i, 'a>(
    index: &'i Index<'a>,
    node: &Node<'_>,
    key: &str,
    report: &mut Report,
) -> Option<&'i Definition<'a>> {
    let (name, at) = named(node, key)?;
    let enums = || index.definitions().filter(|definition| definition.shape == Shape::Enum);
    let found = enums().find(|definition| definition.name == name);
    if found.is_none() {
        let help = suggest::help(name, enums().map(|definition| definition.name));
        report.add(MistakeKind::PredicateHolds, &at, format!("there is no enum `{name}`"), help);
    }
    found
}

fn values(of: &Definition<'_>, parameter: &Definition<'_>, node: &Node<'_>, report: &mut Report) {
    let mut listed = Vec::new();
    for (value, at) in node.members() {
        known(parameter, value, &at, report);
        for (value, at) in at.elements().filter_map(|at| Some((at.json.as_str()?, at))) {
            known(of, value, &at, report);
            listed.push(value);
        }
    }
    for value in parameter.value_names() {
        if node.get(value).is_none() {
            let problem = format!("`{value}` of `{}` has no entry", parameter.name);
            let help = format!("add `\"{value}\": [..]`, with the values of `{}` that fit it", of.name);
            report.add(MistakeKind::PredicateGap, node, problem, help);
        }
    }
    for value in of.value_names().into_iter().filter(|value| !listed.contains(value)) {
        let problem = format!("`{value}` of `{}` is in no list", of.name);
        let help = format!("add `{value}` to each list that it belongs in");
        report.add(MistakeKind::PredicateGap, node, problem, help);
    }
}

fn known(target: &Definition<'_>, value: &str, at: &Node<'_>, report: &mut Report) {
    let known = target.value_names();
    if !known.contains(&value) {
        let problem = format!("`{value}` is not a value of `{}`", target.name);
        report.add(MistakeKind::PredicateHolds, at, problem, suggest::help(value, known));
    }
}

fn name<'a>(predicate: &Node<'a>, names: &mut Vec<&'a str>, report: &mut Report) {
    if let Some((required, at)) = named(predicate, "requires") {
        pascal_case(required, &at, report);
    }
    // A missing or blank name is reported together with the other texts.
    let Some((name, at)) = named(predicate, "name") else { return };
    pascal_case(name, &at, report);
    if names.contains(&name) {
        let problem = format!("another predicate is called `{name}`");
        report.add(MistakeKind::PredicateTwice, &at, problem, "give one of the two another name");
    }
    names.push(name);
}

/// Returns the names of the parameters that are valid names.
fn parameters<'a>(predicate: &Node<'a>, report: &mut Report) -> Vec<&'a str> {
    let mut names = Vec::new();
    for at in predicate.list("parameters") {
        let Some(name) = at.json.as_str() else {
            malformed(report, &at, "a string");
            continue;
        };
        pascal_case(name, &at, report);
        if name == "Self" || names.contains(&name) {
            let problem = format!("`{name}` stands for another type of this predicate already");
            report.add(MistakeKind::PredicateParameter, &at, problem, "give each parameter a name of its own");
        }
        names.push(name);
    }
    names
}

/// Checks that a compile error begins with its rule, like all findings: `INV-007:`, or `INV-007 (E4):` if two stages share it.
fn begins_with_code(index: &Index<'_>, code: Option<&str>, predicate: &Node<'_>, report: &mut Report) {
    let (Some(code), Some((message, at))) = (code, named(predicate, "message")) else { return };
    let after = message.strip_prefix(code).and_then(|rest| match rest.strip_prefix(" (") {
        Some(rest) => rest.split_once(')').map(|(other, rest)| (Some(other), rest)),
        None => Some((None, rest)),
    });
    match after {
        Some((other, rest)) if rest.starts_with(": ") => {
            if let Some(other) = other {
                known_code(index, other, &at, report);
            }
        }
        _ => report.add(
            MistakeKind::PredicateCode,
            &at,
            format!("this message does not begin with `{code}:`"),
            format!("begin it with `{code}: `, or with `{code} (OTHER): ` if another rule says the same"),
        ),
    }
}

/// Checks the braces in a text. The compiler substitutes types for them, and accepts only parameter names.
fn braces(predicate: &Node<'_>, text: &str, parameters: &[&str], report: &mut Report) {
    let Some((text, at)) = named(predicate, text) else { return };
    let mut wrong = |what: &str| {
        report.add(
            MistakeKind::PredicateBraces,
            &at,
            format!("this text has {what}"),
            "put braces around `Self` or a parameter of the predicate, and around nothing else",
        );
    };
    let mut rest = text;
    while let Some(open) = rest.find(['{', '}']) {
        let (_, inner) = rest.split_at(open);
        match inner.strip_prefix('{').and_then(|inner| inner.split_once('}')) {
            Some((name, after)) => {
                if name != "Self" && !parameters.contains(&name) {
                    wrong(&format!("`{{{name}}}`, and the predicate has no such parameter"));
                }
                rest = after;
            }
            None => return wrong("an unmatched brace"),
        }
    }
}

/// Returns a field whose value is non-blank text.
fn named<'a>(node: &Node<'a>, key: &str) -> Option<(&'a str, Node<'a>)> {
    node.text(key).filter(|text| !text.trim().is_empty()).zip(node.get(key))
}
