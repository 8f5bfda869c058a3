//! `kill -9` of a gate at random points: what its successor decides is what the log implies.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use omen_gate::audit::{Audit, Key, Options};
use omen_gate::{Config, Gate, GateClock, GateCode, ServerName, SystemClock, TurnId};
use omen_testkit::child::TestChild;
use omen_testkit::proofs::Proofs;
use serde_json::{Value, json};

use super::text;
use crate::gates::local;

/// Variable with the log of a child process.
const LOG: &str = "OMEN_GATE_TEST_ORDER_LOG";
/// Variable with the seed of its calls.
const SEED: &str = "OMEN_GATE_TEST_ORDER_SEED";

const SESSIONS: u64 = 2;
const KEYS: u64 = 3;
/// Calls of `set` with one key that the policy allows.
const LIMIT: usize = 2;
/// Failed calls of `set` that the policy bears.
const FAILURES: usize = 1;
/// Kills on one log, after which the next one begins.
const KILLS_A_LOG: u64 = 10;

/// Writes need a reading of the same setting with no write since, and are limited over all sessions; who has failed too
/// often may not even read.
async fn rules() -> String {
    let get = format!("never_after = [{{ tool = 'set', was = 'failed', same = ['/key'], times = {FAILURES} }}]");
    let until = "until = [{ tool = 'set', same = ['/key'] }]";
    let set = format!(
        "after = [{{ tool = 'get', same = ['/key'], {until} }}]\n\
         max = {{ calls = {LIMIT}, same = ['/key'], within = '24h' }}"
    );
    let audit = "[audit]\nlog = 'l'\nkey_file = 'k'\narguments = 'full'\n";
    text(&get, &set, &format!("[order]\ngather = '0s'\nwait = '1s'\n{audit}")).await
}

async fn gate(log: &Path) -> Gate {
    let key = Key::from_bytes(&std::array::from_fn::<u8, 32, _>(|i| i as u8)).unwrap();
    let clock: Arc<dyn GateClock> = Arc::new(SystemClock::default());
    let audit = Audit::open(log, key, Arc::clone(&clock), Options { sync: false, ..Options::default() }).unwrap();
    let builder = Gate::builder(Config::parse(&rules().await).unwrap()).audit(audit).clock(clock);
    builder.server(ServerName::new("store").unwrap(), local()).build().unwrap()
}

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// Calls at random from several tasks, `count` times each.
async fn make_calls(log: &Path, seed: u64, count: u64) {
    let gate = gate(log).await;
    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..4 {
        let (gate, mut random) = (gate.clone(), Random(seed * 4 + task));
        tasks.spawn(async move {
            for number in 0..count {
                let (session, key) = (format!("s{}", random.below(SESSIONS)), format!("k{}", random.below(KEYS)));
                let value = i64::try_from(random.below(8)).unwrap() - 1;
                let (tool, args) = match random.below(2) {
                    0 => ("get", json!({ "key": key })),
                    _ => ("set", json!({ "key": key, "value": value })),
                };
                let turn = TurnId::new(format!("{seed}.{task}.{number}")).unwrap();
                let request = gate.request(turn.clone(), "q").of_session(TurnId::new(session).unwrap());
                let plan = json!({ "type": "call_tool", "server": "store", "tool": tool, "args": args }).to_string();
                let planned = request.screen().await.unwrap().plan(&plan).await.unwrap().call().unwrap();
                if let Ok(authorized) = planned.conform().await.unwrap().authorize().await {
                    let _ = authorized.dispatch().await;
                }
                gate.end_turn(&turn);
                std::io::stdout().lock().write_all(b"made\n").unwrap();
            }
        });
    }
    while tasks.join_next().await.is_some() {}
}

/// Role of the gate that is killed. Run as a test, it makes a few calls.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_gate() {
    if let Some(log) = std::env::var_os(LOG) {
        let seed = std::env::var(SEED).unwrap().parse().unwrap();
        make_calls(Path::new(&log), seed, u64::MAX).await;
    }
    let folder = tempfile::tempdir().unwrap();
    make_calls(&folder.path().join("audit.jsonl"), 1, 2).await;
}

/// Starts a gate, and kills it after some calls and a short delay.
fn run_until_killed(log: &Path, seed: u64, random: &mut Random) {
    let seed = seed.to_string();
    let mut child = TestChild::start("order::killed::the_gate", &[(LOG, log.as_ref()), (SEED, seed.as_ref())]);
    for _ in 0..random.below(6) {
        child.read_until("made");
    }
    std::thread::sleep(Duration::from_micros(random.below(6000)));
    let _ = child.kill();
}

/// Call as the log has it: its places are numbers of entries.
#[derive(Debug)]
struct Logged {
    session: String,
    tool: String,
    key: String,
    made: u64,
    /// Where it ended, and whether it succeeded. A call that was under way at a kill ended at the next start.
    ended: Option<(u64, bool)>,
}

/// Reads the calls of a log by their arguments, tools and outcomes alone.
fn calls(log: &Path) -> Vec<Logged> {
    let text = std::fs::read_to_string(log).unwrap();
    let mut calls: Vec<Logged> = Vec::new();
    let mut open: BTreeMap<String, usize> = BTreeMap::new();
    for entry in text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let (data, sequence) = (&entry["data"], entry["sequence"].as_u64().unwrap());
        let turn = entry["turn"].as_str().unwrap_or_default().to_owned();
        match entry["kind"].as_str().unwrap() {
            "opened" | "repaired" => {
                for index in std::mem::take(&mut open).into_values() {
                    calls[index].ended = Some((sequence, false));
                }
            }
            "intent" => {
                let session = data["order"]["session"].as_str().unwrap().to_owned();
                let text = |pointer: &str| data.pointer(pointer).and_then(Value::as_str).unwrap().to_owned();
                open.insert(turn, calls.len());
                let (tool, key) = (text("/tool/tool"), text("/args/key"));
                calls.push(Logged { session, tool, key, made: sequence, ended: None });
            }
            "outcome" => {
                if let Some(index) = open.remove(&turn) {
                    let is_ok = data["ran"] == "yes" && data["class"].is_null();
                    calls[index].ended = Some((sequence, is_ok));
                }
            }
            _ => {}
        }
    }
    calls
}

/// What a call of a session with a key must come to, by the words of the policy.
fn implied(calls: &[Logged], session: &str, tool: &str, key: &str) -> Option<GateCode> {
    let of = |tool: &'static str| calls.iter().filter(move |call| call.tool == tool && call.key == key);
    let own = |tool: &'static str| of(tool).filter(|call| call.session == session);
    if tool == "get" {
        let failed = own("set").filter(|call| call.ended.is_some_and(|(_, is_ok)| !is_ok)).count();
        return (failed >= FAILURES).then_some(GateCode::O2);
    }
    // A write that had not ended when the reading was made cancels it.
    let is_cancelled = |read: &Logged| own("set").any(|write| write.ended.is_none_or(|(end, _)| end > read.made));
    let has_read = own("get").any(|read| read.ended.is_some_and(|(_, is_ok)| is_ok) && !is_cancelled(read));
    match (has_read, of("set").count() >= LIMIT) {
        (false, _) => Some(GateCode::O1),
        (true, true) => Some(GateCode::O3),
        (true, false) => None,
    }
}

/// Verdict of a gate on a call that is not made.
async fn verdict(gate: &Gate, session: &str, tool: &str, key: &str) -> Option<GateCode> {
    let request = gate.request(TurnId::new("probe").unwrap(), "q").of_session(TurnId::new(session).unwrap());
    let args = if tool == "get" { json!({ "key": key }) } else { json!({ "key": key, "value": 1 }) };
    let plan = json!({ "type": "call_tool", "server": "store", "tool": tool, "args": args }).to_string();
    let planned = request.screen().await.unwrap().plan(&plan).await.unwrap().call().unwrap();
    planned.conform().await.unwrap().authorize().await.err().map(|refused| refused.code)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_kill_the_next_gate_decides_as_the_log_implies() {
    let kills = Proofs::wanted().choose(20, 200);
    let mut random = Random(7);
    let (mut seen, mut interrupted) = (BTreeMap::new(), 0);
    let least = kills / KILLS_A_LOG;
    for log in 0..10 * least {
        // Whether a limit is reached depends on how far the killed gates came, which depends on the machine.
        if log >= least && seen.len() == 4 && interrupted > 0 {
            break;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        for kill in 0..KILLS_A_LOG {
            run_until_killed(&path, log * KILLS_A_LOG + kill, &mut random);
            let next = gate(&path).await;
            let calls = calls(&path);
            interrupted += next.in_doubt().len();
            for (session, key) in (0..SESSIONS).flat_map(|session| (0..KEYS).map(move |key| (session, key))) {
                let (session, key) = (format!("s{session}"), format!("k{key}"));
                for tool in ["get", "set"] {
                    let wanted = implied(&calls, &session, tool, &key);
                    let found = verdict(&next, &session, tool, &key).await;
                    assert_eq!(found, wanted, "log {log}, kill {kill}: {tool} {key} of {session}: {calls:#?}");
                    *seen.entry(wanted.map(GateCode::as_str)).or_insert(0) += 1;
                }
            }
        }
    }
    // The test would prove nothing if one of the rules had not decided, or no kill had hit a call.
    assert!(seen.len() == 4 && interrupted > 0, "{seen:?}, {interrupted}");
}

#[tokio::test]
async fn the_state_is_read_back_from_all_files_of_a_rotated_log() {
    let (folder, clock) = (tempfile::tempdir().unwrap(), crate::support::clock());
    let log = folder.path().join("audit.jsonl");
    let rules = text("", super::READ_FIRST, "[order]\ngather = '0s'\n").await;
    let start = || {
        let key = Key::from_bytes(&std::array::from_fn::<u8, 32, _>(|i| i as u8)).unwrap();
        let options = Options { sync: false, rotate_bytes: std::num::NonZeroU64::new(2000), ..Options::default() };
        let shared: Arc<dyn GateClock> = clock.clone();
        let audit = Audit::open(&log, key, Arc::clone(&shared), options).unwrap();
        let builder = Gate::builder(Config::parse(&rules).unwrap()).audit(audit).clock(shared);
        builder.server(ServerName::new("store").unwrap(), local()).build().unwrap()
    };
    let gate = start();
    super::call(&gate, "s", "get", json!({ "key": "first" })).await.unwrap();
    for _ in 0..8 {
        super::call(&gate, "s", "get", json!({ "key": "later" })).await.unwrap();
    }
    drop(gate);
    // The premise is several files away.
    assert!(folder.path().join("audit.000004.jsonl").exists());
    let gate = start();
    let set = |key: &str| json!({ "key": key, "value": 1 });
    super::call(&gate, "s", "set", set("first")).await.unwrap();
    let refused = super::call(&gate, "s", "set", set("never")).await.unwrap_err();
    assert_eq!(refused.code, GateCode::O1);
    // Its age is known, too.
    drop(gate);
    clock.advance(Duration::from_secs(600));
    let refused = super::call(&start(), "s", "set", set("first")).await.unwrap_err();
    assert_eq!(refused.code, GateCode::O1);
}
