//! A public API, one line for each item.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use public_api::PublicItem;
use serde::Deserialize;
use serde_json::Value;

/// The part of rustdoc's JSON that `public_api` does not show.
#[derive(Deserialize)]
struct Rustdoc {
    index: HashMap<u32, Item>,
}

#[derive(Deserialize)]
struct Item {
    /// One member, named after the kind of the item.
    inner: Value,
}

impl Item {
    fn get(&self, kind: &str) -> Option<&Value> {
        self.inner.get(kind)
    }
}

/// The lines of an API, in the order of its paths. Each can be compared by itself:
///
/// - a struct with private fields, which other crates cannot construct, ends with `{ .. }`;
/// - a required item of a trait ends with `;`, and a provided one with `{ .. }`;
/// - an implementation of a trait is one line, without its methods;
/// - a type that is not `Send` or not `Sync` has a line that says so.
pub(crate) fn lines(json: &Path) -> Vec<String> {
    let api = public_api::Builder::from_rustdoc_json(json).omit_blanket_impls(true).build();
    let api = api.unwrap_or_else(|error| panic!("{}: {error}", json.display()));
    let text = fs::read(json).expect("the JSON of rustdoc");
    let rustdoc: Rustdoc = serde_json::from_slice(&text).expect("the JSON of rustdoc");
    // An implementation that names two types, such as a conversion, is listed with both.
    let mut seen = HashSet::new();
    api.items().filter_map(|item| line(item, &rustdoc)).filter(|line| seen.insert(line.clone())).collect()
}

fn line(item: &PublicItem, rustdoc: &Rustdoc) -> Option<String> {
    let text = item.to_string();
    let Some(known) = rustdoc.index.get(&item.id().0) else { return Some(text) };
    let parent = item.parent_id().and_then(|id| rustdoc.index.get(&id.0));
    if let Some(block) = known.get("impl") {
        return implemented(block).then_some(text);
    }
    if known.get("variant").is_some() {
        return Some(text.replacen("pub ", "variant ", 1));
    }
    if known.get("struct_field").is_some() {
        return Some(text.replacen("pub ", "field ", 1));
    }
    if let Some(kind) = known.get("struct").and_then(|found| found.get("kind")) {
        return Some(if has_private_fields(kind) { format!("{text} {{ .. }}") } else { text });
    }
    if parent.is_some_and(|parent| parent.get("trait").is_some()) {
        let provided = match (known.get("function"), known.get("assoc_const"), known.get("assoc_type")) {
            (Some(function), _, _) => function.get("has_body").is_some_and(|has| *has == Value::Bool(true)),
            (_, Some(constant), _) => constant.get("value").is_some_and(|value| !value.is_null()),
            (_, _, Some(associated)) => associated.get("type").is_some_and(|default| !default.is_null()),
            _ => return Some(text),
        };
        return Some(if provided { format!("{text} {{ .. }}") } else { format!("{text};") });
    }
    let of_trait = parent.and_then(|parent| parent.get("impl")?.get("trait")).is_some_and(|of| !of.is_null());
    // The type that an associated type stands for is in no other line.
    (!of_trait || known.get("assoc_type").is_some()).then_some(text)
}

/// Whether an `impl` block has a line of its own.
fn implemented(block: &Value) -> bool {
    let is = |member: &str| block.get(member) == Some(&Value::Bool(true));
    let has_bounds = block.pointer("/generics/params").and_then(Value::as_array).is_some_and(|all| !all.is_empty());
    match block.pointer("/trait/path").and_then(Value::as_str) {
        // Its items have lines of their own, but these do not show its bounds.
        None => has_bounds,
        Some("Send" | "Sync") if is("is_synthetic") => is("is_negative") || has_bounds,
        Some("StructuralPartialEq") => false,
        Some(_) => !is("is_synthetic"),
    }
}

fn has_private_fields(kind: &Value) -> bool {
    match kind.get("tuple").and_then(Value::as_array) {
        Some(fields) => fields.iter().any(Value::is_null),
        None => kind.pointer("/plain/has_stripped_fields") == Some(&Value::Bool(true)),
    }
}
