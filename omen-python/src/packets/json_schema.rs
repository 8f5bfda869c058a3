//! JSON Schemas of the definitions, each with the definitions that it refers to.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::{Map, Value, json};

/// Definitions by name, with references by name.
static DEFINITIONS: LazyLock<BTreeMap<String, Value>> = LazyLock::new(|| {
    let files = omen_schema::FILES.iter().filter(|(path, _)| path.ends_with(".schema.json"));
    let files: Vec<(&str, Value)> =
        files.filter_map(|(path, text)| Some((stem(path), serde_json::from_str(text).ok()?))).collect();
    let titles: BTreeMap<&str, String> =
        files.iter().filter_map(|(stem, file)| Some((*stem, file.get("title")?.as_str()?.to_owned()))).collect();
    let mut all = BTreeMap::new();
    for (stem, mut file) in files.clone() {
        let inner = file.as_object_mut().and_then(|file| file.remove("$defs"));
        let Some(title) = titles.get(stem) else { continue };
        let inner = inner.as_ref().and_then(Value::as_object).into_iter().flatten();
        for (name, definition) in std::iter::once((title, &file)).chain(inner) {
            let mut definition = definition.clone();
            plain(&mut definition, &titles);
            all.insert(name.clone(), definition);
        }
    }
    all
});

/// Returns the schema of a definition.
pub(super) fn schema(name: &str) -> Option<Value> {
    let mut schema = DEFINITIONS.get(name)?.clone();
    let mut inner = Map::new();
    collect(&schema, &mut inner);
    if let Some(object) = schema.as_object_mut() {
        object.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
        object.insert("title".to_owned(), name.into());
        if !inner.is_empty() {
            object.insert("$defs".to_owned(), inner.into());
        }
    }
    Some(schema)
}

/// Adds the definitions that a schema refers to.
fn collect(schema: &Value, inner: &mut Map<String, Value>) {
    match schema {
        Value::Object(object) => {
            let name = object.get("$ref").and_then(Value::as_str).and_then(|to| to.strip_prefix(PREFIX));
            if let Some(definition) = name.and_then(|name| DEFINITIONS.get(name).filter(|_| !inner.contains_key(name)))
            {
                inner.insert(name.unwrap_or_default().to_owned(), definition.clone());
                collect(definition, inner);
            }
            object.values().for_each(|value| collect(value, inner));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, inner)),
        _ => {}
    }
}

/// Makes references local, and leaves out what only this project reads.
fn plain(schema: &mut Value, titles: &BTreeMap<&str, String>) {
    match schema {
        Value::Object(object) => {
            object.retain(|name, value| {
                !(value.is_string() && matches!(name.as_str(), "$id" | "$schema" | "title")
                    || name.starts_with("x-omen-"))
            });
            if let Some(Value::String(to)) = object.get_mut("$ref") {
                let name = match to.rsplit_once("#/$defs/") {
                    Some((_, name)) => name.to_owned(),
                    None => titles.get(stem(to)).cloned().unwrap_or_default(),
                };
                *to = format!("{PREFIX}{name}");
            }
            object.values_mut().for_each(|value| plain(value, titles));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| plain(item, titles)),
        _ => {}
    }
}

/// Returns the name of a file up to the first dot.
fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split('.').next().unwrap_or(name)
}

const PREFIX: &str = "#/$defs/";
