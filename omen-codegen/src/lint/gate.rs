//! Tool boundary: codes, and the steps of every request.

use super::fsm::ids_at;
use super::index::Index;
use super::kind::MistakeKind;
use super::names::{is_snake_case, pascal_case};
use super::node::Node;
use super::record::{self, FieldSpec, Want, may, need};
use super::report::Report;
use super::{root, suggest};
use crate::load::{GATE_FILE, SchemaSet};

const FILE: &[FieldSpec] = &[
    need("version", Want::Text),
    need("codes", Want::List),
    need("pipeline", Want::List),
    need("ends", Want::List),
    need("again", Want::Record),
    may("order", Want::Record),
];

const CODE: &[FieldSpec] = &[
    need("code", Want::Text),
    need("title", Want::Text),
    need("statement", Want::Text),
    need("rationale", Want::Text),
    need("help", Want::Text),
    need("source", Want::Text),
    need("example", Want::Record),
];

/// Example of a call that the code refuses, and of one that it permits.
const EXAMPLE: &[FieldSpec] = &[need("refused", Want::Text), need("fixed", Want::Text)];

const STEP: &[FieldSpec] = &[need("state", Want::Text), need("description", Want::Text)];
/// Transition to the next step, which every step but the last has.
const NEXT: &[FieldSpec] = &[need("method", Want::Text)];
/// Compile error for a step out of order.
const REFUSED: &[FieldSpec] = &[need("code", Want::Text), need("message", Want::Text), need("note", Want::Text)];

pub(super) fn check(set: &SchemaSet, index: &Index<'_>, report: &mut Report) {
    let Some(json) = set.file(GATE_FILE) else { return };
    let file = Node::root(GATE_FILE, json);
    record::check(report, &file, &[FILE]);
    root::version(&file, report);
    let codes = file.list("codes");
    for code in &codes {
        record::check(report, code, &[CODE]);
        if let Some(example) = code.get("example") {
            record::check(report, &example, &[EXAMPLE]);
        }
    }
    written(&codes, report);
    unique(index, &codes, report);
    numbered(&codes, report);
    let (steps, ends) = (file.list("pipeline"), file.list("ends"));
    pipeline(&steps, &ends, report);
    let again = file.get("again");
    if let Some(again) = &again {
        record::check(report, again, &[REFUSED]);
    }
    let answers: Vec<Node<'_>> = steps.into_iter().chain(ends).chain(again).collect();
    known(&codes, &answers, report);
    unbraced(&answers, report);
}

/// Checks that every code consists of a family and a sign: `PG-3`, `A1`.
fn written(codes: &[Node<'_>], report: &mut Report) {
    for (code, at) in texts(codes, "code") {
        if !code.trim().is_empty() && split(code).is_none() {
            report.add(
                MistakeKind::IdForm,
                &at,
                format!("the code `{code}` is not a family in CAPITALS with one digit or letter"),
                "write it like `A1`, `PG-3` or `PG-T`",
            );
        }
    }
}

/// Splits `A1` into `A` and `1`, `PG-3` into `PG-` and `3`. A letter counts as a sign only after a `-`.
fn split(code: &str) -> Option<(&str, char)> {
    let sign = code.chars().last()?;
    let family = code.strip_suffix(sign)?;
    let name = family.strip_suffix('-').unwrap_or(family);
    let apart = name.len() < family.len();
    let fits = !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase());
    let signed = sign.is_ascii_digit() || (apart && sign.is_ascii_uppercase());
    (fits && signed).then_some((family, sign))
}

/// Checks that no code occurs twice, here or in a rule, because both are looked up by code alone.
fn unique(index: &Index<'_>, codes: &[Node<'_>], report: &mut Report) {
    let mut seen = index.code_names();
    for (code, at) in texts(codes, "code") {
        if seen.contains(&code) {
            let problem = format!("the code `{code}` is already used by another rule");
            report.add(MistakeKind::DuplicateCode, &at, problem, "give one of the two another code");
        }
        seen.push(code);
    }
}

/// Checks that the digits of a family are consecutive: a gap indicates a lost code.
fn numbered(codes: &[Node<'_>], report: &mut Report) {
    let mut last: Option<(&str, u32)> = None;
    for (code, at) in texts(codes, "code") {
        let Some((family, sign)) = split(code) else { continue };
        let Some(number) = sign.to_digit(10) else { continue };
        let fits = match last {
            Some((before, digit)) if before == family => number == digit + 1,
            _ => number <= 1,
        };
        if !fits {
            report.add(
                MistakeKind::RuleOrder,
                &at,
                format!("the code `{code}` does not follow the one before it"),
                "number the codes of a family one after another, from 0 or 1, and keep them together",
            );
        }
        last = Some((family, number));
    }
}

fn pipeline(steps: &[Node<'_>], ends: &[Node<'_>], report: &mut Report) {
    for (number, step) in (1..).zip(steps) {
        let more: &[&[FieldSpec]] = if number < steps.len() { &[STEP, NEXT, REFUSED] } else { &[STEP] };
        record::check(report, step, more);
    }
    for end in ends {
        record::check(report, end, &[STEP, REFUSED]);
    }
    let states: Vec<Node<'_>> = steps.iter().chain(ends).cloned().collect();
    ids_at("state", &states, report);
    ids_at("method", steps, report);
    for (state, at) in texts(&states, "state") {
        pascal_case(state, &at, report);
    }
    for (method, at) in texts(steps, "method") {
        if !method.trim().is_empty() && !is_snake_case(method) {
            report.add(
                MistakeKind::IdForm,
                &at,
                format!("the method `{method}` is not in snake_case"),
                "write lower-case ASCII letters and digits, with single `_` between words",
            );
        }
    }
}

/// Checks that explanations refer to existing codes.
fn known(codes: &[Node<'_>], answers: &[Node<'_>], report: &mut Report) {
    let known: Vec<&str> = codes.iter().filter_map(|code| code.text("code")).collect();
    for (code, at) in texts(answers, "code") {
        if !code.trim().is_empty() && !known.contains(&code) {
            let problem = format!("unknown code `{code}`");
            report.add(MistakeKind::UnknownCode, &at, problem, suggest::help(code, known.iter().copied()));
        }
    }
}

/// Checks that texts have no braces, which rustc would interpret as type parameters.
fn unbraced(answers: &[Node<'_>], report: &mut Report) {
    for (text, at) in ["message", "note"].into_iter().flat_map(|key| texts(answers, key)) {
        if text.contains(['{', '}']) {
            report.add(MistakeKind::PredicateBraces, &at, "this text has a brace", "say it without braces");
        }
    }
}

fn texts<'a>(nodes: &[Node<'a>], key: &str) -> Vec<(&'a str, Node<'a>)> {
    nodes.iter().filter_map(|node| node.text(key).zip(node.get(key))).collect()
}
