//! PG-3: rules on the arguments of a call.

mod commands;
mod evasions;
mod load;
mod masking;
mod moments;
mod oracle;
mod recorded;
mod shadow;

use std::path::Path;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use omen_gate::audit::store::Memory;
use omen_gate::audit::{Audit, Key, Options};
use omen_gate::catalog::pin;
use omen_gate::server::{Dispatch, ToolServer};
use omen_gate::tool::{Answer, Tool};
use omen_gate::{Blocked, Config, Fault, Gate, GateClock, ServerName, Stopped, TurnId};
use serde_json::{Map, Value, json};

use crate::support::clock;

/// Server whose tool accepts anything, and that records its calls.
#[derive(Debug)]
pub(super) struct Taker {
    tool: Tool,
    taken: Arc<Mutex<Vec<Map<String, Value>>>>,
}

#[async_trait]
impl ToolServer for Taker {
    async fn list(&self) -> Result<Vec<Tool>, Fault> {
        Ok(vec![self.tool.clone()])
    }

    async fn call(&self, dispatch: Dispatch) -> Result<Answer, Fault> {
        self.taken.lock().unwrap().push(dispatch.args().clone());
        Ok(Answer::default())
    }
}

/// Schema of the tool: its arguments are named, and may have any value.
pub(super) fn any_values() -> Value {
    let names = ["path", "paths", "url", "urls", "mode", "amount", "text", "opts", "items", "password"];
    let properties: Map<_, _> = names.iter().map(|name| ((*name).to_owned(), json!({}))).collect();
    json!({ "type": "object", "properties": properties })
}

/// Gate with one tool `s/t`, under rules on its arguments.
pub(super) struct Guarded {
    pub(super) gate: Gate,
    pub(super) memory: Memory,
    taken: Arc<Mutex<Vec<Map<String, Value>>>>,
    turns: Mutex<u32>,
}

pub(super) fn tool_of(schema: Value) -> Tool {
    serde_json::from_value(json!({ "name": "t", "inputSchema": schema })).unwrap()
}

/// Configuration as if read from a file of the folder.
pub(super) fn config_of(folder: &Path, tool: &Tool, rules: &str) -> Config {
    config_by(folder, tool, rules, "")
}

/// Same as `config_of`, with more tables before the rules.
pub(super) fn config_by(folder: &Path, tool: &Tool, rules: &str, more: &str) -> Config {
    let text = format!(
        "{more}[servers.s]\n[[allow]]\nserver = 's'\ntool = 't'\npermissions = ['READ']\npin = '{}'\nwhere = {rules}\n\
         [[grants]]\nserver = 's'\ntool = 't'\npermissions = ['READ']\n",
        pin(tool).unwrap()
    );
    Config::parse_as(&text, &folder.join("gate.toml")).unwrap_or_else(|errors| panic!("{rules}: {errors}"))
}

pub(super) fn guarded(folder: &Path, rules: &str) -> Guarded {
    guarded_with(folder, tool_of(any_values()), rules)
}

pub(super) fn guarded_with(folder: &Path, tool: Tool, rules: &str) -> Guarded {
    guarded_by(folder, tool, rules, "")
}

/// Same with more tables in the configuration.
pub(super) fn guarded_by(folder: &Path, tool: Tool, rules: &str, more: &str) -> Guarded {
    let config = config_by(folder, &tool, rules, more);
    let (memory, taken) = (Memory::default(), Arc::default());
    let key = Key::from_bytes(&std::array::from_fn::<u8, 32, _>(|i| i as u8)).unwrap();
    let clock: Arc<dyn GateClock> = clock();
    let audit = Audit::over(memory.clone(), key, Arc::clone(&clock), Options::default()).unwrap();
    let server = Taker { tool, taken: Arc::clone(&taken) };
    let builder = Gate::builder(config).audit(audit).clock(clock).server(ServerName::new("s").unwrap(), server);
    Guarded { gate: builder.build().unwrap(), memory, taken, turns: Mutex::new(0) }
}

impl Guarded {
    /// Plans a call with the given arguments, and runs it as far as possible.
    pub(super) async fn call(&self, args: &str) -> Result<(), Blocked> {
        let turn = {
            let mut turns = self.turns.lock().unwrap();
            *turns += 1;
            TurnId::new(format!("turn_{turns}")).unwrap()
        };
        let plan = format!(r#"{{"type":"call_tool","server":"s","tool":"t","args":{args}}}"#);
        let planned = self.gate.request(turn.clone(), "q").screen().await?.plan(&plan).await?.call().unwrap();
        let dispatched = planned.conform().await?.authorize().await?.dispatch().await;
        self.gate.end_turn(&turn);
        match dispatched {
            Ok(_) => Ok(()),
            Err(Stopped::Blocked(blocked)) => Err(blocked),
            Err(other) => panic!("{other}"),
        }
    }

    /// Returns and clears the calls that reached the server.
    pub(super) fn taken(&self) -> Vec<Map<String, Value>> {
        std::mem::take(&mut *self.taken.lock().unwrap())
    }
}
