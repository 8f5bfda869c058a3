//! References between definitions: form, target, cycles, and definitions that nothing refers to.

use std::collections::BTreeSet;

use super::index::{Definition, Index, Key};
use super::kind::MistakeKind;
use super::node::Node;
use super::report::Report;
use super::suggest;
use crate::load::resolve;

pub(super) fn check(index: &Index<'_>, report: &mut Report) {
    let before = report.count();
    for definition in index.definitions() {
        for at in references(definition) {
            reference(index, &at, report);
        }
    }
    cycles(index, report);
    // A mistyped reference would make its target appear unused.
    if report.count() == before {
        unused(index, report);
    }
}

/// Returns every `$ref` in a definition, except those in the other definitions of its file.
fn references<'a>(definition: &Definition<'a>) -> Vec<Node<'a>> {
    let mut found = Vec::new();
    for (key, node) in definition.node.members() {
        match key {
            "$ref" => found.push(node),
            "$defs" => {}
            _ => collect(&node, &mut found),
        }
    }
    found
}

fn collect<'a>(node: &Node<'a>, found: &mut Vec<Node<'a>>) {
    for (key, value) in node.members() {
        if key == "$ref" {
            found.push(value);
        } else {
            collect(&value, found);
        }
    }
    for element in node.elements() {
        collect(&element, found);
    }
}

fn reference(index: &Index<'_>, at: &Node<'_>, report: &mut Report) {
    let form = "write `<relative path>#/$defs/<Name>`, `#/$defs/<Name>`, \
                or a path alone for a file's root";
    let Some(text) = at.json.as_str() else {
        return report.add(MistakeKind::DeepReference, at, "a reference has to be a string", form);
    };
    let (path, _) = text.split_once('#').unwrap_or((text, ""));
    if path.contains(':') || path.starts_with('/') {
        let problem = format!("`{text}` is not a relative reference");
        return report.add(MistakeKind::ExternalReference, at, problem, form);
    }
    let Some((file, name)) = resolve(at.file, text) else {
        let problem = format!("`{text}` refers neither to a definition nor to a file's root");
        return report.add(MistakeKind::DeepReference, at, problem, form);
    };
    if index.definition((file.as_str(), name)).is_none() {
        let target = name.unwrap_or("the root");
        report.add(
            MistakeKind::DanglingReference,
            at,
            format!("`{file}` has no definition of {target}"),
            help(index, &file, name),
        );
    }
}

fn help(index: &Index<'_>, file: &str, name: Option<&str>) -> String {
    let files: BTreeSet<&str> = index.definitions().map(|definition| definition.key.0).collect();
    if !files.contains(file) {
        return suggest::help(file, files);
    }
    let Some(name) = name else {
        return "name one of its definitions with `#/$defs/<Name>`".to_owned();
    };
    match index.definitions().find(|definition| definition.key.1 == Some(name)) {
        Some(elsewhere) => {
            format!("`{name}` is defined in `{}`: refer to it there", elsewhere.key.0)
        }
        None => {
            suggest::help(name, index.definitions().filter(|other| other.key.0 == file).filter_map(|other| other.key.1))
        }
    }
}

fn cycles(index: &Index<'_>, report: &mut Report) {
    let mut done = BTreeSet::new();
    for definition in index.definitions() {
        follow(index, definition, &mut Vec::new(), &mut done, report);
    }
}

/// Follows all references of `definition`; `path` leads to it.
fn follow<'i, 'a>(
    index: &'i Index<'a>,
    definition: &'i Definition<'a>,
    path: &mut Vec<&'i Definition<'a>>,
    done: &mut BTreeSet<Key<'a>>,
    report: &mut Report,
) {
    if done.contains(&definition.key) {
        return;
    }
    path.push(definition);
    for at in references(definition) {
        let Some(target) = at.json.as_str().and_then(|text| index.target(at.file, text)) else {
            continue;
        };
        if path.iter().any(|above| above.key == target.key) {
            let round: Vec<&str> = path
                .iter()
                .skip_while(|above| above.key != target.key)
                .chain([&target])
                .map(|above| above.name)
                .collect();
            report.add(
                MistakeKind::ReferenceCycle,
                &at,
                format!("circular reference: {}", suggest::list(&round)),
                "break the circle; recursive types are not supported",
            );
        } else {
            follow(index, target, path, done, report);
        }
    }
    path.pop();
    done.insert(definition.key);
}

fn unused(index: &Index<'_>, report: &mut Report) {
    let mut used = BTreeSet::new();
    let entries = index.definitions().filter(|entry| entry.is_packet() || entry.is_packet_union());
    let mut waiting: Vec<&Definition<'_>> = entries.collect();
    while let Some(definition) = waiting.pop() {
        if used.insert(definition.key) {
            let targets = references(definition).into_iter();
            let text = |at: Node<'_>| index.target(at.file, at.json.as_str()?);
            waiting.extend(targets.filter_map(text));
        }
    }
    for definition in index.definitions().filter(|definition| !used.contains(&definition.key)) {
        report.add(
            MistakeKind::UnusedDefinition,
            &definition.node,
            format!("no packet uses `{}`", definition.name),
            "refer to it, or remove it",
        );
    }
}
