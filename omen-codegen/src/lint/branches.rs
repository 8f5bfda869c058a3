//! Branches of conditionals: each case of a conditional's subject has a name and a description, from which a builder is
//! generated.

use super::conditional;
use super::index::{Definition, Index, Shape};
use super::kind::MistakeKind;
use super::names::is_snake_case;
use super::node::Node;
use super::record::{self, FieldSpec, Want, may, need};
use super::report::Report;
use super::suggest;
use crate::model::branches::CASES;

const BRANCH: &[FieldSpec] = &[
    need("name", Want::Text),
    need("description", Want::Text),
    may("value", Want::Text),
    may("when", Want::Text),
    may("leaves_out", Want::Record),
    may("excludes", Want::Record),
];

/// Names of functions that every object already has.
const TAKEN: [&str; 3] = ["builder", "check", "parse"];

/// Checks the branches of `owner`.
pub(super) fn check(index: &Index<'_>, owner: &Definition<'_>, report: &mut Report) {
    let conditionals = owner.node.list("allOf");
    let mut subjects: Vec<&str> = Vec::new();
    for subject in conditionals.iter().filter_map(conditional::subject) {
        if !subjects.contains(&subject) {
            subjects.push(subject);
        }
    }
    let named = owner.node.get("x-omen-branches");
    let mut names = Vec::new();
    for (subject, list) in named.iter().flat_map(Node::members) {
        if subjects.contains(&subject) {
            branches(index, owner, subject, &list, &mut names, report);
        } else {
            let problem = format!("no conditional of this object asks about `{subject}`");
            report.add(MistakeKind::BranchIdle, &list, problem, suggest::help(subject, subjects.iter().copied()));
        }
    }
    for subject in subjects {
        if named.as_ref().is_none_or(|named| named.get(subject).is_none()) {
            let cases = cases(index, owner, subject);
            let problem = format!("the branches of the conditional on `{subject}` have no names and descriptions");
            let help = format!(
                "add to `x-omen-branches` of the object `\"{subject}\": [..]`, with `{{ \"{}\": \"{}\", \"name\": .., \
                 \"description\": .. }}` and so on for {}",
                cases.first().map_or("value", |case| case.0),
                cases.first().map_or("", |case| case.1),
                suggest::list(&cases.iter().map(|case| case.1).collect::<Vec<_>>()),
            );
            report.add(MistakeKind::BranchGap, &owner.node, problem, help);
        }
    }
}

/// Returns the cases of a subject: the key that expresses each case, and the value or word.
fn cases<'a>(index: &Index<'a>, owner: &Definition<'a>, subject: &str) -> Vec<(&'static str, &'a str)> {
    let target = owner.property(subject).and_then(|at| index.referred(&at));
    let mut cases: Vec<(&'static str, &'a str)> = match target.filter(|target| target.shape == Shape::Enum) {
        Some(target) => target.value_names().into_iter().map(|value| ("value", value)).collect(),
        None => vec![("when", "empty"), ("when", "filled")],
    };
    if !owner.requires(subject) {
        cases.push(("when", CASES.first().map_or("", |case| case.0)));
    }
    cases
}

fn branches<'a>(
    index: &Index<'a>,
    owner: &Definition<'a>,
    subject: &str,
    list: &Node<'a>,
    names: &mut Vec<&'a str>,
    report: &mut Report,
) {
    let cases = cases(index, owner, subject);
    if list.json.elements().is_empty() {
        return record::malformed(report, list, "a list of branches");
    }
    let mut named = Vec::new();
    for node in list.elements() {
        let before = report.count();
        record::check(report, &node, &[BRANCH]);
        if report.count() > before {
            // An unreadable case should not also be reported as missing.
            named.extend(case(&node));
            continue;
        }
        let Some(this) = case(&node) else {
            let problem = "a branch has exactly one of `value` and `when`";
            report.add(MistakeKind::BranchIdle, &node, problem, "name the one case that it is for");
            continue;
        };
        if !cases.contains(&this) {
            let problem = format!("`{}` is not a case of `{subject}`", this.1);
            let known = cases.iter().map(|case| case.1);
            report.add(MistakeKind::BranchIdle, &node, problem, suggest::help(this.1, known));
        } else if named.contains(&this) {
            let problem = format!("two branches are for `{}` of `{subject}`", this.1);
            report.add(MistakeKind::BranchTwice, &node, problem, "remove one of the two");
        }
        named.push(this);
        name(&node, names, report);
        left_out(owner, subject, this, &node, report);
        excluded(index, owner, subject, &node, report);
    }
    for (key, case) in cases.iter().filter(|case| !named.contains(case)) {
        let problem = format!("the branch of `{subject}` for `{case}` has neither a name nor a description");
        let help = format!("add `{{ \"{key}\": \"{case}\", \"name\": .., \"description\": .. }}`");
        report.add(MistakeKind::BranchGap, list, problem, help);
    }
}

fn case<'a>(node: &Node<'a>) -> Option<(&'static str, &'a str)> {
    match (node.text("value"), node.text("when")) {
        (Some(value), None) => Some(("value", value)),
        (None, Some(word)) => Some(("when", word)),
        _ => None,
    }
}

/// Checks that the name is valid for a function of the object.
fn name<'a>(node: &Node<'a>, names: &mut Vec<&'a str>, report: &mut Report) {
    let (Some(name), Some(at)) = (node.text("name"), node.get("name")) else { return };
    if !is_snake_case(name) || TAKEN.contains(&name) {
        report.add(
            MistakeKind::BranchName,
            &at,
            format!("no function of the object can be named `{name}`"),
            format!("write it in snake_case, and not as one of {}", suggest::list(&TAKEN)),
        );
    }
    // Types are named after the branches, without `_`.
    if names.iter().any(|other| other.replace('_', "") == name.replace('_', "")) {
        let problem = format!("two branches of this object are named `{name}`");
        report.add(MistakeKind::BranchTwice, &at, problem, "give one of the two another name");
    }
    names.push(name);
}

/// Checks that the fields that a branch leaves out are optional, and that the branch has advice for each.
fn left_out(owner: &Definition<'_>, subject: &str, case: (&str, &str), node: &Node<'_>, report: &mut Report) {
    let Some(left_out) = node.get("leaves_out") else { return };
    for (member, at) in left_out.members() {
        let demanded = || {
            let mut conditionals = owner.node.list("allOf");
            conditionals.retain(|conditional| conditional::applies(conditional, subject, case));
            conditionals.iter().any(|conditional| conditional::requires(conditional) == Some(member))
        };
        let problem = if owner.property(member).is_none() {
            format!("unknown field `{member}` in this object")
        } else if owner.requires(member) || member == subject {
            format!("`{member}` is set in every branch")
        } else if demanded() {
            format!("the conditional requires `{member}` in this branch")
        } else {
            if at.json.as_str().is_none_or(|text| text.trim().is_empty()) {
                record::malformed(report, &at, "a text that says what to do instead");
            }
            continue;
        };
        report.add(MistakeKind::BranchMember, &at, problem, "remove it from `leaves_out`");
    }
}

/// Checks that each value that a branch excludes belongs to a required field, and that the branch has advice for each.
fn excluded(index: &Index<'_>, owner: &Definition<'_>, subject: &str, node: &Node<'_>, report: &mut Report) {
    for (member, at) in node.get("excludes").iter().flat_map(Node::members) {
        let target = owner.property(member).and_then(|property| index.referred(&property));
        let target = target.filter(|target| target.shape == Shape::Enum && owner.requires(member) && member != subject);
        let Some(target) = target else {
            let problem = format!("`{member}` is not a required field of this object whose type is an enum");
            report.add(MistakeKind::BranchMember, &at, problem, "remove it from `excludes`");
            continue;
        };
        let known = target.value_names();
        for (value, at) in at.members() {
            if !known.contains(&value) {
                let problem = format!("`{value}` is not a value of `{member}`");
                report.add(MistakeKind::BranchMember, &at, problem, suggest::help(value, known.iter().copied()));
            } else if at.json.as_str().is_none_or(|text| text.trim().is_empty()) {
                record::malformed(report, &at, "a text that says what to do instead");
            }
        }
        let excluded = at.members().count();
        if excluded == 0 || excluded >= known.len() {
            record::malformed(report, &at, "some of the values, and not all of them");
        }
    }
}
