//! Names of definitions and fields.

use std::collections::BTreeMap;

use heck::ToPascalCase as _;

use super::index::{Index, Shape};
use super::kind::MistakeKind;
use super::node::Node;
use super::report::Report;

pub(super) fn check(index: &Index<'_>, report: &mut Report) {
    let mut first: BTreeMap<String, (&str, &str)> = BTreeMap::new();
    for definition in index.definitions() {
        let (name, node) = (definition.name, &definition.node);
        pascal_case(name, node, report);
        declarable(name, node, report);
        if let Some((other, file)) = first.get(&name.to_ascii_lowercase()) {
            report.add(
                MistakeKind::DuplicateName,
                node,
                format!("`{name}` is defined already, as `{other}` in `{file}`"),
                "give one of the two another name, unique over all files in any case of letters",
            );
        } else {
            first.insert(name.to_ascii_lowercase(), (name, node.file));
        }
        if definition.shape == Shape::Object {
            for (name, node) in definition.properties() {
                snake_case(name, &node, report);
            }
        }
    }
}

/// Types that the generated code uses without a path.
const TAKEN: [&str; 4] = ["Metadata", "Option", "String", "Vec"];

/// Checks that typify gives the type the same name, and that no other type has that name.
fn declarable(name: &str, at: &Node<'_>, report: &mut Report) {
    let declared = name.to_pascal_case();
    if !typify::accept_as_ident(name) {
        let problem = format!("the name `{name}` is a keyword of Rust");
        report.add(MistakeKind::NameCase, at, problem, "give the definition another name");
    } else if is_pascal_case(name) && declared != name {
        let problem = format!("the name `{name}` has several capitals in one word");
        report.add(MistakeKind::NameCase, at, problem, format!("write `{declared}`"));
    }
    if TAKEN.contains(&name) {
        let problem = format!("`{name}` is the name of a type that the generated code uses");
        report.add(MistakeKind::DuplicateName, at, problem, "give the definition another name");
    }
}

/// Checks that a name has a form such as `PacketId`, because it becomes the name of a type.
pub(super) fn pascal_case(name: &str, at: &Node<'_>, report: &mut Report) {
    if !is_pascal_case(name) {
        report.add(
            MistakeKind::NameCase,
            at,
            format!("the name `{name}` is not in PascalCase"),
            "start every word with a capital, and use only ASCII letters and digits",
        );
    }
}

fn is_pascal_case(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.chars().all(|c| c.is_ascii_alphanumeric())
        && (name.len() == 1 || name.contains(|c: char| c.is_ascii_lowercase()))
}

fn snake_case(name: &str, at: &Node<'_>, report: &mut Report) {
    if !is_snake_case(name) {
        report.add(
            MistakeKind::PropertyCase,
            at,
            format!("the name `{name}` is not in snake_case"),
            "write lower-case ASCII letters and digits, with single `_` between words",
        );
    }
}

pub(super) fn is_snake_case(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && !name.ends_with('_')
        && !name.contains("__")
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}
