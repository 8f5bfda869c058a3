//! A child process from its start to its end.

use std::path::Path;

use omen_gate::Fault;
use omen_gate::mcp::StdioServer;
use omen_gate::server::ToolServer as _;
use serde_json::json;

use super::hostile::hostile;
use super::{call, start, until, within};

async fn pid(server: &StdioServer, tool: &str) -> u64 {
    call(server, tool, json!({})).await.unwrap().structured_content.unwrap()["pid"].as_u64().unwrap()
}

/// Whether there is such a process. One that is dead and was not buried counts if it is ours to bury.
fn exists(pid: u64) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

/// Whether such a process runs.
fn runs(pid: u64) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with(['Z', 'X']))
}

#[tokio::test]
async fn a_server_that_is_stopped_ends_by_itself() {
    let server = start(hostile("good")).await;
    within(server.stop()).await;
    assert_eq!(server.exit().unwrap(), "exit status: 0");
    let after = call(&server, "echo", json!({})).await.unwrap_err();
    assert_eq!(after, Fault::Unreachable { why: "it was stopped".to_owned() });
}

#[tokio::test]
async fn an_open_call_ends_when_the_server_is_stopped() {
    let server = start(hostile("good")).await;
    let (call, ()) = tokio::join!(call(&server, "hang", json!({})), async {
        tokio::task::yield_now().await;
        within(server.stop()).await;
    });
    assert_eq!(call.unwrap_err(), Fault::Died { why: "it was stopped".to_owned() });
}

#[tokio::test]
async fn a_server_that_does_not_end_is_killed() {
    for role in ["stubborn", "deaf"] {
        let server = start(hostile(role)).await;
        within(server.stop()).await;
        assert_eq!(server.exit().unwrap(), "signal: 9 (SIGKILL)", "{role}");
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_server_that_is_dropped_leaves_nothing_behind() {
    let server = start(hostile("stubborn")).await;
    let (parent, child) = (pid(&server, "pid").await, pid(&server, "breed").await);
    assert!(runs(parent) && runs(child));
    drop(server);
    until("the process is buried", || !exists(parent)).await;
    until("what it started is killed", || !runs(child)).await;
}

#[cfg(target_os = "linux")]
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

#[tokio::test]
async fn a_server_that_died_is_back_after_a_restart() {
    let server = start(hostile("good")).await;
    let before = server.revision();
    call(&server, "die", json!({})).await.unwrap_err();
    let dead = server.revision();
    assert!(dead > before, "a dead server has no tools: the list is stale");
    within(server.restart()).await.unwrap();
    assert!(server.revision() > dead);
    call(&server, "echo", json!({})).await.unwrap();
}

#[tokio::test]
async fn chatter_does_not_hold_a_server_up_and_its_end_is_kept() {
    let server = start(hostile("good")).await;
    call(&server, "stderr", json!({})).await.unwrap();
    until("the end is kept", || server.stderr().trim_end().ends_with("the end of the noise")).await;
    assert!(server.stderr().len() <= 4_096);
}

#[tokio::test]
async fn a_server_sees_no_environment_but_what_it_is_given() {
    // Cargo sets it for tests: it stands for a secret of ours.
    let ours = "CARGO_MANIFEST_DIR";
    let names = async |launch| {
        let server = start(launch).await;
        let names = call(&server, "env", json!({})).await.unwrap().structured_content.unwrap();
        serde_json::from_value::<Vec<String>>(names["names"].clone()).unwrap()
    };
    let mut seen = names(hostile("good")).await;
    // The shell that starts the binary adds some of its own.
    seen.retain(|name| !["PWD", "OLDPWD", "SHLVL", "_"].contains(&name.as_str()));
    seen.sort();
    assert_eq!(seen, ["OMEN_TEST_ROLE", "PATH"]);
    assert!(names(hostile("good").pass(ours)).await.contains(&ours.to_owned()));
}
