//! Valid logs with one mistake.

use super::*;

/// Returns the packets of a log as values.
fn packets(path: &str) -> Vec<Value> {
    log(path).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns every kind of mistake in every suitable log: its name, and the log.
pub(crate) fn all() -> Vec<(&'static str, String)> {
    let logs =
        ["read-only", "verify-then-write", "escalate-then-act", "safe-mode-and-clear", "cancel", "verify-then-defer"];
    let mut all = Vec::new();
    for (kind, make) in KINDS {
        for name in logs {
            let packets = packets(&format!("valid/{name}.jsonl"));
            if let Some(lines) = make(packets) {
                all.push((*kind, lines.join("\n")));
            }
        }
    }
    all
}

type Make = fn(Vec<Value>) -> Option<Vec<String>>;

const KINDS: &[(&str, Make)] = &[
    ("a misspelt packet type", |all| {
        change(all, 2, "/header/packet_type", |old| format!("{}s", old.as_str().unwrap()).into())
    }),
    ("a packet left out", |all| without(all, 1)),
    ("a decision left out", |all| without_type(all, "DecisionPacket")),
    ("a result left out", |all| without_type(all, "TaskResultPacket")),
    ("a directive left out", |all| without_type(all, "TaskDirectivePacket")),
    ("a token left out", |all| without_type(all, "ToolAuthorizationToken")),
    ("a plan left out", |all| without_type(all, "VerificationPlanPacket")),
    ("a packet sent twice", |all| twice(all, 2)),
    ("two packets swapped", |mut all| {
        all.swap(1, 2);
        Some(lines(&all))
    }),
    ("the end cut off", |mut all| {
        all.truncate(all.len() - 2);
        Some(lines(&all))
    }),
    ("a misspelt value", |all| change(all, 2, "/mcp/routing/tools_state", |_| "tools-ok".into())),
    ("an unknown value", |all| change(all, 2, "/mcp/routing/task_class", |_| "PONDER".into())),
    ("a number in quotes", |all| change(all, 1, "/header/layer_source", |old| old.to_string().into())),
    ("a number out of bounds", |all| change(all, 1, "/mcp/epistemics/confidence", |_| 90.into())),
    ("null for a required field", |all| change(all, 1, "/mcp/budgets/token_budget", |_| Value::Null)),
    ("a required field left out", |all| remove(all, 2, "/mcp/quality/definition_of_done")),
    ("a required object left out", |all| remove(all, 2, "/mcp/budgets")),
    ("an unknown field", |all| change(all, 1, "/mcp/intent", |old| with(old, "sumary"))),
    ("a field in the wrong object", |all| change(all, 1, "/payload", |old| with(old, "tools_state"))),
    ("an identifier without its prefix", |all| change(all, 1, "/header/packet_id", |_| "belief 7".into())),
    ("a time without an offset", |all| {
        change(all, 1, "/header/created_at", |old| old.as_str().unwrap().trim_end_matches('Z').into())
    }),
    ("an object for a list", |all| change(all, 1, "/mcp/evidence/evidence_refs", |_| serde_json::json!({}))),
    ("an empty text", |all| change(all, 1, "/mcp/intent/summary", |_| "".into())),
    ("an empty list", |all| change(all, 1, "/mcp/quality/definition_of_done/checks", |_| serde_json::json!([]))),
    ("another task's result", |all| change_type(all, "TaskResultPacket", "/payload/task_id", "task_of_another")),
    ("another directive's result", |all| {
        change_type(all, "TaskResultPacket", "/payload/directive_packet_id", "pkt_of_another")
    }),
    ("another token", |all| {
        change_type(all, "TaskDirectivePacket", "/payload/authorization_token_id", "token_of_another")
    }),
    ("an ACT at SUBPAR", |all| change_type(all, "DecisionPacket", "/mcp/quality/quality_tier", "SUBPAR")),
];

fn lines(packets: &[Value]) -> Vec<String> {
    packets.iter().map(ToString::to_string).collect()
}

fn change(mut all: Vec<Value>, at: usize, pointer: &str, new: impl Fn(&Value) -> Value) -> Option<Vec<String>> {
    let place = all.get_mut(at)?.pointer_mut(pointer)?;
    *place = new(place);
    Some(lines(&all))
}

fn change_type(all: Vec<Value>, packet_type: &str, pointer: &str, value: &str) -> Option<Vec<String>> {
    let at = all.iter().position(|packet| packet["header"]["packet_type"] == packet_type)?;
    change(all, at, pointer, |_| value.into())
}

fn with(old: &Value, key: &str) -> Value {
    let mut new = old.clone();
    new[key] = "tools_ok".into();
    new
}

fn remove(mut all: Vec<Value>, at: usize, pointer: &str) -> Option<Vec<String>> {
    let (parent, key) = pointer.rsplit_once('/')?;
    all.get_mut(at)?.pointer_mut(parent)?.as_object_mut()?.remove(key)?;
    Some(lines(&all))
}

fn without(mut all: Vec<Value>, at: usize) -> Option<Vec<String>> {
    all.remove(at);
    Some(lines(&all))
}

fn without_type(all: Vec<Value>, packet_type: &str) -> Option<Vec<String>> {
    let at = all.iter().position(|packet| packet["header"]["packet_type"] == packet_type)?;
    without(all, at)
}

fn twice(mut all: Vec<Value>, at: usize) -> Option<Vec<String>> {
    let packet = all.get(at)?.clone();
    all.insert(at, packet);
    Some(lines(&all))
}
