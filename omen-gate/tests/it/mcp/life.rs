//! Life cycle of a child process.

use std::time::Duration;

use omen_gate::Fault;
use omen_gate::mcp::{Launch, ServerLimits};
use omen_gate::server::ToolServer as _;
use serde_json::json;

use super::hostile::hostile;
use super::{call, limits, start, until, within};

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
    let (call, ()) = tokio::join!(call(&server, "hang", json!({})), within(server.stop()));
    assert_eq!(call.unwrap_err(), Fault::Died { why: "it was stopped".to_owned() });
}

#[tokio::test]
async fn a_server_that_does_not_end_is_killed() {
    for role in ["stubborn", "deaf"] {
        let server = start(hostile(role).limits(ServerLimits { stop: Duration::from_millis(50), ..limits() })).await;
        within(server.stop()).await;
        assert_eq!(server.exit().unwrap(), "signal: 9 (SIGKILL)", "{role}");
    }
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
async fn a_server_that_closes_its_input_is_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("closed");
    // It completes the handshake, and then neither reads nor ends.
    let welcome =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "sh", "version": "0"}});
    let script = format!(
        r#"read -r ask; printf '%s\n' '{}'; read -r ready; exec 0<&-; : > "$1"; exec sleep 180"#,
        json!({"jsonrpc": "2.0", "id": 0, "result": welcome}),
    );
    let server = start(Launch::new("/bin/sh").args(["-c", &script, "sh"]).arg(&note).limits(limits())).await;
    until("its input is closed", || note.exists()).await;
    let given_up = Fault::Unreachable { why: "it closed its input".to_owned() };
    assert_eq!(call(&server, "echo", json!({})).await.unwrap_err(), given_up);
    assert_eq!(call(&server, "echo", json!({})).await.unwrap_err(), given_up);
}

#[tokio::test]
async fn chatter_does_not_hold_a_server_up_and_its_end_is_kept() {
    let server = start(hostile("good")).await;
    call(&server, "stderr", json!({})).await.unwrap();
    until("the end is kept", || server.stderr().trim_end().ends_with("the end of the noise")).await;
    assert!(server.stderr().len() <= 4_096);
}

/// Variables of every server, and those added by the shell that starts the binary.
const GIVEN: &[&str] = &["PATH", "PWD", "OLDPWD", "SHLVL", "_"];

#[tokio::test]
async fn a_server_sees_no_environment_but_what_it_is_given() {
    // Any variable of this process: it stands for a secret.
    let (ours, _) = std::env::vars().find(|(name, _)| !GIVEN.contains(&name.as_str())).unwrap();
    let names = async |launch| {
        let server = start(launch).await;
        let names = call(&server, "env", json!({})).await.unwrap().structured_content.unwrap();
        serde_json::from_value::<Vec<String>>(names["names"].clone()).unwrap()
    };
    let mut seen = names(hostile("good")).await;
    seen.retain(|name| !GIVEN.contains(&name.as_str()));
    assert_eq!(seen, ["OMEN_TEST_ROLE"]);
    assert!(names(hostile("good").pass(&ours)).await.contains(&ours));
}
