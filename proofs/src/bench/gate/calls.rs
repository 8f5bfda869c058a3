//! Calls through the gate to a tool that returns at once.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use omen_gate::audit::store::Memory;
use omen_gate::audit::{Audit, Key, Options};
use omen_gate::catalog::pin;
use omen_gate::server::{Local, ToolServer as _};
use omen_gate::summary::{Bullet, Section, Summary};
use omen_gate::{Config, Gate, ServerName, SystemClock, ToolId, ToolName, TurnId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::super::{Samples, agent};
use crate::Failure;

/// Measured quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Measure {
    Call,
    CallFiles,
    Task,
    TaskFiles,
    Bare,
    Step(&'static str),
    Append,
    AppendFiles,
    AppendSynced,
    Write,
    WriteSynced,
    AppendBy(u32),
    WriteBy(u32),
    Verify,
    Skip,
}

/// Steps of a call.
pub(super) const STEPS: [&str; 7] = ["screen", "plan", "conform", "authorize", "dispatch", "type_output", "ground"];

/// Arguments of the tool.
#[derive(Deserialize, JsonSchema)]
struct Question {
    key: String,
}

/// Result of the tool.
#[derive(Deserialize, Serialize, JsonSchema)]
struct Setting {
    key: String,
    value: i64,
}

/// The tool.
async fn get(Question { key }: Question) -> Result<Setting, String> {
    Ok(Setting { key, value: 50 })
}

/// Runs one round of all measures: microseconds per call.
pub(super) async fn round(calls: u32, samples: &mut Samples<Measure>) -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    let files = |name: &str| {
        let options = Options { sync: false, ..Options::default() };
        Audit::open(folder.path().join(name), key()?, Arc::new(SystemClock::default()), options).map_err(Failure::from)
    };
    let each = |time: Duration| time.as_secs_f64() * 1e6 / f64::from(calls);

    let begun = Instant::now();
    for number in 0..calls {
        black_box(bare(number).await?);
    }
    samples.add(Measure::Bare, each(begun.elapsed()));

    let mut laps = Laps::default();
    let time = through(calls, in_memory()?, &mut laps).await?;
    samples.add(Measure::Call, each(time));
    for (step, time) in STEPS.iter().zip(laps.times) {
        samples.add(Measure::Step(step), each(time));
    }
    let time = through(calls, files("calls.jsonl")?, &mut Laps::default()).await?;
    samples.add(Measure::CallFiles, each(time));
    samples.add(Measure::Task, each(tasks(calls, in_memory()?).await?));
    samples.add(Measure::TaskFiles, each(tasks(calls, files("tasks.jsonl")?).await?));
    Ok(())
}

/// Makes a call without a gate; its arguments and its result are JSON as well.
async fn bare(number: u32) -> Result<Value, Failure> {
    let answer = get(serde_json::from_value(Value::Object(args(number)))?).await?;
    Ok(serde_json::to_value(answer)?)
}

fn args(number: u32) -> Map<String, Value> {
    Map::from_iter([("key".to_owned(), Value::String(format!("pool.{number}")))])
}

/// Makes complete requests, each in its own turn.
async fn through(calls: u32, audit: Audit, laps: &mut Laps) -> Result<Duration, Failure> {
    let gate = gate(audit).await?;
    let mut total = Duration::ZERO;
    for number in 0..calls {
        let turn = TurnId::new(format!("turn_{number}"))?;
        let call = json!({ "type": "call_tool", "server": "store", "tool": "get", "args": args(number) }).to_string();
        let bullet = Bullet { text: "it is 50".to_owned(), evidence: "\"value\":50".to_owned() };
        let summary = Summary { sections: vec![Section { heading: "pool".to_owned(), bullets: vec![bullet] }] };

        let begun = Instant::now();
        laps.begin(begun);
        let request = gate.request(turn, "how large is the pool?").screen().await?;
        laps.end();
        let request = request.plan(&call).await?.call().map_err(|_| "the plan asks the user")?;
        laps.end();
        let request = request.conform().await?;
        laps.end();
        let request = request.authorize().await?;
        laps.end();
        let request = request.dispatch().await?;
        laps.end();
        let request = request.type_output::<Setting>().await.map_err(|untyped| untyped.why().clone())?;
        laps.end();
        let request = request.ground(summary).await?;
        laps.end();
        total += begun.elapsed();
        black_box(request.into_value_and_summary());
    }
    Ok(total)
}

/// Runs tasks, each of its own episode.
async fn tasks(calls: u32, audit: Audit) -> Result<Duration, Failure> {
    let gate = gate(audit).await?;
    let mut total = Duration::ZERO;
    for number in 0..calls {
        // The episode must outlive its task.
        let (_episode, task) = agent::task(agent::setup(number)?)?;
        let begun = Instant::now();
        let settled = gate.run(task).await;
        total += begun.elapsed();
        agent::succeeded(&settled)?;
    }
    Ok(total)
}

/// Returns a gate with the tool, which needs no confirmation.
async fn gate(audit: Audit) -> Result<Gate, Failure> {
    let server = Local::new().tool("get", "Reads a setting.", get)?;
    let tools = server.list().await?;
    let pins: Result<Vec<_>, _> = tools.iter().map(pin).collect();
    let pin = pins?.first().map(ToString::to_string).unwrap_or_default();
    let config = Config::parse(&CONFIG.replace("PIN", &pin)).map_err(|errors| format!("{errors:?}"))?;
    let (store, get) = (ServerName::new("store")?, ToolName::new("get")?);
    let builder = Gate::builder(config).server(store.clone(), server).audit(audit);
    Ok(builder.output::<Setting>(ToolId { server: store, tool: get }).build()?)
}

fn in_memory() -> Result<Audit, Failure> {
    Ok(Audit::over(Memory::default(), key()?, Arc::new(SystemClock::default()), Options::default())?)
}

/// Returns a key, which need not be secret here.
pub(super) fn key() -> Result<Key, Failure> {
    Ok(Key::from_bytes(&std::array::from_fn::<_, 32, _>(|byte| byte as u8))?)
}

/// Time of each step, over all calls.
#[derive(Default)]
struct Laps {
    times: [Duration; STEPS.len()],
    last: Option<Instant>,
    next: usize,
}

impl Laps {
    fn begin(&mut self, now: Instant) {
        (self.last, self.next) = (Some(now), 0);
    }

    fn end(&mut self) {
        let now = Instant::now();
        if let (Some(time), Some(last)) = (self.times.get_mut(self.next), self.last) {
            *time += now - last;
        }
        (self.last, self.next) = (Some(now), self.next + 1);
    }
}

const CONFIG: &str = r#"
[[policy.patterns]]
pattern = "(?i)drop table"
reason = "the database is not to be destroyed"

[servers.store]

[[allow]]
server = "store"
tool = "get"
permissions = ["READ"]
pin = "PIN"

[[grants]]
server = "store"
tool = "get"
permissions = ["READ"]
"#;
