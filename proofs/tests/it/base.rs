//! Each packet is the base with its type in the header and its payload spelled out (D67), both as schemas and in the verdicts
//! of an independent validator. The files are where the catalogue of the schema index names them.

use std::collections::BTreeMap;

use jsonschema::{Draft, Registry, Validator};
use serde_json::{Map, Value, json};

const BASE: &str = "packets/PacketBase.schema.json";
const HEADER: &str = "header/PacketHeader.schema.json";
const MCP: &str = "mcp/MCP.schema.json";

fn schema(path: &str) -> Value {
    let text = omen_schema::file(path).unwrap_or_else(|| panic!("{path} is missing"));
    serde_json::from_str(text).expect("JSON")
}

/// The names of the packet types, as the header lists them.
fn packet_types() -> Vec<String> {
    let header = schema(HEADER);
    let branches = header.pointer("/$defs/PacketType/oneOf").and_then(Value::as_array).expect("an enum");
    branches.iter().map(|branch| text(branch, "/enum/0")).collect()
}

fn text(value: &Value, pointer: &str) -> String {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_else(|| panic!("no text at {pointer}")).to_owned()
}

/// A schema without its identification and description.
fn bare(schema: &Value) -> Map<String, Value> {
    let Value::Object(members) = schema else { panic!("a schema is an object") };
    let own = ["$schema", "$id", "title", "description", "$defs"];
    // Members that begin with `x-omen-` are for people and other checks, and constrain nothing.
    let kept = members.iter().filter(|(key, _)| !own.contains(&key.as_str()) && !key.starts_with("x-omen-"));
    let strip = |value: &Value| match value {
        Value::Object(_) => Value::Object(bare(value)),
        other => other.clone(),
    };
    kept.map(|(key, value)| (key.clone(), strip(value))).collect()
}

#[test]
fn the_catalogue_is_where_the_index_names_it() {
    let packets = packet_types().into_iter().map(|name| format!("packets/{name}.schema.json"));
    for path in packets.chain([HEADER, MCP, BASE].map(str::to_owned)) {
        let id = text(&schema(&path), "/$id");
        assert!(id.ends_with(&format!("/v0.7/{path}")), "{path}: {id}");
    }
    assert_eq!(packet_types().len(), 10);
}

#[test]
fn each_packet_is_the_base_plus_its_payload() {
    let base = bare(&schema(BASE));
    for name in packet_types() {
        let packet = schema(&format!("packets/{name}.schema.json"));
        let payload = text(&packet, "/properties/payload/$ref");
        let definition = packet.pointer(payload.strip_prefix('#').expect("a definition of the same file"));
        assert_eq!(definition.map(|payload| text(payload, "/type")).as_deref(), Some("object"), "{name}");

        // What the packet adds to the base, and nothing else.
        let mut expected = Value::Object(base.clone());
        expected["properties"]["header"]["properties"] = json!({ "packet_type": { "enum": [name] } });
        expected["properties"]["payload"] = json!({ "$ref": payload });
        assert_eq!(Value::Object(bare(&packet)), expected, "{name}");
    }
}

/// The validators of the base, and of packets and payloads by type.
struct Validators {
    base: Validator,
    packets: BTreeMap<String, (Validator, Validator)>,
}

impl Validators {
    fn new() -> Self {
        let mut registry = Registry::new();
        for (path, _) in omen_schema::FILES.iter().filter(|(path, _)| path.ends_with(".schema.json")) {
            let schema = schema(path);
            registry = registry.add(text(&schema, "/$id"), schema).expect("a schema");
        }
        let registry = registry.prepare().expect("references that lead somewhere");
        let build = |schema: &Value| {
            let options = jsonschema::options().with_draft(Draft::Draft202012).with_registry(&registry);
            options.build(schema).expect("a validator")
        };
        let packets = packet_types().into_iter().map(|name| {
            let packet = schema(&format!("packets/{name}.schema.json"));
            let payload =
                json!({ "$ref": format!("{}{}", text(&packet, "/$id"), text(&packet, "/properties/payload/$ref")) });
            let both = (build(&packet), build(&payload));
            (name, both)
        });
        Self { packets: packets.collect(), base: build(&schema(BASE)) }
    }

    /// Whether a value is a packet of its type, by the packet's schema, and by the base and the payload's schema.
    fn verdicts(&self, value: &Value) -> Option<(bool, bool)> {
        let (packet, payload) = self.packets.get(value.pointer("/header/packet_type")?.as_str()?)?;
        let in_parts = self.base.is_valid(value) && value.get("payload").is_some_and(|value| payload.is_valid(value));
        Some((packet.is_valid(value), in_parts))
    }
}

#[test]
fn a_packet_is_valid_exactly_if_base_and_payload_are() {
    let validators = Validators::new();
    let (mut valid, mut invalid) = (0, 0);
    let lines = omen_schema::EXAMPLES
        .iter()
        .filter(|(path, _)| path.starts_with("valid/") && path.ends_with(".jsonl"))
        .flat_map(|(_, log)| log.lines());
    for value in lines.filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        // Unchanged, and with each member of the packet and of its parts removed or renamed.
        let mut all = vec![value.clone()];
        for place in ["", "/header", "/mcp", "/payload"] {
            let keys: Vec<String> = value
                .pointer(place)
                .and_then(Value::as_object)
                .into_iter()
                .flat_map(|all| all.keys().cloned())
                .collect();
            for key in keys {
                let mut without = value.clone();
                let members = without.pointer_mut(place).and_then(Value::as_object_mut).expect("an object");
                let taken = members.remove(&key).expect("a member");
                all.push(without.clone());
                let members = without.pointer_mut(place).and_then(Value::as_object_mut).expect("an object");
                members.insert(format!("_{key}"), taken);
                all.push(without);
            }
        }
        for value in all {
            let Some((whole, in_parts)) = validators.verdicts(&value) else { continue };
            assert_eq!(whole, in_parts, "{value}");
            valid += usize::from(whole);
            invalid += usize::from(!whole);
        }
    }
    println!("{valid} valid, {invalid} invalid");
    assert!(valid > 1_000 && invalid > 10_000, "{valid} {invalid}");
}
