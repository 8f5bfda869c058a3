//! The schemas that schemars derives from the Rust types equal the schema files (feature `schemars`).
//!
//! `cargo test` in the root runs this, since `omen-proofs` enables the feature; for this package alone: `cargo test -p omen-types
//! --features schemars schemars`.
//!
//! Both sides are compared in a normal form, descriptions included. [`Form`] lists its changes; a keyword that it does not know
//! stays and must be equal.

use std::collections::{BTreeMap, BTreeSet};

use omen_types::schemars::{JsonSchema, Schema, schema_for};
use omen_types::{
    DecisionPayload, EscalationPayload, LayerSource, McpEnvelope, Metadata, Packet, PacketId, TaskDirectivePayload,
    TaskResultPacket, Timestamp,
};
use serde_json::{Map, Value, json};

type Definitions = BTreeMap<String, Value>;

/// Origin of a schema.
enum Form<'f> {
    /// A file in the folder of the version.
    File(&'f str),
    Derived,
}

impl Form<'_> {
    /// Returns the normal form of a definition, and the definitions that it refers to.
    fn of(&self, name: &str, schema: &Value) -> (Value, BTreeSet<String>) {
        let mut schema = schema.as_object().unwrap().clone();
        // The root of a file has the name of its type as title, and so has a derived schema.
        if let Some(title) = schema.remove("title") {
            assert_eq!(title, name);
        }
        ["$schema", "$id", "$defs"].iter().for_each(|keyword| drop(schema.remove(*keyword)));
        let mut references = BTreeSet::new();
        (self.schema(&Value::Object(schema), &mut references), references)
    }

    fn schema(&self, schema: &Value, references: &mut BTreeSet<String>) -> Value {
        let Value::Object(keywords) = schema else { return schema.clone() };
        let mut normal = Map::new();
        for (keyword, value) in keywords {
            let (keyword, value) = match (keyword.as_str(), value) {
                // Types cannot express these.
                ("default" | "examples", _) if matches!(self, Form::File(_)) => continue,
                (keyword, _) if keyword.starts_with("x-omen-") => continue,
                ("$ref", value) => {
                    let name = self.referenced(value.as_str().unwrap());
                    references.insert(name.clone());
                    ("$ref", Value::String(name))
                }
                ("enum", Value::Array(values)) if values.len() == 1 => ("const", values[0].clone()),
                // The types of a union exclude each other, so `anyOf` and `oneOf` are equivalent.
                ("anyOf", Value::Array(branches)) if branches.iter().all(|branch| branch.get("$ref").is_some()) => {
                    ("oneOf", self.schemas(branches, references))
                }
                ("required", Value::Array(names)) => {
                    let mut names = names.clone();
                    names.sort_by_key(ToString::to_string);
                    ("required", Value::Array(names))
                }
                ("properties" | "patternProperties", Value::Object(members)) => {
                    let members = members.iter().map(|(name, schema)| (name.clone(), self.schema(schema, references)));
                    (keyword.as_str(), Value::Object(members.collect()))
                }
                ("oneOf" | "allOf", Value::Array(schemas)) => (keyword.as_str(), self.schemas(schemas, references)),
                ("items" | "if" | "then", value) => (keyword.as_str(), self.schema(value, references)),
                (keyword, value) => (keyword, value.clone()),
            };
            assert!(normal.insert(keyword.to_owned(), value).is_none(), "two of `{keyword}`: {schema}");
        }
        Value::Object(normal)
    }

    fn schemas(&self, schemas: &[Value], references: &mut BTreeSet<String>) -> Value {
        schemas.iter().map(|schema| self.schema(schema, references)).collect()
    }

    /// Returns the name of the definition that a reference points to.
    fn referenced(&self, reference: &str) -> String {
        let (path, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        if let Some(name) = fragment.strip_prefix("/$defs/") {
            return name.to_owned();
        }
        assert!(fragment.is_empty(), "{reference}");
        match self {
            Form::Derived => panic!("{reference} leads to the root of a schema"),
            Form::File(from) => {
                let (folder, _) = from.rsplit_once('/').unwrap_or_default();
                let path = match (path.strip_prefix("../"), folder) {
                    (Some(path), _) => path.to_owned(),
                    (None, "") => path.to_owned(),
                    (None, folder) => format!("{folder}/{path}"),
                };
                file(&path)["title"].as_str().unwrap().to_owned()
            }
        }
    }
}

fn file(path: &str) -> Value {
    let (_, text) = omen_schema::FILES.iter().find(|(other, _)| *other == path).unwrap_or_else(|| panic!("{path}"));
    serde_json::from_str(text).unwrap()
}

/// Returns the definitions of the files, and the references of each.
fn files() -> (Definitions, BTreeMap<String, BTreeSet<String>>) {
    let (mut definitions, mut references) = (Definitions::new(), BTreeMap::new());
    // The base of all packets has no type of its own: it is written out in each of them (D67).
    let is_schema = |path: &&str| path.ends_with(".schema.json") && !path.ends_with("/PacketBase.schema.json");
    for path in omen_schema::FILES.iter().map(|(path, _)| *path).filter(is_schema) {
        let root = file(path);
        let mut all: Vec<_> =
            root["$defs"].as_object().unwrap().iter().map(|(name, schema)| (name.as_str(), schema)).collect();
        if root.get("type").is_some() || root.get("oneOf").is_some() {
            all.push((root["title"].as_str().unwrap(), &root));
        }
        for (name, schema) in all {
            let (normal, refers) = Form::File(path).of(name, schema);
            assert!(definitions.insert(name.to_owned(), normal).is_none(), "two of {name}");
            references.insert(name.to_owned(), refers);
        }
    }
    (definitions, references)
}

/// Returns the definitions of a derived schema, including its root.
fn derived(schema: Schema) -> Definitions {
    let schema = schema.to_value();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    let root = schema["title"].as_str().unwrap().to_owned();
    let inner = schema.get("$defs").and_then(Value::as_object).into_iter().flatten();
    let inner = inner.map(|(name, schema)| (name.clone(), Form::Derived.of(name, schema).0));
    let mut all: Definitions = inner.collect();
    all.insert(root.clone(), Form::Derived.of(&root, &schema).0);
    all
}

#[track_caller]
fn assert_equal(derived: &Definitions, files: &Definitions) {
    let names = |all: &Definitions| all.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(derived), names(files));
    let differ = derived.iter().filter(|(name, schema)| **schema != files[*name]);
    let differ: Vec<_> =
        differ.map(|(name, schema)| format!("`{name}` is {schema:#}\nand in the files {:#}", files[name])).collect();
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}

/// Every definition is below `Packet`, so this compares all of them.
#[test]
fn the_schema_of_every_type_is_that_of_the_files() {
    let (files, _) = files();
    assert!(files.len() > 100, "{}", files.len());
    assert_equal(&derived(schema_for!(Packet)), &files);
}

/// A model gets the whole schema and nothing else.
#[test]
fn a_schema_has_the_definitions_that_it_refers_to_and_no_others() {
    let (files, references) = files();
    let needed = |root: &str| {
        let (mut needed, mut next) = (Definitions::new(), vec![root.to_owned()]);
        while let Some(name) = next.pop() {
            if needed.insert(name.clone(), files[&name].clone()).is_none() {
                next.extend(references[&name].iter().cloned());
            }
        }
        needed
    };
    for (name, schema) in [
        ("DecisionPayload", schema_for!(DecisionPayload)),
        ("EscalationPayload", schema_for!(EscalationPayload)),
        ("LayerSource", schema_for!(LayerSource)),
        ("McpEnvelope", schema_for!(McpEnvelope)),
        ("PacketId", schema_for!(PacketId)),
        ("TaskDirectivePayload", schema_for!(TaskDirectivePayload)),
        ("TaskResultPacket", schema_for!(TaskResultPacket)),
        ("Timestamp", schema_for!(Timestamp)),
    ] {
        assert_equal(&derived(schema), &needed(name));
    }
}

/// A program's own type can have packet types as members, including optional ones and lists.
#[test]
fn types_of_a_program_contain_packet_types() {
    #[derive(JsonSchema)]
    #[schemars(crate = "omen_types::schemars", deny_unknown_fields)]
    #[allow(dead_code, reason = "only its schema is used")]
    struct Answer {
        decision: DecisionPayload,
        follows: Option<PacketId>,
        seen: Vec<Timestamp>,
        metadata: Metadata,
    }

    let schema = schema_for!(Answer).to_value();
    assert_eq!(schema["properties"]["decision"], json!({ "$ref": "#/$defs/DecisionPayload" }));
    assert!(schema["$defs"]["DecisionOutcome"].is_object(), "{schema:#}");
    let validator = jsonschema::draft202012::options().build(&schema).unwrap();
    let mut answer = json!({
        "decision": { "decision_outcome": "ACT", "decision_summary": "safety first",
            "constraints_satisfied": { "constitutional_check": true, "budget_check": true, "tier_check": true } },
        "seen": ["2026-03-01T10:00:00Z"],
        "metadata": { "_note": 1 },
    });
    assert!(validator.is_valid(&answer), "{:?}", validator.iter_errors(&answer).collect::<Vec<_>>());
    for (place, bad) in [
        ("/decision/decision_outcome", json!("ACTT")),
        ("/decision/decision_summary", json!("")),
        ("/seen/0", json!(1)),
        ("/metadata", json!({ "note": 1 })),
    ] {
        let good = std::mem::replace(answer.pointer_mut(place).unwrap(), bad);
        assert!(!validator.is_valid(&answer), "{answer}");
        *answer.pointer_mut(place).unwrap() = good;
    }
}
