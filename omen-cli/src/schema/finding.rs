//! JSON Schema for the output of `omen check --format json`: one line per finding, and one with the totals.

use omen_fsm::State;
use omen_types::PacketType;
use serde_json::{Map, Value, json};

use crate::formats::{ORDER, ShownCode};

/// Returns the JSON Schema (2020-12) of one line.
pub(super) fn json_schema() -> Value {
    let members: Map<String, Value> = members()
        .into_iter()
        .chain(order_members())
        .map(|(name, mut schema, about)| {
            if let Some(schema) = schema.as_object_mut() {
                schema.insert("description".to_owned(), about.into());
            }
            (name.to_owned(), schema)
        })
        .collect();
    let required: Vec<&str> = self::members().into_iter().map(|(name, ..)| name).collect();
    let counts: Map<String, Value> = COUNTS
        .iter()
        .chain(LEFT_OUT)
        .map(|(name, about)| ((*name).to_owned(), json!({"type": "integer", "minimum": 0, "description": about})))
        .collect();
    let counted: Vec<&str> = COUNTS.iter().map(|(name, _)| *name).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "finding",
        "description": "A line of `omen check --format json`: a finding or, at the end, the totals. Fields may be added.",
        "oneOf": [{"$ref": "#/$defs/finding"}, {"$ref": "#/$defs/totals"}],
        "$defs": {
            "finding": {
                "type": "object",
                "required": required,
                "properties": members,
            },
            "totals": {
                "type": "object",
                "required": ["summary"],
                "properties": {
                    "summary": {
                        "description": "The totals of all files.",
                        "type": "object",
                        "required": counted,
                        "properties": counts,
                    },
                },
            },
        },
    })
}

/// Returns the fields of a finding in order, as name, schema and description.
fn members() -> Vec<(&'static str, Value, &'static str)> {
    let number = |least: u64| json!({"type": ["integer", "null"], "minimum": least});
    let text = || json!({"type": ["string", "null"]});
    let texts = || json!({"type": "array", "items": {"type": "string"}});
    let codes: Vec<&str> = ShownCode::all().map(ShownCode::as_str).collect();
    let types = PacketType::ALL.iter().map(|one| Value::from(one.as_str())).chain([Value::Null]);
    let states: Vec<&str> = State::ALL.iter().map(|state| state.as_str()).collect();
    let cause = json!({
        "type": ["object", "null"],
        "required": ["line", "packet_id"],
        "properties": {"line": {"type": "integer", "minimum": 1}, "packet_id": text()},
    });
    vec![
        ("file", json!({"type": "string"}), "The log, as given; `-` for standard input."),
        ("line", number(1), "The line in the log; null for a finding about the end of an episode."),
        ("column", number(1), "The column in the line, in characters."),
        ("packet_index", number(0), "The index of the packet among the lines that are not blank."),
        ("packet_id", text(), "`header.packet_id`, if it is readable."),
        ("correlation_id", text(), "`header.correlation_id`, which names the episode, if it is readable."),
        ("packet_type", json!({"enum": types.collect::<Vec<_>>()}), "The type of the packet, if known."),
        (
            "state",
            json!({"type": ["array", "null"], "items": {"enum": states}}),
            "The states in which the episode may have been before the packet.",
        ),
        (
            "stage",
            json!({"enum": ["json", "schema", "fsm", "invariant", "end", ORDER]}),
            "The stage of the check; `end` is the end of the log, `order` is `--order`.",
        ),
        ("code", json!({"enum": codes}), "The rule; `omen explain CODE` describes it."),
        ("also", json!({"type": "array", "items": {"enum": codes}}), "Other rules that the same defect breaks."),
        ("severity", json!({"enum": ["warning", "error"]}), "Whether the packet is rejected because of it."),
        ("pointer", text(), "The JSON pointer to the defect in the packet."),
        ("message", json!({"type": "string"}), "What is wrong."),
        ("help", text(), "What to do."),
        (
            "follows_from",
            cause,
            "The rejected packet without which this finding would not exist; null for a root cause.",
        ),
        ("labels", texts(), "The label at the position itself."),
        ("notes", texts(), "What else is known."),
        ("directive_line", number(1), "At the end of a log: the line of the directive that was left open."),
    ]
}

/// Returns the fields that only a finding of `--order` has.
fn order_members() -> Vec<(&'static str, Value, &'static str)> {
    let number = json!({"type": "integer", "minimum": 1});
    let related = json!({
        "type": "array",
        "items": {
            "type": "object",
            "required": ["entry", "file", "line", "message"],
            "properties": {"entry": number, "file": {"type": "string"}, "line": number, "message": {"type": "string"}},
        },
    });
    vec![
        ("entry", number, "With `--order`: the number of the call's entry."),
        ("rule", json!({"type": ["string", "null"]}), "With `--order`: the path of the rule in the configuration."),
        ("undecidable", json!({"type": "boolean"}), "With `--order`: whether the log contains too little to decide."),
        ("related", related, "With `--order`: the earlier entries that the finding is about."),
    ]
}

/// Counts in the totals, in order, each with its description.
const COUNTS: &[(&str, &str)] = &[
    ("files", "Logs that were read."),
    ("bytes", "Bytes that were read."),
    ("packets", "Lines that are not blank."),
    ("accepted", "Packets without an error."),
    ("rejected", "Packets with an error."),
    ("episodes", "The number of correlation ids among the packets that match their schema."),
    ("errors", "Findings that are errors."),
    ("warnings", "Findings that are warnings."),
    ("consequences", "Findings that follow from a packet that was rejected earlier."),
];

/// Counts that are present only with `--order`, or if findings may be omitted.
const LEFT_OUT: &[(&str, &str)] = &[
    ("calls", "Calls in audit logs, with `--order`; the other counts call them packets."),
    ("baseline", "Findings that `--baseline` omitted; the other counts do not include them."),
    ("ignored", "Findings that `[[ignore]]` in omen.toml omitted; the other counts do not include them."),
];
