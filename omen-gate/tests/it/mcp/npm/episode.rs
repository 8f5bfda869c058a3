//! Episode that writes a file with the official file server, under a token, a grant and a confirmation, and without
//! each of the three.

use std::path::{Path, PathBuf};

use omen_fsm::episode::{
    Act, Arbitration, Belief, Claims, Decide, Directive, Episode, Execute, Json, Observation, Open, Pending, Setup,
    TokenSpec, Tradeoff,
};
use omen_fsm::fields;
use omen_gate::confirm::Reply;
use omen_gate::{Builder, GateClock as _, Permission};
use omen_invariants::facts::{
    Budgets, Envelope, Epistemics, Evidence, Intent, LowStakes, Observed, OpenEnvelope, Operational, Par, Quality,
    Risk, Routing, Stakes, ToolsOk, adversariality, impact, irreversibility, op, uncertainty,
};
use omen_invariants::{scope, text, tool as typed_tool, unit};
use omen_types::{Instant, Packet, ResultStatus, TaskClass, TaskResultPayload};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::gate::{Content, allowing};
use crate::gates::Person;
use crate::mcp::gated::World;
use crate::mcp::within;
use crate::support::{tool, turn};

typed_tool!(WriteFile = "mcp/write_file", Write);
// Agent that claims that a tool only reads.
typed_tool!(Harmless = "mcp/write_file", Read);
scope!(Notes: tools [WriteFile], operations [Write]);

/// Writable and other folder of the server, and a gate that allows files to be written.
struct Files {
    world: World,
    inside: PathBuf,
    outside: PathBuf,
    _folders: [TempDir; 2],
}

impl Files {
    async fn new(build: impl FnOnce(Builder) -> Builder) -> Option<Self> {
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let [inside, outside] = folders.each_ref().map(|folder| folder.path().canonicalize().unwrap());
        let build = |builder: Builder| build(builder.output::<Content>(tool("mcp/write_file")));
        let allowed = [("write_file", "WRITE")];
        let world = allowing("server-filesystem", &[&inside], &allowed, build).await?;
        Some(Self { world, inside: inside.join("note.txt"), outside: outside.join("note.txt"), _folders: folders })
    }

    fn deciding(&self) -> Episode<Decide<Act>> {
        let clock = self.world.clock.clone();
        let now = move || {
            let since = clock.wall().duration_since(std::time::SystemTime::UNIX_EPOCH).unwrap();
            Instant::default().plus_seconds(since.as_secs())
        };
        let left = Arbitration::of(["write"]).veto(|_| true).unwrap().feasible(|_| true).unwrap();
        let ruling = left.tradeoff(Tradeoff::SafetyFirst, &text!("it is safe"));
        let envelope = envelope();
        let episode = Setup::new("corr_note".parse().unwrap(), &envelope, now).claims(&Claims::new()).start().unwrap();
        let episode = episode.observe(Observation::user_input(Observed, fields!({ "ask": "write a note" })));
        episode.believe(Belief::new("notes", "written", false)).act(ruling.to_act(), &envelope).unwrap()
    }

    /// Directive to write a file, under a token.
    fn writing(&self, path: &Path) -> (Episode<Open<Execute, 1>>, Pending) {
        let spec = TokenSpec::new(60, text!("ticket OPS-77"));
        let (episode, [permit]) = self.deciding().authorize::<Notes, 1>(spec).unwrap();
        let params = fields!({ "path": Json::of(path).unwrap(), "content": "hello" });
        let order = Directive::new(WriteFile, op::Write, params).timeout_seconds(60).with(permit);
        let (episode, [task]) = episode.execute([order]).unwrap();
        (episode, task)
    }

    /// Result as in the episode's log.
    async fn run(&self, (episode, task): (Episode<Open<Execute, 1>>, Pending)) -> TaskResultPayload {
        let settled = within(self.world.gate.run(task)).await;
        let episode = episode.settle([settled]).unwrap();
        let Packet::TaskResult(result) = episode.lines().last().unwrap().parse().unwrap() else { panic!("no result") };
        result.payload
    }

    /// Asserts that nothing was called or written.
    #[track_caller]
    fn assert_refused(&self, result: &TaskResultPayload, code: &str) {
        assert_failed(result, code, 0);
        assert!(!self.inside.exists(), "{result:?}");
        assert!(!self.world.kinds().contains(&"intent".to_owned()), "{:?}", self.world.kinds());
    }
}

fn envelope() -> Envelope<LowStakes, Par, ToolsOk> {
    OpenEnvelope {
        intent: Intent::new(text!("write a note"), text!("the folder of notes")),
        stakes: Stakes {
            impact: impact::Low,
            irreversibility: irreversibility::Reversible,
            uncertainty: uncertainty::Low,
            adversariality: adversariality::Benign,
        },
        quality: Quality::par(text!("the note is there"), ["note.exists"]),
        budgets: Budgets { tokens: 1_000, tool_calls: 5, seconds: 600, risk: Risk::new(text!("conservative"), 10) },
        epistemics: Epistemics::new(Observed, Operational, unit!(0.9), text!("the user has asked")),
        evidence: Evidence::user_observation(text!("ticket OPS-77"), "2025-12-31T23:59:00Z".parse().unwrap()),
        routing: Routing { task_class: TaskClass::Create, tools: ToolsOk },
    }
    .seal()
}

#[track_caller]
fn assert_failed(result: &TaskResultPayload, code: &str, calls: u64) {
    assert_eq!(result.result_status, ResultStatus::Failure, "{result:?}");
    assert_eq!(result.error_details.as_ref().unwrap().error_code.as_deref(), Some(code), "{result:?}");
    let used = result.execution_metadata.as_ref().and_then(|used| used.tool_calls_used.as_ref());
    assert_eq!(used.map(|calls| calls.get()), Some(calls), "{result:?}");
}

#[tokio::test]
async fn a_file_is_written_under_a_token_a_grant_and_a_confirmation() {
    let Some(files) = Files::new(|builder| builder).await else { return };
    let running = files.writing(&files.inside);
    let directive = running.1.directive().to_string();
    let result = files.run(running).await;
    assert_eq!(result.result_status, ResultStatus::Success, "{result:?}");
    assert_eq!(std::fs::read_to_string(&files.inside).unwrap(), "hello");
    let said = result.result_data.unwrap();
    assert!(said["content"].as_str().unwrap().starts_with("Successfully wrote"), "{said}");

    let asked = files.world.person.asked.lock().unwrap();
    let [question] = asked.as_slice() else { panic!("{asked:?}") };
    let args: Value = serde_json::from_str(&question.args).unwrap();
    assert_eq!(args, json!({ "path": files.inside, "content": "hello" }));
    assert_eq!(files.world.kinds(), ["decision", "confirmation", "intent", "outcome"]);
    for entry in files.world.entries() {
        let ids = (&entry["packet_id"], &entry["correlation_id"], &entry["turn"]);
        assert_eq!(ids, (&json!(directive), &json!("corr_note"), &json!("corr_note")));
    }
}

#[tokio::test]
async fn a_directive_without_a_token_writes_nothing() {
    let Some(files) = Files::new(|builder| builder).await else { return };
    let params = fields!({ "path": Json::of(&files.inside).unwrap(), "content": "hello" });
    let order = Directive::new(Harmless, op::Read, params).timeout_seconds(60).ready();
    let (episode, [task]) = files.deciding().execute([order]).unwrap();
    let result = files.run((episode, task)).await;
    files.assert_refused(&result, "G1");
}

#[tokio::test]
async fn a_grant_that_is_revoked_before_the_call_bites() {
    let Some(files) = Files::new(|builder| builder).await else { return };
    let running = files.writing(&files.inside);
    let write = tool("mcp/write_file");
    assert_eq!(files.world.gate.revoke(&turn("operator"), &write, Permission::Write).await.unwrap().len(), 1);
    let result = files.run(running).await;
    files.assert_refused(&result, "G2");
}

#[tokio::test]
async fn a_call_that_nobody_confirms_writes_nothing() {
    let no = Person::who_says(Reply::Denied { why: "not today".to_owned() });
    let Some(files) = Files::new(|builder| builder.confirmer(no)).await else { return };
    let result = files.run(files.writing(&files.inside)).await;
    files.assert_refused(&result, "G3");
}

#[tokio::test]
async fn a_token_that_has_expired_writes_nothing() {
    let Some(files) = Files::new(|builder| builder).await else { return };
    let running = files.writing(&files.inside);
    files.world.clock.advance(std::time::Duration::from_secs(60));
    let result = files.run(running).await;
    files.assert_refused(&result, "G2");
}

#[tokio::test]
async fn what_the_tool_refuses_is_a_failure_and_a_call() {
    let Some(files) = Files::new(|builder| builder).await else { return };
    let result = files.run(files.writing(&files.outside)).await;
    assert_failed(&result, "tool", 1);
    assert!(!files.outside.exists());
    // The gate let the call through, and the server itself refused it.
    assert_eq!(files.world.kinds(), ["decision", "confirmation", "intent", "outcome"]);
    assert_eq!(files.world.entries()[3]["data"]["class"], "tool");
}
