//! A public API, one line an item.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use public_api::PublicItem;
use serde::Deserialize;
use serde_json::Value;

/// What rustdoc tells of a crate, as far as `public_api` does not tell it.
#[derive(Deserialize)]
struct Told {
    index: HashMap<u32, Item>,
}

#[derive(Deserialize)]
struct Item {
    /// One member, which is called like the kind of the item.
    inner: Value,
}

impl Item {
    fn get(&self, kind: &str) -> Option<&Value> {
        self.inner.get(kind)
    }
}

/// The lines of an API, in the order of its paths. They say what its users have to know, and can be compared one by one:
///
/// - a struct with private fields, which nobody else can put together, ends with `{ .. }`;
/// - what a trait requires ends with `;`, and what it provides with `{ .. }`;
/// - of what is implemented, the traits are told, and not their methods once more;
/// - that a type is `Send` and `Sync` is told where it is not.
pub(crate) fn of(json: &Path) -> Vec<String> {
    let api = public_api::Builder::from_rustdoc_json(json).omit_blanket_impls(true).build();
    let api = api.unwrap_or_else(|error| panic!("{}: {error}", json.display()));
    let text = fs::read(json).expect("what rustdoc wrote");
    let told: Told = serde_json::from_slice(&text).expect("what rustdoc writes is JSON");
    // What is implemented for two types, such as a conversion, is told with both.
    let mut seen = HashSet::new();
    api.items().filter_map(|item| line(item, &told)).filter(|line| seen.insert(line.clone())).collect()
}

fn line(item: &PublicItem, told: &Told) -> Option<String> {
    let text = item.to_string();
    let Some(known) = told.index.get(&item.id().0) else { return Some(text) };
    let parent = item.parent_id().and_then(|id| told.index.get(&id.0));
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
    // What an associated type is stands nowhere else.
    (!of_trait || known.get("assoc_type").is_some()).then_some(text)
}

/// Whether an `impl` block is worth a line of its own.
fn implemented(block: &Value) -> bool {
    let is = |member: &str| block.get(member) == Some(&Value::Bool(true));
    let has_bounds = block.pointer("/generics/params").and_then(Value::as_array).is_some_and(|all| !all.is_empty());
    match block.pointer("/trait/path").and_then(Value::as_str) {
        // The items within stand by themselves, but for what is asked of their parameters.
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
