//! Schemas for the arguments of the episode's tools, derived from the schemas of the packets.
//!
//! A model's program understands less of JSON Schema than a validator does: some programs allow no conditional at the top
//! level, and none follows a reference into another file. The derived schemas therefore contain their definitions, and lists of
//! values instead of branches. Whatever this omits is still judged, by the packet's own schema.

use std::collections::BTreeMap;

use omen_types::packet::{ObservationType, PacketType};
use serde_json::{Map, Value, json};

use super::catalog::OwnTool;

// Envelope parts that the proxy supplies or reads. A test checks them against the schema.
pub(super) const BUDGETS: &str = "budgets";
pub(super) const EVIDENCE: &str = "evidence";
pub(super) const EPISTEMICS: &str = "epistemics";
pub(super) const ROUTING: &str = "routing";
/// Member with the tools that a decision to act names.
pub(super) const TOOLS: &str = "tools";
pub(super) const TOOLS_STATE: &str = "tools_state";

/// Returns the file of a packet's schema.
fn file(packet: PacketType) -> String {
    format!("packets/{packet}.schema.json")
}

/// Part of a payload that the proxy supplies: a member, or some values of one.
struct SuppliedPart {
    packet: PacketType,
    member: &'static str,
    /// Values that the proxy supplies; empty for the whole member.
    values: &'static [ObservationType],
}

/// A plan or an escalation gets the resting decision; an observation gets what the proxy saw of the tool or the human.
const SUPPLIED: [SuppliedPart; 6] = [
    SuppliedPart { packet: PacketType::VerificationPlanPacket, member: "decision_packet_id", values: &[] },
    SuppliedPart { packet: PacketType::EscalationPacket, member: "blocking_decision_packet_id", values: &[] },
    SuppliedPart { packet: PacketType::ObservationPacket, member: "source_tool", values: &[] },
    SuppliedPart { packet: PacketType::ObservationPacket, member: "query_params", values: &[] },
    SuppliedPart { packet: PacketType::ObservationPacket, member: "reliability_metadata", values: &[] },
    SuppliedPart {
        packet: PacketType::ObservationPacket,
        member: OBSERVATION_TYPE,
        values: &[ObservationType::ToolOutput, ObservationType::UserInput],
    },
];

/// Returns whether the proxy supplies this member of a payload.
pub(super) fn is_supplied(packet: PacketType, member: &str) -> bool {
    SUPPLIED.iter().any(|one| one.packet == packet && one.member == member && one.values.is_empty())
}

/// Returns the members with which a token is named or created.
pub(super) fn of_tokens() -> Vec<String> {
    let token = definition(&file(PacketType::ToolAuthorizationToken), PAYLOAD);
    let required = token.get("required").and_then(Value::as_array).into_iter().flatten();
    required.filter_map(Value::as_str).map(str::to_owned).chain([TOKEN.to_owned()]).collect()
}

/// Returns the members of a packet header.
pub(super) fn of_headers() -> Vec<String> {
    members(&read(HEADER)).keys().cloned().collect()
}

/// Returns the envelope parts that a model states.
pub(super) fn stated_parts() -> Vec<String> {
    let parts = members(&read(MCP));
    parts.keys().filter(|name| ![BUDGETS, EVIDENCE].contains(&name.as_str())).cloned().collect()
}

/// Returns the members of the payload that a tool sends.
pub(super) fn payload_members(packet: PacketType) -> Vec<String> {
    let payload = definition(&file(packet), PAYLOAD);
    members(&payload).keys().filter(|name| !is_supplied(packet, name)).cloned().collect()
}

/// Returns a tool as listed by `tools/list`.
pub(super) fn listed(tool: OwnTool) -> Value {
    let Some(packet) = tool.packet_type() else {
        let schema = json!({ "type": "object", "properties": {}, "additionalProperties": false });
        let description = format!("{ABOUT_STATE} {}", first_call(tool));
        return json!({ "name": tool.name(), "description": description, "inputSchema": schema });
    };
    let file = file(packet);
    let about = plain(read(&file).get("description").and_then(Value::as_str).unwrap_or_default());
    json!({
        "name": tool.name(),
        "description": format!("{about} {ABOUT_ALL} {}", first_call(tool)),
        "inputSchema": input(packet, &file),
    })
}

/// Returns the arguments of a first call, for a model to copy.
fn first_call(tool: OwnTool) -> String {
    let calls = FIRST_CALLS.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let first = calls.into_iter().find(|call| call.get("call").and_then(Value::as_str) == Some(tool.name()));
    let arguments = first.and_then(|call| call.get("arguments").cloned()).unwrap_or_default();
    format!("Example of a first call: {arguments}")
}

fn input(packet: PacketType, file: &str) -> Value {
    let mut defs = Defs::default();
    let Value::Object(mut schema) = defs.convert(&definition(file, PAYLOAD), file) else { return Value::Null };
    let own = |member: &str| SUPPLIED.iter().find(|one| one.packet == packet && one.member == member);
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.retain(|name, _| own(name).is_none_or(|one| !one.values.is_empty()));
        let mcp = defs.convert(&read(MCP), MCP);
        properties.insert("mcp".to_owned(), stated(mcp, &mut defs));
        let id = defs.convert(&json!({ "$ref": "../common.schema.json#/$defs/PacketId" }), file);
        properties.insert(EVIDENCE.to_owned(), json!({ "type": "array", "items": id, "description": ABOUT_EVIDENCE }));
        if packet == PacketType::DecisionPacket {
            properties.insert(TOOLS.to_owned(), chosen(&mut defs));
        }
    }
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.retain(|name| name.as_str().is_none_or(|name| own(name).is_none_or(|one| !one.values.is_empty())));
    }
    for one in SUPPLIED.iter().filter(|one| one.packet == packet && !one.values.is_empty()) {
        defs.without(&schema, one);
    }
    // A conditional next to the members at the top level is not accepted by some programs.
    schema.remove("allOf");
    let defs = defs.used_by(&schema);
    schema.insert("$defs".to_owned(), Value::Object(defs));
    Value::Object(schema)
}

/// Returns the schema of the tools that a decision names, with operations as in a token.
fn chosen(defs: &mut Defs) -> Value {
    let file = file(PacketType::ToolAuthorizationToken);
    let scope = definition(&file, "AuthorizedScope");
    let mut operations = defs.convert(members(&scope).get("operation_types").unwrap_or_default(), &file);
    if let Value::Object(operations) = &mut operations {
        operations.insert("description".to_owned(), ABOUT_OPERATIONS.into());
    }
    let tool = json!({ "type": "string", "description": ABOUT_TOOL });
    let chosen = json!({ "type": "object", "properties": { "tool": tool, "operations": operations },
        "required": ["tool", "operations"], "additionalProperties": false });
    json!({ "type": "array", "items": chosen, "description": ABOUT_TOOLS })
}

/// Reduces the envelope schema to the parts that a model states, none of which it must repeat.
fn stated(mut mcp: Value, defs: &mut Defs) -> Value {
    if let Value::Object(mcp) = &mut mcp {
        mcp.insert("description".to_owned(), ABOUT_MCP.into());
        mcp.remove("required");
        if let Some(Value::Object(parts)) = mcp.get_mut("properties") {
            parts.retain(|name, _| ![BUDGETS, EVIDENCE].contains(&name.as_str()));
            let routing = parts.get(ROUTING).and_then(target).map(str::to_owned);
            if let Some(Value::Object(routing)) = routing.and_then(|name| defs.found.get_mut(&name)) {
                if let Some(Value::Object(members)) = routing.get_mut("properties") {
                    members.remove(TOOLS_STATE);
                }
                if let Some(Value::Array(required)) = routing.get_mut("required") {
                    required.retain(|name| name != TOOLS_STATE);
                }
            }
        }
    }
    mcp
}

/// Definitions used by a schema, by name.
#[derive(Default)]
struct Defs {
    found: BTreeMap<String, Value>,
}

impl Defs {
    /// Converts a schema of a file, redirecting its references to these definitions.
    fn convert(&mut self, schema: &Value, file: &str) -> Value {
        match schema {
            Value::Object(members) => {
                if let Some(values) = values(members) {
                    return values;
                }
                let mut converted = Map::new();
                for (name, value) in members {
                    match (name.as_str(), value) {
                        ("$ref", Value::String(reference)) => {
                            let to = self.reference(reference, file);
                            converted.insert("$ref".to_owned(), format!("#/$defs/{to}").into());
                        }
                        ("description", Value::String(text)) => {
                            converted.insert(name.clone(), plain(text).into());
                        }
                        ("$schema" | "$id" | "$defs" | "title", _) => {}
                        (other, _) if other.starts_with("x-") => {}
                        _ => {
                            converted.insert(name.clone(), self.convert(value, file));
                        }
                    }
                }
                Value::Object(converted)
            }
            Value::Array(items) => Value::Array(items.iter().map(|item| self.convert(item, file)).collect()),
            other => other.clone(),
        }
    }

    /// Returns the name of a reference's target.
    fn reference(&mut self, reference: &str, from: &str) -> String {
        let (path, name) = reference.split_once('#').unwrap_or((reference, ""));
        let file = resolved(path, from);
        let name = name.strip_prefix("/$defs/").unwrap_or(PAYLOAD).to_owned();
        if !self.found.contains_key(&name) {
            // Inserted before the conversion, because it may refer to itself.
            self.found.insert(name.clone(), Value::Null);
            let converted = self.convert(&definition(&file, &name), &file);
            self.found.insert(name.clone(), converted);
        }
        name
    }

    /// Removes values that the proxy supplies.
    fn without(&mut self, schema: &Map<String, Value>, one: &SuppliedPart) {
        let Some(member) = schema.get("properties").and_then(|all| all.get(one.member)) else { return };
        let Some(Value::Object(target)) = target(member).and_then(|name| self.found.get_mut(name)) else { return };
        let is_ours = |value: &Value| one.values.iter().any(|own| value == own.as_str());
        if let Some(Value::Array(values)) = target.get_mut("enum") {
            values.retain(|value| !is_ours(value));
        }
        let description = target.get("description").and_then(Value::as_str).unwrap_or_default();
        let lines =
            description.lines().filter(|line| one.values.iter().all(|own| !line.starts_with(&format!("- `{own}`"))));
        let description = lines.collect::<Vec<_>>().join("\n");
        target.insert("description".to_owned(), description.into());
    }

    /// Returns the definitions that a schema leads to; the others were used only by omitted parts.
    fn used_by(mut self, schema: &Map<String, Value>) -> Map<String, Value> {
        let mut used = Map::new();
        let mut next: Vec<Value> = schema.values().cloned().collect();
        while let Some(value) = next.pop() {
            match &value {
                Value::Object(members) => {
                    if let Some(found) = target(&value).and_then(|name| self.found.remove_entry(name)) {
                        next.push(found.1.clone());
                        used.insert(found.0, found.1);
                    }
                    next.extend(members.values().cloned());
                }
                Value::Array(items) => next.extend(items.iter().cloned()),
                _ => {}
            }
        }
        used
    }
}

/// Returns a list of values to replace branches with one value each.
fn values(schema: &Map<String, Value>) -> Option<Value> {
    let branches = schema.get("oneOf")?.as_array()?;
    let mut all = Vec::new();
    let mut about = vec![plain(schema.get("description")?.as_str()?)];
    for branch in branches {
        let [value] = branch.get("enum")?.as_array()?.as_slice() else { return None };
        about.push(format!("- `{}`: {}", value.as_str()?, plain(branch.get("description")?.as_str()?)));
        all.push(value.clone());
    }
    Some(json!({ "type": "string", "enum": all, "description": about.join("\n") }))
}

fn target(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.strip_prefix("#/$defs/")
}

fn members(schema: &Value) -> Map<String, Value> {
    schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default()
}

fn resolved(path: &str, from: &str) -> String {
    match path.strip_prefix("../") {
        Some(path) => path.to_owned(),
        None if path.is_empty() => from.to_owned(),
        None => path.to_owned(),
    }
}

/// Reads a schema file. INVARIANT: the files are JSON, and those named here exist; a test creates every tool.
fn read(file: &str) -> Value {
    omen_schema::file(file).and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

/// Returns the definition with a name in a file; for the payload, the one to which the packet's own `payload` refers.
fn definition(file: &str, name: &str) -> Value {
    let text = read(file);
    let name = match name {
        PAYLOAD => members(&text).get("payload").and_then(target).unwrap_or_default().to_owned(),
        name => name.to_owned(),
    };
    text.get("$defs").and_then(|defs| defs.get(name)).cloned().unwrap_or_default()
}

/// Returns a description without decision numbers, which mean nothing to a model.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(" (") {
        let (before, after) = rest.split_at(start);
        let Some(end) = after.find(')') else { break };
        let inside = after.get(2..end).unwrap_or_default();
        out.push_str(before);
        let words = inside.split(", ");
        let is_number = |word: &str| {
            word.strip_prefix('D')
                .is_some_and(|digits| !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit()))
        };
        let kept = words.filter(|word| !is_number(word)).collect::<Vec<_>>().join(", ");
        if !kept.is_empty() {
            out.push_str(" (");
            out.push_str(&kept);
            out.push(')');
        }
        rest = after.get(end + 1..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// First calls. A test checks each against the schema of its tool, and plays them.
const FIRST_CALLS: &str = include_str!("first_calls.jsonl");
const PAYLOAD: &str = "payload";
const HEADER: &str = "header/PacketHeader.schema.json";
const MCP: &str = "mcp/MCP.schema.json";
pub(super) const OBSERVATION_TYPE: &str = "observation_type";
/// Member in which a directive names its token.
pub(super) const TOKEN: &str = "authorization_token_id";

const ABOUT_ALL: &str = "The proxy adds ids, time, budgets and evidence. The answer says where the episode stands and what is \
     legal next; a refusal names the rule.";
const ABOUT_MCP: &str = "What holds for this call and those after it: intent, stakes, quality, how it is known, and \
                         the kind of task. Give every part in the first call; later, give only the parts that change.";
const ABOUT_EVIDENCE: &str = "What this call and those after it rest on: ids of outputs of tools and of answers of the user, as \
     `omen_state` lists them.";
const ABOUT_TOOLS: &str = "Required with `ACT`: the tools of the server that may be called for this decision and can \
                           do more than read; one call of one of them, and of no other tool. `[]` if nothing but \
                           reading is decided. Omitted with any other outcome.";
const ABOUT_TOOL: &str = "The name of the tool, as listed.";
const ABOUT_OPERATIONS: &str = "What the tool is to do; at least one. A call whose argument `operation` names another of these is \
     refused.";
const ABOUT_STATE: &str = "Says where the episode stands: its state, what is open, what was used of the budgets, what can be cited \
     as evidence, and what is legal next, with the tool to use. It changes nothing.";

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests {
    use serde_json::Value;

    use super::super::catalog::OwnTool;
    use super::{SUPPLIED, definition, file, listed, members, of_headers, of_tokens, plain, stated_parts};

    fn references(value: &Value, out: &mut Vec<String>) {
        match value {
            Value::Object(members) => members.iter().for_each(|(name, value)| match (name.as_str(), value) {
                ("$ref", Value::String(to)) => out.push(to.clone()),
                _ => references(value, out),
            }),
            Value::Array(items) => items.iter().for_each(|item| references(item, out)),
            _ => {}
        }
    }

    #[test]
    fn what_the_tables_name_is_in_the_schemas() {
        for one in &SUPPLIED {
            let payload = definition(&file(one.packet), super::PAYLOAD);
            assert!(members(&payload).contains_key(one.member), "{} {}", one.packet, one.member);
        }
        assert_eq!(stated_parts(), ["epistemics", "intent", "quality", "routing", "stakes"]);
        assert!(of_headers().contains(&"created_at".to_owned()));
        assert!(of_tokens().contains(&"issuer_layer".to_owned()) && of_tokens().contains(&super::TOKEN.to_owned()));
    }

    #[test]
    fn every_tool_has_a_schema_that_stands_alone_and_no_conditional_at_its_top() {
        for tool in OwnTool::ALL {
            let listed = listed(tool);
            let schema = &listed["inputSchema"];
            assert_eq!(schema["type"], "object", "{listed}");
            assert_eq!(schema["additionalProperties"], false);
            for keyword in ["allOf", "oneOf", "anyOf", "if"] {
                assert!(schema.get(keyword).is_none(), "{keyword} of {}", tool.name());
            }
            let mut found = Vec::new();
            references(schema, &mut found);
            for reference in &found {
                let name = reference.strip_prefix("#/$defs/").unwrap();
                assert!(schema["$defs"][name].is_object(), "{reference} of {}", tool.name());
            }
            let text = listed.to_string();
            assert!(!text.contains("x-omen") && !text.contains("(D"), "{text}");
        }
    }

    #[test]
    fn what_is_the_proxys_is_not_asked_of_a_model() {
        let observe = listed(OwnTool::Observe);
        let types = observe["inputSchema"]["$defs"]["ObservationType"].to_string();
        assert!(!types.contains("tool_output") && !types.contains("user_input") && types.contains("intel_update"));
        let plan = listed(OwnTool::Plan);
        assert_eq!(plan["inputSchema"]["required"], serde_json::json!(["targets"]));
        let mcp = &plan["inputSchema"]["properties"]["mcp"];
        assert!(mcp["properties"].get("budgets").is_none() && mcp["properties"].get("stakes").is_some());
        assert!(plan["inputSchema"]["$defs"]["Routing"]["properties"].get("tools_state").is_none());
    }

    #[test]
    fn a_text_for_a_model_has_no_numbers_of_decisions() {
        assert_eq!(
            plain("One decision (D5). At (INV-006, D33) most (of all)."),
            "One decision. At (INV-006) most (of all)."
        );
    }
}
