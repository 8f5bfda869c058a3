//! Judgement of recorded calls by the order rules: what a log decides, and that it decides as the gate did.

mod live;
mod table;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use omen_gate::audit::store::Memory;
use omen_gate::audit::{Audit, Key, Options};
use omen_gate::order::{LogEntry, OrderFinding, OrderLog};
use omen_gate::server::{Dispatch, Local, ToolServer};
use omen_gate::tool::{Answer, Tool};
use omen_gate::{Blocked, Config, Fault, Gate, GateClock, ManualClock, ServerName, Stopped, TurnId};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::gates::local;
use crate::support::{all_logged, store_policy};

/// Rules of the tools `store/get` and `store/set`, each with its `where`.
#[derive(Clone, Copy, Default)]
struct Rules<'r> {
    get: &'r str,
    set: &'r str,
    audit: &'r str,
}

impl Rules<'_> {
    async fn text(&self) -> String {
        let audit = match self.audit {
            "" => String::new(),
            arguments => format!("[audit]\nlog = 'l'\nkey_file = 'k'\narguments = '{arguments}'\n"),
        };
        let policy = store_policy(self.get, self.set).await;
        format!("{policy}{audit}[breaker]\nfailures = 1000\n[order]\ngather = '0s'\nwait = '5s'\n")
    }
}

fn key() -> Key {
    Key::from_bytes(&std::array::from_fn::<u8, 32, _>(|i| i as u8)).unwrap()
}

/// Gate with a log in memory.
#[derive(Clone)]
struct Recording {
    gate: Gate,
    held: Arc<Notify>,
}

impl Recording {
    fn start(text: &str, memory: &Memory, clock: &Arc<ManualClock>) -> Self {
        let shared: Arc<dyn GateClock> = clock.clone();
        let audit = Audit::over(memory.clone(), key(), clock.clone(), Options::default()).unwrap();
        let held = Arc::new(Notify::new());
        let server = Holding { local: local(), held: Arc::clone(&held) };
        let builder = Gate::builder(Config::parse(text).unwrap()).audit(audit).clock(shared);
        let gate = builder.server(ServerName::new("store").unwrap(), server).build().unwrap();
        Self { gate, held }
    }

    async fn call(&self, session: &str, turn: &str, tool: &str, args: Value) -> Result<(), Blocked> {
        let request = self.gate.request(TurnId::new(turn).unwrap(), "q").of_session(TurnId::new(session).unwrap());
        let plan = json!({ "type": "call_tool", "server": "store", "tool": tool, "args": args }).to_string();
        let planned = request.screen().await?.plan(&plan).await?.call().unwrap();
        match planned.conform().await?.authorize().await?.dispatch().await {
            Ok(_) | Err(Stopped::Failed(_)) => Ok(()),
            Err(Stopped::Blocked(blocked)) => Err(blocked),
            Err(other) => panic!("{other}"),
        }
    }
}

/// Store that fails for some keys, and holds calls until a test releases them.
#[derive(Debug)]
struct Holding {
    local: Local,
    held: Arc<Notify>,
}

#[async_trait]
impl ToolServer for Holding {
    async fn list(&self) -> Result<Vec<Tool>, Fault> {
        self.local.list().await
    }

    async fn call(&self, dispatch: Dispatch) -> Result<Answer, Fault> {
        match dispatch.args().get("key").and_then(Value::as_str) {
            Some("bad") => Ok(Answer { is_error: Some(true), ..Answer::default() }),
            Some("lost") => Err(Fault::Timeout { after: Duration::from_secs(1) }),
            Some("held") => {
                self.held.notified().await;
                self.local.call(dispatch).await
            }
            _ => self.local.call(dispatch).await,
        }
    }
}

/// Verdicts on the calls of a log: the entry, whether the call was refused, and the finding.
type Verdicts = Vec<(u64, bool, Option<OrderFinding>)>;

/// Judges a log by a configuration. `Some` are the debts of sessions that end with it.
fn judged(text: &str, entries: &[Value], has_key: bool) -> (Verdicts, Vec<OrderFinding>) {
    let config = Config::parse(text).unwrap();
    let mut log = OrderLog::new(&config, has_key.then(key).as_ref());
    let (mut verdicts, mut debts) = (Vec::new(), Vec::new());
    let mut take = |log: &mut OrderLog| {
        verdicts.extend(log.judged().iter().map(|judged| (judged.entry, judged.is_refused, judged.finding())));
        debts.extend(log.debts());
    };
    for entry in entries {
        let entry = LogEntry {
            sequence: entry["sequence"].as_u64().unwrap(),
            time: entry["time"].as_str().unwrap(),
            kind: entry["kind"].as_str().unwrap(),
            turn: entry["turn"].as_str(),
            data: entry["data"].as_object().unwrap(),
        };
        log.add(&entry).unwrap();
        take(&mut log);
    }
    log.end(true);
    take(&mut log);
    (verdicts, debts)
}

fn logged(memory: &Memory) -> Vec<Value> {
    all_logged(memory)
}

/// Verdict in a word: `allow`, a code, or `undecidable`.
fn word(finding: Option<&OrderFinding>) -> &str {
    match finding {
        None => "allow",
        Some(finding) if finding.is_undecided => "undecidable",
        Some(finding) => finding.code.as_str(),
    }
}
