//! Restart of a server that has died, by the next list and so by the next request of a gate.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use async_trait::async_trait;
use omen_gate::audit::store::Memory;
use omen_gate::audit::{Audit, Key, Options};
use omen_gate::catalog::pin;
use omen_gate::mcp::StdioServer;
use omen_gate::server::{Dispatch, ToolServer};
use omen_gate::tool::{Answer, Tool};
use omen_gate::{Config, Fault, Gate, GateCode, ServerName, Stopped};
use serde_json::json;
use tempfile::TempDir;

use super::hostile::hostile;
use super::{call, start, until, within};
use crate::support::{clock, turn};

/// Server that counts its starts in a file.
struct Counted {
    server: StdioServer,
    note: PathBuf,
    _folder: TempDir,
}

impl Counted {
    async fn start(role: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let note = folder.path().join("starts");
        let server = start(hostile(&format!("{role}:{}", note.display()))).await;
        Self { server, note, _folder: folder }
    }

    fn starts(&self) -> u64 {
        starts(&self.note)
    }
}

fn starts(note: &Path) -> u64 {
    note.metadata().unwrap().len()
}

async fn pid(server: &StdioServer) -> String {
    let answer = call(server, "pid", json!({})).await.unwrap();
    answer.structured_content.unwrap()["pid"].to_string()
}

fn kill(pid: &str) {
    assert!(Command::new("kill").args(["-9", pid]).status().unwrap().success());
}

#[tokio::test]
async fn a_list_starts_a_server_that_has_died_and_a_call_does_not() {
    let counted = Counted::start("good").await;
    let server = &counted.server;
    call(server, "die", json!({})).await.unwrap_err();
    let dead = call(server, "echo", json!({})).await.unwrap_err();
    assert!(matches!(dead, Fault::Unreachable { .. }), "{dead:?}");
    assert_eq!(counted.starts(), 1);

    let before = server.revision();
    assert_eq!(within(server.list()).await.unwrap().len(), 1);
    assert!(server.revision() > before, "a client with an older list asks again");
    call(server, "echo", json!({})).await.unwrap();
    assert_eq!(counted.starts(), 2);
}

#[tokio::test]
async fn a_server_that_broke_the_protocol_is_started_anew_by_the_next_list() {
    let counted = Counted::start("good").await;
    call(&counted.server, "garbage", json!({})).await.unwrap_err();
    assert_eq!(within(counted.server.list()).await.unwrap().len(), 1);
    assert_eq!(counted.starts(), 2);
}

#[tokio::test]
async fn a_server_that_is_killed_unseen_is_started_anew_by_the_list_that_sees_it() {
    let counted = Counted::start("good").await;
    for round in 1..=5 {
        // The list is answered whether it is requested before or after the end is noticed.
        kill(&pid(&counted.server).await);
        assert_eq!(within(counted.server.list()).await.unwrap().len(), 1);
        assert_eq!(counted.starts(), 1 + round);
    }
}

#[tokio::test]
async fn a_server_that_dies_each_time_is_started_once_a_list() {
    let counted = Counted::start("mortal").await;
    for lists in 1..=4 {
        let fault = within(counted.server.list()).await.unwrap_err();
        assert!(matches!(fault, Fault::Died { .. }), "{fault:?}");
        assert_eq!(counted.starts(), 1 + lists);
    }
}

#[tokio::test]
async fn many_lists_at_once_start_it_once() {
    let counted = Counted::start("good").await;
    call(&counted.server, "die", json!({})).await.unwrap_err();
    let list = || within(counted.server.list());
    let (a, b, c, d) = tokio::join!(list(), list(), list(), list());
    assert!([a, b, c, d].iter().all(Result::is_ok));
    assert_eq!(counted.starts(), 2);
}

#[tokio::test]
async fn a_server_that_was_stopped_is_not_started_by_a_list() {
    let counted = Counted::start("good").await;
    // An earlier death does not matter.
    call(&counted.server, "die", json!({})).await.unwrap_err();
    within(counted.server.stop()).await;
    let stopped = within(counted.server.list()).await.unwrap_err();
    assert_eq!(stopped, Fault::Unreachable { why: "it was stopped".to_owned() });
    assert_eq!(counted.starts(), 1);
    within(counted.server.restart()).await.unwrap();
    assert_eq!(within(counted.server.list()).await.unwrap().len(), 1);
}

/// Server that the test can access while a gate owns it.
#[derive(Clone, Debug)]
struct Shared(Arc<StdioServer>);

#[async_trait]
impl ToolServer for Shared {
    async fn list(&self) -> Result<Vec<Tool>, Fault> {
        self.0.list().await
    }

    async fn call(&self, dispatch: Dispatch) -> Result<Answer, Fault> {
        self.0.call(dispatch).await
    }

    fn revision(&self) -> u64 {
        self.0.revision()
    }
}

/// Gate that allows `echo` in the form that the server lists now.
async fn gate(server: impl ToolServer, pin: &str) -> Gate {
    let text = format!(
        r#"
        [servers.hostile]

        [[allow]]
        server = "hostile"
        tool = "echo"
        permissions = ["READ"]
        pin = "{pin}"

        [[grants]]
        server = "hostile"
        tool = "echo"
        permissions = ["READ"]
        "#
    );
    let clock = clock();
    let key = Key::from_bytes(&std::array::from_fn::<u8, 32, _>(|i| i as u8)).unwrap();
    let audit = Audit::over(Memory::default(), key, clock.clone(), Options::default()).unwrap();
    let builder = Gate::builder(Config::parse(&text).unwrap()).audit(audit).clock(clock);
    builder.server(ServerName::new("hostile").unwrap(), server).build().unwrap()
}

const ECHO: &str = r#"{"type": "call_tool", "server": "hostile", "tool": "echo", "args": {}}"#;

async fn echo(gate: &Gate, turn_id: &str) -> Result<(), Stopped> {
    let request = gate.request(turn(turn_id), "echo").screen().await?.plan(ECHO).await?;
    let request = request.call().unwrap().conform().await?.authorize().await?;
    request.dispatch().await.map(drop)
}

#[tokio::test]
async fn a_server_that_is_killed_between_two_turns_is_there_in_the_next() {
    let Counted { server, note, _folder } = Counted::start("good").await;
    let pinned = pin(&within(server.list()).await.unwrap()[0]).unwrap().to_string();
    let pid = pid(&server).await;
    let gate = gate(server, &pinned).await;
    within(echo(&gate, "turn_1")).await.unwrap();
    kill(&pid);
    within(echo(&gate, "turn_2")).await.unwrap();
    assert_eq!(starts(&note), 2);
}

#[tokio::test]
async fn a_server_that_dies_between_plan_and_call_is_there_for_the_call() {
    let Counted { server, note, _folder } = Counted::start("good").await;
    let pinned = pin(&within(server.list()).await.unwrap()[0]).unwrap().to_string();
    let pid = pid(&server).await;
    let server = Shared(Arc::new(server));
    let gate = gate(server.clone(), &pinned).await;
    let plan = gate.request(turn("turn_1"), "echo").screen().await.unwrap().plan(ECHO).await.unwrap();
    let request = plan.call().unwrap().conform().await.unwrap().authorize().await.unwrap();
    let before = server.revision();
    kill(&pid);
    until("the end is seen", || server.revision() > before).await;
    drop(within(request.dispatch()).await.unwrap());
    assert_eq!(starts(&note), 2);
}

#[tokio::test]
async fn a_server_that_comes_back_with_another_tool_has_to_be_approved_again() {
    let Counted { server, note, _folder } = Counted::start("fickle").await;
    let pinned = pin(&within(server.list()).await.unwrap()[0]).unwrap().to_string();
    let pid = pid(&server).await;
    let gate = gate(server, &pinned).await;
    within(echo(&gate, "turn_1")).await.unwrap();
    kill(&pid);
    let stopped = within(echo(&gate, "turn_2")).await.unwrap_err();
    assert_eq!(stopped.code(), GateCode::Pg3, "{stopped}");
    assert_eq!(starts(&note), 2);
}

#[tokio::test]
async fn a_request_to_a_server_that_dies_each_time_is_refused_and_starts_it_once() {
    let good = Counted::start("good").await;
    let pinned = pin(&within(good.server.list()).await.unwrap()[0]).unwrap().to_string();
    let Counted { server, note, _folder } = Counted::start("mortal").await;
    let gate = gate(server, &pinned).await;
    for requests in 1..=7 {
        let stopped = within(echo(&gate, "turn_1")).await.unwrap_err();
        assert_eq!(stopped.code(), GateCode::R3, "{stopped}");
        assert_eq!(starts(&note), 1 + requests);
    }
    // No tool was called, so no breaker counts it.
    assert!(gate.health().breakers.is_empty());
}
