//! Schema files as read by the referee: plain JSON, with `jsonschema` as the validator.
//!
//! Nothing here uses `omen-codegen`, so a mistake in how it reads the schemas cannot go unnoticed. The schema that
//! schemars derives from the generated types is judged as well.

use std::collections::BTreeMap;
use std::sync::Arc;

use jsonschema::{Draft, Registry, Validator};
use omen_types::Packet;
use omen_types::schemars::schema_for;
use serde_json::{Value, json};

use super::pointer;
use crate::Failure;

/// The schema files and their validators.
pub(crate) struct Schemas {
    /// Files by path below the version's folder.
    files: BTreeMap<String, Value>,
    any: Validator,
    /// Validator of the schema that schemars derives from `Packet`.
    derived: Validator,
    /// Validators by packet type.
    packets: BTreeMap<String, Validator>,
    /// Path of each packet's file, with its packet type.
    pub(super) roots: Vec<(String, String)>,
    /// Values of each enumeration.
    pub(super) enums: Vec<Vec<String>>,
    /// All member names.
    pub(super) members: Vec<String>,
}

const UNION: &str = "Packet.schema.json";

impl Schemas {
    pub(crate) fn load() -> Result<Self, Failure> {
        let (files, registry) = files()?;
        let date_time = jsonschema::options()
            .with_draft(Draft::Draft202012)
            .should_validate_formats(true)
            .build(&json!({ "format": "date-time" }))?;
        let date_time = Arc::new(date_time);
        let build = |schema: &Value| {
            let date_time = Arc::clone(&date_time);
            jsonschema::options()
                .with_draft(Draft::Draft202012)
                .with_registry(&registry)
                .should_validate_formats(true)
                .with_format("date-time", move |text| has_digits_in_place(text) && date_time.is_valid(&text.into()))
                .build(schema)
                .map_err(|error| error.to_string())
        };
        let union = files.get(UNION).ok_or("missing the union of packets")?;
        let any = build(union)?;
        let derived = build(&schema_for!(Packet).to_value())?;
        let branches = union.get("oneOf").and_then(Value::as_array).into_iter().flatten();
        let listed: Vec<&String> = branches
            .filter_map(|branch| files.get_key_value(branch.get("$ref")?.as_str()?))
            .map(|(path, _)| path)
            .collect();
        let mut packets = BTreeMap::new();
        let mut roots = Vec::new();
        for (path, schema) in files.iter().filter(|(path, _)| listed.contains(path)) {
            let name = schema.get("title").and_then(Value::as_str).ok_or_else(|| format!("{path} has no `title`"))?;
            packets.insert(name.to_owned(), build(schema)?);
            roots.push((name.to_owned(), path.clone()));
        }
        let (enums, members) = (Vec::new(), Vec::new());
        let mut schemas = Self { any, derived, packets, roots, enums, members, files: BTreeMap::new() };
        files.values().for_each(|schema| schemas.collect(schema));
        schemas.members.sort_unstable();
        schemas.members.dedup();
        schemas.files = files;
        Ok(schemas)
    }

    /// Returns the validator of all packets as the crate builds it, with its own check of timestamps.
    pub(crate) fn as_shipped() -> Result<Validator, Failure> {
        let (files, registry) = files()?;
        let union = files.get(UNION).ok_or("missing the union of packets")?;
        let options = jsonschema::options().with_draft(Draft::Draft202012).should_validate_formats(true);
        Ok(options.with_registry(&registry).build(union).map_err(|error| error.to_string())?)
    }

    fn collect(&mut self, schema: &Value) {
        match schema {
            Value::Array(elements) => elements.iter().for_each(|element| self.collect(element)),
            Value::Object(members) => {
                if let Some(Value::Object(properties)) = members.get("properties") {
                    self.members.extend(properties.keys().cloned());
                }
                if let Some(Value::Array(branches)) = members.get("oneOf") {
                    let values: Vec<_> = branches
                        .iter()
                        .filter_map(|branch| branch.pointer("/enum/0")?.as_str())
                        .map(str::to_owned)
                        .collect();
                    if !values.is_empty() {
                        self.enums.push(values);
                    }
                }
                members.values().for_each(|member| self.collect(member));
            }
            _ => {}
        }
    }

    /// Returns the root schema of a file.
    pub(super) fn file(&self, path: &str) -> Option<&Value> {
        self.files.get(path)
    }

    /// Returns the definition that a `$ref` in a file refers to, and the file that contains it.
    pub(super) fn resolve<'s>(&'s self, file: &str, reference: &str) -> Option<(String, &'s Value)> {
        let (path, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let target = if path.is_empty() {
            file.to_owned()
        } else {
            let mut steps: Vec<&str> = file.split('/').collect();
            steps.pop();
            for step in path.split('/') {
                if step == ".." {
                    steps.pop();
                } else {
                    steps.push(step);
                }
            }
            steps.join("/")
        };
        let schema = self.files.get(&target)?.pointer(fragment)?;
        Some((target, schema))
    }

    /// Returns whether the schema files accept a packet of any type.
    pub(crate) fn accept(&self, value: &Value) -> bool {
        self.any.is_valid(value)
    }

    /// Returns whether the schema that schemars derives from the Rust types accepts a packet of any type.
    pub(super) fn derived_accept(&self, value: &Value) -> bool {
        self.derived.is_valid(value)
    }

    /// Returns the places of errors, by the schema of one packet type.
    pub(super) fn error_places(&self, packet_type: &str, value: &Value) -> Vec<ErrorPlace> {
        let Some(validator) = self.packets.get(packet_type) else { return Vec::new() };
        let place = |error: jsonschema::ValidationError<'_>| ErrorPlace {
            pointer: error.instance_path().as_str().to_owned(),
            conditional: error.evaluation_path().as_str().contains("/then/"),
        };
        validator.iter_errors(value).map(place).collect()
    }
}

/// Returns the schema files by path, and the registry that resolves their references.
fn files() -> Result<(BTreeMap<String, Value>, Registry<'static>), Failure> {
    let mut files = BTreeMap::new();
    let mut registry = Registry::new();
    for (path, text) in omen_schema::FILES.iter().filter(|(path, _)| path.ends_with(".schema.json")) {
        let schema: Value = serde_json::from_str(text).map_err(|error| format!("{path}: {error}"))?;
        let id = schema.get("$id").and_then(Value::as_str).ok_or_else(|| format!("{path} has no `$id`"))?;
        registry = registry.add(id, schema.clone())?;
        files.insert((*path).to_owned(), schema);
    }
    Ok((files, registry.prepare()?))
}

/// Place of a JSON Schema error.
#[derive(Debug)]
pub(super) struct ErrorPlace {
    pub(super) pointer: String,
    /// Whether the error comes from a conditional.
    conditional: bool,
}

impl ErrorPlace {
    /// Returns whether an error of `omen-types` at a pointer corresponds to this one.
    pub(super) fn is(&self, our: &str) -> bool {
        // JSON Schema skips the elements of a value that is not an array, so a wrong type also makes a conditional
        // apply. One error is enough.
        same_place(our, &self.pointer) || (self.conditional && pointer::parent(our) == pointer::parent(&self.pointer))
    }
}

/// Returns whether a timestamp has digits where they belong.
///
/// The built-in check of `jsonschema` 0.60 takes some other bytes for digits: it accepts
/// `2026-03-01T10:00:0-Z` and `20.6-03-01T10:00:00Z`.
fn has_digits_in_place(text: &str) -> bool {
    let bytes = text.as_bytes();
    let numeric = |bytes: &[u8], form: &[u8]| {
        bytes.len() == form.len() && bytes.iter().zip(form).all(|(byte, form)| *form != b'0' || byte.is_ascii_digit())
    };
    let Some((date, rest)) = bytes.split_at_checked(19) else { return false };
    let zone = rest.split_at_checked(rest.len().saturating_sub(6)).map(|(_, zone)| zone);
    numeric(date, b"0000-00-00T00:00:00")
        && (rest.ends_with(b"Z") || rest.ends_with(b"z") || zone.is_some_and(|zone| numeric(zone, b"+00:00")))
}

/// Returns whether two pointers name the same place: the same value, or a value and one of its children.
///
/// JSON Schema reports an unknown member at the object, the readers at the member itself.
fn same_place(a: &str, b: &str) -> bool {
    a == b || pointer::parent(a) == Some(b) || pointer::parent(b) == Some(a)
}
