//! Handshake with all servers, and its replacement since 2026-07-28.

use std::sync::Arc;

use omen_gate::bounded;
use omen_gate::mcp::{fault_of, result_of};
use serde_json::{Map, Value, json};
use tracing::warn;

use super::broadcast::ask_all;
use super::member::NoAnswer;
use super::run_server::start;
use super::server_descriptions::{ServerDescription, capabilities, instructions, server_info};
use super::shared::Hub;
use crate::client::names;
use crate::messages::refusal::{self, INTERNAL_ERROR, METHOD_NOT_FOUND};
use omen_mcp::edit::{edited, member};
use omen_mcp::frame::{Frame, Kind};

/// Makes the handshake with each server, in one protocol version that all of them speak. A server that does not answer or does
/// not speak that version is left out.
pub(super) async fn initialize(hub: Arc<Hub>, frame: Frame) -> Vec<u8> {
    let mut agreed = Vec::new();
    for (server, answer) in ask_all(&hub, hub.live(), &frame).await {
        match handshake_of(&answer) {
            Ok(result) if !version(&result).is_empty() => agreed.push((server, result)),
            Ok(_) => leave_out(&hub, server, "missing `protocolVersion` in its answer to `initialize`"),
            // A lost server is logged where it ends.
            Err(_) if is_gone(&answer) => {}
            Err(why) => leave_out(&hub, server, &why),
        }
    }
    // Versions are dates: the oldest is the one that the other servers may speak too.
    let Some(oldest) = agreed.iter().map(|(_, result)| version(result).to_owned()).min() else {
        hub.session.answered(false);
        let why = "no server has completed the handshake; check that each server starts on its own";
        return refusal::error(frame.raw_id(), INTERNAL_ERROR, why);
    };
    let newer: Vec<_> =
        agreed.iter().filter(|(_, result)| version(result) != oldest).map(|(server, _)| *server).collect();
    agreed.retain(|(server, _)| !newer.contains(server));
    if !newer.is_empty() {
        agreed.extend(again(&hub, newer, &frame, &oldest).await);
        agreed.sort_by_key(|(server, _)| *server);
    }
    let about = said(&hub, &agreed);
    hub.session.answered(true);
    let result = json!({
        "protocolVersion": oldest, "capabilities": capabilities(&about), "serverInfo": server_info(),
        "instructions": instructions(&about),
    });
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{result}}}", frame.raw_id()).into_bytes()
}

/// Repeats the handshake in new sessions, for servers that agreed to a version that others lack: a session has only one.
async fn again(hub: &Arc<Hub>, servers: Vec<usize>, frame: &Frame, oldest: &str) -> Vec<(usize, Map<String, Value>)> {
    let Some(span) = member(frame, "protocolVersion") else { return Vec::new() };
    let asked = edited(frame.text(), vec![(span, Value::from(oldest).to_string())]);
    let Ok(asked) = Frame::read(asked.into_bytes()) else { return Vec::new() };
    let mut begun = Vec::new();
    for server in servers {
        let Some(own) = hub.members.get(server) else { continue };
        let started = match own.source.connect() {
            Ok(connection) => start(hub, server, connection).await.map_err(|why| why.to_string()),
            Err(fault) => Err(fault.to_string()),
        };
        match started {
            Ok(()) => begun.push(server),
            Err(why) => leave_out(hub, server, &format!("it cannot be started again: {why}")),
        }
    }
    let mut agreed = Vec::new();
    for (server, answer) in ask_all(hub, begun, &asked).await {
        match handshake_of(&answer) {
            Ok(result) if version(&result) == oldest => agreed.push((server, result)),
            Ok(result) => {
                let other = bounded(version(&result));
                leave_out(
                    hub,
                    server,
                    &format!("it speaks version `{other}` of the protocol, and another server only `{oldest}`"),
                );
            }
            Err(_) if is_gone(&answer) => {}
            Err(why) => leave_out(hub, server, &why),
        }
    }
    agreed
}

/// Merges the servers' descriptions of themselves, in the era without a handshake. A client that gets an error makes a handshake.
pub(super) async fn discover(hub: Arc<Hub>, frame: Frame) -> Vec<u8> {
    let (mut found, mut others) = (Vec::new(), Vec::new());
    for (server, answer) in ask_all(&hub, hub.live(), &frame).await {
        match handshake_of(&answer) {
            Ok(result) => found.push((server, result)),
            Err(why) => {
                warn!("{}: no answer to `server/discover`: {why}", name(&hub, server));
                others.push(server);
            }
        }
    }
    if found.is_empty() || !others.is_empty() {
        let others = names::shown(others.iter().filter_map(|server| Some(&hub.members.get(*server)?.name)));
        let why = format!("not all servers can be used without a handshake: {others}; send `initialize`");
        return refusal::error(frame.raw_id(), METHOD_NOT_FOUND, &why);
    }
    let versions = |result: &Map<String, Value>| -> Vec<String> {
        let all = result.get("supportedVersions").and_then(Value::as_array);
        all.into_iter().flatten().filter_map(|version| version.as_str().map(str::to_owned)).collect()
    };
    let mut common = found.first().map(|(_, result)| versions(result)).unwrap_or_default();
    common.retain(|version| found.iter().all(|(_, result)| versions(result).contains(version)));
    if common.is_empty() {
        let why = "the servers speak no common version of the protocol without a handshake; send `initialize`";
        return refusal::error(frame.raw_id(), METHOD_NOT_FOUND, why);
    }
    let ttl = found.iter().map(|(_, result)| result.get("ttlMs").and_then(Value::as_u64).unwrap_or(0)).min();
    let is_public = found.iter().all(|(_, result)| result.get("cacheScope").is_some_and(|scope| scope == "public"));
    let about = said(&hub, &found);
    let result = json!({
        "resultType": "complete", "supportedVersions": common, "capabilities": capabilities(&about),
        "instructions": instructions(&about), "ttlMs": ttl.unwrap_or(0),
        "cacheScope": if is_public { "public" } else { "private" },
        "_meta": { "io.modelcontextprotocol/serverInfo": server_info() },
    });
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{result}}}", frame.raw_id()).into_bytes()
}

fn handshake_of(answer: &Result<Frame, NoAnswer>) -> Result<Map<String, Value>, String> {
    match answer {
        Ok(frame) if frame.kind == Kind::Result => result_of(frame).map_err(|fault| fault.to_string()),
        Ok(frame) => Err(fault_of(frame).to_string()),
        Err(why) => Err(why.to_string()),
    }
}

fn is_gone(answer: &Result<Frame, NoAnswer>) -> bool {
    matches!(answer, Err(NoAnswer::Gone(..)))
}

fn version(result: &Map<String, Value>) -> &str {
    result.get("protocolVersion").and_then(Value::as_str).unwrap_or_default()
}

fn said(hub: &Hub, answers: &[(usize, Map<String, Value>)]) -> Vec<ServerDescription> {
    let about = answers.iter().filter_map(|(server, result)| {
        let member = hub.members.get(*server)?;
        let about = ServerDescription::new(&member.name, result);
        member.can(about.capabilities.clone());
        Some(about)
    });
    about.collect()
}

/// Leaves out a server that has not made the handshake.
fn leave_out(hub: &Hub, server: usize, why: &str) {
    if let Some(member) = hub.members.get(server) {
        member.leave(why);
        warn!("omitted the server `{}`: {why}", member.name);
    }
}

fn name(hub: &Hub, server: usize) -> String {
    hub.members.get(server).map(|member| member.name.to_string()).unwrap_or_default()
}
