//! Calls through a gate whose order rules need an earlier `login` on some server: each premise names another server.
//!
//! The comparison with another engine, a separate program, includes this file.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use omen_gate::audit::store::Memory;
use omen_gate::audit::{Audit, Key, Options};
use omen_gate::catalog::pin;
use omen_gate::server::{Local, ToolServer as _};
use omen_gate::{Config, Gate, ServerName, SystemClock, TurnId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::Failure;

/// Number of concurrent callers.
pub(crate) const CALLERS: u32 = 64;
/// Maximum number of premises of a rule.
const EACH: usize = 32;
/// Start of a configuration.
pub(crate) const START: &str = "[order]\ngather = \"0s\"\n[servers.store]\n";

/// Arguments of both tools.
#[derive(Deserialize, Serialize, JsonSchema)]
struct ServerArgs {
    server: String,
}

async fn answer(args: ServerArgs) -> Result<ServerArgs, String> {
    Ok(args)
}

/// Returns a gate on which `login` has succeeded on a server of each rule for `read`, in the middle of the rule. With a path,
/// the audit log is a synced file, otherwise it is in memory.
pub(crate) async fn gate(premises: u32, further: &str, log: Option<&Path>) -> Result<Gate, Failure> {
    let server = Local::new().tool("login", "Logs in.", answer)?.tool("read", "Reads.", answer)?;
    let servers: Vec<_> = (0..premises).collect();
    let rules: Vec<_> = servers.chunks(EACH).map(|servers| rule(servers, "1h")).collect();
    let mut text = START.to_owned();
    for tool in &server.list().await? {
        let name = tool.name.as_str();
        let after = if name == "read" { format!("after = [{}]", rules.join(", ")) } else { String::new() };
        text += &entry(name, &pin(tool)?.to_string(), &after);
    }
    let (key, clock) =
        (Key::from_bytes(&std::array::from_fn::<_, 32, _>(|byte| byte as u8))?, Arc::new(SystemClock::default()));
    let audit = match log {
        Some(log) => Audit::open(log, key, clock, Options::default())?,
        None => Audit::over(Memory::default(), key, clock, Options::default())?,
    };
    let gate =
        Gate::builder(config(&(text + further))?).server(ServerName::new("store")?, server).audit(audit).build()?;
    if call(&gate, "read", "too_early", 0).await.is_ok() {
        return Err("a call was made without its premise".into());
    }
    for server in middles(premises) {
        call(&gate, "login", &format!("premise_{server}"), server).await?;
    }
    Ok(gate)
}

/// Returns the server in the middle of each rule.
pub(crate) fn middles(premises: u32) -> Vec<u32> {
    let servers: Vec<_> = (0..premises).collect();
    servers.chunks(EACH).filter_map(|servers| servers.get(servers.len() / 2)).copied().collect()
}

/// Reads a configuration.
pub(crate) fn config(text: &str) -> Result<Config, Failure> {
    Ok(Config::parse(text).map_err(|errors| format!("{errors:?}"))?)
}

/// Returns the entry of an allowed tool.
pub(crate) fn entry(tool: &str, pin: &str, rules: &str) -> String {
    let both = format!("server = \"store\"\ntool = \"{tool}\"\npermissions = [\"READ\"]\n");
    format!("[[allow]]\n{both}pin = \"{pin}\"\n{rules}\n[[grants]]\n{both}")
}

/// Returns a rule that needs one of several premises.
pub(crate) fn rule(servers: &[u32], within: &str) -> String {
    let premise = |server: &u32| {
        format!(
            "{{ tool = \"login\", where = {{ \"/server\" = {{ equals = \"s{server}\" }} }}, per = \"all\", within = \"{within}\" }}"
        )
    };
    format!("{{ any = [{}] }}", servers.iter().map(premise).collect::<Vec<_>>().join(", "))
}

async fn call(gate: &Gate, tool: &str, turn: &str, server: u32) -> Result<(), Failure> {
    let args = json!({ "server": format!("s{server}") });
    let plan = json!({ "type": "call_tool", "server": "store", "tool": tool, "args": args }).to_string();
    let request = gate.request(TurnId::new(turn)?, "where was it?").screen().await?;
    let request = request.plan(&plan).await?.call().map_err(|_| "the plan asks the user")?;
    drop(request.conform().await?.authorize().await?.dispatch().await?);
    Ok(())
}

/// Returns the microseconds of a call.
pub(crate) async fn each(gate: &Gate, tool: &str, calls: u32) -> Result<f64, Failure> {
    let begun = Instant::now();
    for number in 0..calls {
        call(gate, tool, &format!("{tool}_{number}"), 0).await?;
    }
    Ok(begun.elapsed().as_secs_f64() * 1e6 / f64::from(calls))
}

/// Returns the calls per second by several threads in parallel.
pub(crate) fn callers(gate: &Gate, of_each: u32) -> Result<f64, Failure> {
    in_parallel(of_each, |caller| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
        (0..of_each).try_for_each(|number| runtime.block_on(call(gate, "read", &format!("by_{caller}_{number}"), 0)))
    })
}

/// Returns the calls per second if each caller, in a thread of its own, makes some.
pub(crate) fn in_parallel(of_each: u32, calls: impl Fn(u32) -> Result<(), Failure> + Sync) -> Result<f64, Failure> {
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let calls = &calls;
        let threads: Vec<_> = (0..CALLERS).map(|caller| scope.spawn(move || calls(caller))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| Failure::from("a caller panicked"))?)
    })?;
    Ok(f64::from(CALLERS * of_each) / begun.elapsed().as_secs_f64())
}

/// Returns the microseconds of a write of 300 bytes and its sync.
pub(crate) fn sync(path: &Path, writes: u32) -> Result<f64, Failure> {
    let mut file = File::create_new(path)?;
    let begun = Instant::now();
    for _ in 0..writes {
        file.write_all(&[b'x'; 300])?;
        file.sync_data()?;
    }
    let time = begun.elapsed().as_secs_f64() * 1e6 / f64::from(writes);
    fs::remove_file(path)?;
    Ok(time)
}
