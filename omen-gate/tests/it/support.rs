//! Helpers shared by tests.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use omen_gate::audit::store::Memory;
use omen_gate::catalog::pin;
use omen_gate::{
    Blocked, Call, Decision, Demand, Grant, ManualClock, Permission, Permissions, Ruling, Source, ToolId, TurnId,
};
use serde_json::{Map, Value, json};

/// 2026-01-01T00:00:00Z.
pub(crate) fn start() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_225_600)
}

pub(crate) fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::new(start()))
}

pub(crate) fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Servers, tools and grants of a configuration with `store/get` and `store/set`, each with more keys for its tool.
pub(crate) async fn store_policy(get: &str, set: &str) -> String {
    let tools = crate::gates::tools().await;
    let entry = |name: &str, keys: &str| {
        let pin = pin(tools.iter().find(|tool| tool.name.as_str() == name).unwrap()).unwrap();
        format!(
            "[[allow]]\nserver = 'store'\ntool = '{name}'\npermissions = ['READ']\npin = '{pin}'\n{keys}\n\
             [[grants]]\nserver = 'store'\ntool = '{name}'\npermissions = ['READ']\n"
        )
    };
    format!("[servers.store]\n{}{}", entry("get", get), entry("set", set))
}

/// Parses a tool as in `files/write`.
pub(crate) fn tool(text: &str) -> ToolId {
    let (server, tool) = text.split_once('/').unwrap();
    ToolId { server: server.parse().unwrap(), tool: tool.parse().unwrap() }
}

pub(crate) fn turn(text: &str) -> TurnId {
    text.parse().unwrap()
}

pub(crate) fn args(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

pub(crate) fn demand(name: &str, permissions: &[Permission]) -> Demand {
    let permissions = Permissions::new(permissions.iter().copied()).unwrap();
    Demand { tool: tool(name), permissions, always_confirm: false }
}

/// Call in turn `turn_1` with one argument.
pub(crate) fn call(name: &str, permissions: &[Permission]) -> Call {
    Call::new(turn("turn_1"), demand(name, permissions), args(json!({"path": "a.txt"}))).unwrap()
}

/// Grant without an expiry that needs confirmation.
pub(crate) fn grant(name: &str, permission: Permission) -> Grant {
    Grant { tool: tool(name), permission, source: Source::User, expires: None, uses: None, pre_granted: false }
}

/// Outcome with the decision that was logged.
pub(crate) fn logged<T>(ruling: Ruling<T>) -> (Decision, Result<T, Blocked>) {
    let mut log = None;
    let outcome = ruling.recorded(|decision| {
        log = Some(decision.clone());
        Ok::<_, Blocked>(())
    });
    (log.unwrap(), outcome)
}

/// Outcome, with a log that accepts everything.
pub(crate) fn outcome<T>(ruling: Ruling<T>) -> Result<T, Blocked> {
    logged(ruling).1
}

/// Call that bypasses the gate, for tests of servers alone.
pub(crate) fn unguarded(tool: &str, args: serde_json::Value) -> omen_gate::server::Dispatch {
    let tool = self::tool(&format!("any/{tool}"));
    omen_gate::server::Dispatch::unguarded(TurnId::new("test").unwrap(), tool, serde_json::from_value(args).unwrap())
}

/// Entries of an audit log.
pub(crate) fn all_logged(memory: &Memory) -> Vec<Value> {
    let text = String::from_utf8(memory.bytes()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Entries without those of the start of log and gate.
pub(crate) fn logged_of_turns(memory: &Memory) -> Vec<Value> {
    let of_a_turn = |entry: &Value| entry["turn"].as_str().is_some_and(|turn| turn != omen_gate::START);
    all_logged(memory).into_iter().filter(of_a_turn).collect()
}

/// Kinds of entries, with the codes of refusals.
pub(crate) fn kinds(entries: &[Value]) -> Vec<String> {
    let kind_of = |entry: &Value| match (entry["kind"].as_str().unwrap(), entry["data"]["code"].as_str()) {
        (kind, Some(code)) => format!("{kind} {code}"),
        (kind, None) => kind.to_owned(),
    };
    entries.iter().map(kind_of).collect()
}
