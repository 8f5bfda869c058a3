//! State of child processes in the kernel.
#![cfg(target_os = "linux")]

use std::path::Path;

use omen_gate::Fault;
use omen_gate::mcp::StdioServer;
use serde_json::json;

use super::hostile::hostile;
use super::{call, start, until};

pub(super) async fn pid(server: &StdioServer, tool: &str) -> u64 {
    call(server, tool, json!({})).await.unwrap().structured_content.unwrap()["pid"].as_u64().unwrap()
}

/// Whether a process exists. A zombie counts if it is ours to reap.
fn exists(pid: u64) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

/// Whether a process runs.
pub(super) fn runs(pid: u64) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with(['Z', 'X']))
}

/// Session of a process.
pub(super) fn session(pid: u64) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit(") ").next()?.split(' ').nth(3)?.parse().ok()
}

#[tokio::test]
async fn a_server_that_is_dropped_leaves_nothing_behind() {
    let server = start(hostile("stubborn")).await;
    let (parent, child) = (pid(&server, "pid").await, pid(&server, "breed").await);
    let fled = pid(&server, "flee").await;
    until("it has a session of its own", || session(fled) == Some(fled)).await;
    assert!(runs(parent) && runs(child) && runs(fled));
    drop(server);
    until("the process is reaped", || !exists(parent)).await;
    until("what it started is killed", || !runs(child) && !runs(fled)).await;
}

#[test]
fn a_server_does_not_outlive_its_runtime() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (server, pids) = runtime.block_on(async {
        let server = start(hostile("stubborn")).await;
        let pids = [pid(&server, "pid").await, pid(&server, "breed").await];
        (server, pids)
    });
    drop(runtime);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(until("all are killed", || !pids.iter().any(|pid| runs(*pid))));
    let after = runtime.block_on(call(&server, "echo", json!({}))).unwrap_err();
    assert!(matches!(after, Fault::Unreachable { .. }), "{after:?}");
}
