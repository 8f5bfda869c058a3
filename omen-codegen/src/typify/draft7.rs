//! Conversion of the schemas to draft 7. Whatever typify would interpret differently is expressed in another way.

use serde_json::{Map, Value, json};

use crate::load::{SchemaSet, referenced};
use crate::mistake::{Mistakes, bug};

/// Type of the fields whose names match a pattern.
pub(super) const METADATA: &str = "Metadata";

/// Returns the definitions of all schema files, by name.
pub(super) fn definitions(set: &SchemaSet) -> Result<Map<String, Value>, Mistakes> {
    let mut all = Map::from_iter([(METADATA.to_owned(), json!({}))]);
    for found in set.definitions() {
        all.insert(found.name.to_owned(), definition(found.file, found.json.to_value())?);
    }
    Ok(all)
}

fn definition(file: &str, mut schema: Value) -> Result<Value, Mistakes> {
    let Some(map) = schema.as_object_mut() else { return Ok(schema) };
    // Conditionals do not change a type. The parser and the branch builders check them.
    map.remove("allOf");
    keep_typing(map);
    let required = map.get("required").cloned().unwrap_or_default();
    for (name, member) in map.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
        let Some(member) = member.as_object_mut() else { continue };
        keep_typing(member);
        // typify would make a field with a default required, but a missing field must stay missing.
        member.remove("default");
        refer(file, member)?;
        if let Some(items) = member.get_mut("items").and_then(Value::as_object_mut) {
            refer(file, items)?;
        }
        // typify would omit an empty optional list, but not an empty nullable one.
        let is_required = required.as_array().is_some_and(|required| required.contains(&json!(name)));
        if !is_required && member.get("type") == Some(&json!("array")) {
            member.insert("type".to_owned(), json!(["array", "null"]));
        }
    }
    if map.remove("patternProperties").is_some() {
        let ty = json!({ "$ref": format!("#/definitions/{METADATA}") });
        if let Some(members) = map.get_mut("properties").and_then(Value::as_object_mut) {
            members.insert("metadata".to_owned(), ty);
        }
        if let Some(required) = map.get_mut("required").and_then(Value::as_array_mut) {
            required.push(json!("metadata"));
        }
    }
    for branch in map.get_mut("oneOf").and_then(Value::as_array_mut).into_iter().flatten() {
        let Some(branch) = branch.as_object_mut() else { continue };
        keep_typing(branch);
        if let Some(name) = refer(file, branch)? {
            // The title names the variant, and typify ignores a title next to a reference.
            let reference = branch.remove("$ref");
            *branch = Map::from_iter([
                ("title".to_owned(), json!(packet_variant(&name))),
                ("allOf".to_owned(), json!([{ "$ref": reference }])),
            ]);
        }
    }
    Ok(schema)
}

/// Removes the keywords that do not affect the type. For instance, typify would turn a list of fixed length into an array.
fn keep_typing(schema: &mut Map<String, Value>) {
    schema.retain(|key, _| {
        let is_typing = !key.starts_with("x-omen-") && !key.starts_with('$');
        key == "$ref" || is_typing && !["examples", "minItems", "maxItems"].contains(&key.as_str())
    });
}

/// Replaces a reference to a file by a reference to a definition, and returns the name of the definition.
fn refer(file: &str, schema: &mut Map<String, Value>) -> Result<Option<String>, Mistakes> {
    let Some(Value::String(text)) = schema.remove("$ref") else { return Ok(None) };
    let name = referenced(file, &text).ok_or_else(|| bug(format!("{file}: invalid reference `{text}`")))?;
    // A packet's header fixes the packet type, so typify would declare a separate header type for each packet. The
    // parser checks the packet type instead.
    schema.remove("properties");
    schema.insert("$ref".to_owned(), json!(format!("#/definitions/{name}")));
    Ok(Some(name))
}

/// Returns the variant name of a packet: its type name without the suffix `Packet`.
pub(crate) fn packet_variant(packet: &str) -> &str {
    packet.strip_suffix("Packet").unwrap_or(packet)
}
