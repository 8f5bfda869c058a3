//! Tool server as a child process, behind a gate.

use std::sync::Arc;

use omen_gate::audit::store::Memory;
use omen_gate::audit::{Audit, Key, Options};
use omen_gate::catalog::pin;
use omen_gate::confirm::Reply;
use omen_gate::mcp::StdioServer;
use omen_gate::pipeline::{Conformant, Dispatched, Request};
use omen_gate::server::ToolServer as _;
use omen_gate::tool::Tool;
use omen_gate::{Blocked, Builder, Config, Gate, GateCode, ManualClock, ServerName, Stopped};
use serde_json::{Value, json};

use super::within;
use crate::gates::Person;
use crate::support::{clock, kinds, logged_of_turns, turn};

/// Tool server behind a gate, under the name `mcp`.
pub(crate) struct World {
    pub(crate) gate: Gate,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) person: Person,
    pub(crate) log: Memory,
}

/// Entry of the allowlist.
pub(crate) fn allow(tool: &Tool, permission: &str, pin: Option<String>) -> String {
    let pin = pin.map_or_else(String::new, |pin| format!("pin = '{pin}'"));
    format!("[[allow]]\nserver = 'mcp'\ntool = '{}'\npermissions = ['{permission}']\n{pin}\n", tool.name)
}

/// Default grant.
pub(crate) fn grant(tool: &Tool, permission: &str) -> String {
    format!("[[grants]]\nserver = 'mcp'\ntool = '{}'\npermissions = ['{permission}']\n", tool.name)
}

impl World {
    /// Starts a gate on the configuration that `configure` writes for the server's tools.
    pub(crate) async fn of(
        server: StdioServer,
        configure: impl FnOnce(&[Tool]) -> String,
        build: impl FnOnce(Builder) -> Builder,
    ) -> Self {
        let tools = within(server.list()).await.unwrap();
        let config = Config::parse(&format!("{}\n[servers.mcp]\n", configure(&tools))).unwrap();
        let (clock, log, person) = (clock(), Memory::default(), Person::who_says(Reply::Confirmed));
        let key = Key::from_bytes(&std::array::from_fn::<u8, 32, _>(|i| i as u8)).unwrap();
        let audit = Audit::over(log.clone(), key, clock.clone(), Options::default()).unwrap();
        let builder = Gate::builder(config).audit(audit).clock(clock.clone()).confirmer(person.clone());
        let builder = builder.server(ServerName::new("mcp").unwrap(), server);
        Self { gate: build(builder).build().unwrap(), clock, person, log }
    }

    /// Entries of the audit log without the opening entry.
    pub(crate) fn entries(&self) -> Vec<Value> {
        logged_of_turns(&self.log)
    }

    /// Kinds of the entries, with the codes of refusals.
    pub(crate) fn kinds(&self) -> Vec<String> {
        kinds(&self.entries())
    }

    async fn conformant(&self, turn_id: &str, tool: &str, args: Value) -> Result<Request<Conformant>, Blocked> {
        let plan = json!({ "type": "call_tool", "server": "mcp", "tool": tool, "args": args }).to_string();
        let request = self.gate.request(turn(turn_id), "a question").screen().await?;
        within(request.plan(&plan).await?.call().unwrap().conform()).await
    }

    /// Makes a call in the turn `turn_1`.
    pub(crate) async fn called(&self, tool: &str, args: Value) -> Result<Request<Dispatched>, Stopped> {
        self.called_in("turn_1", tool, args).await
    }

    pub(crate) async fn called_in(&self, turn: &str, tool: &str, args: Value) -> Result<Request<Dispatched>, Stopped> {
        within(self.conformant(turn, tool, args).await?.authorize().await?.dispatch()).await
    }

    /// Asserts why a call was not made, and that the log has nothing else.
    #[track_caller]
    pub(crate) fn assert_refused(&self, outcome: Result<Request<Dispatched>, Stopped>, code: GateCode, why: &str) {
        let Err(Stopped::Blocked(blocked)) = outcome else { panic!("{outcome:?}") };
        assert_eq!(blocked.code, code, "{blocked}");
        assert!(blocked.message.contains(why), "{blocked}");
        let kinds = self.kinds();
        assert_eq!(kinds.last().unwrap(), &format!("decision {}", code.as_str()));
        assert!(!kinds.contains(&"intent".to_owned()), "{kinds:?}");
    }
}

/// Allowlist entries of some tools in their present form.
pub(crate) fn allowing(tools: &[Tool], allowed: &[(&str, &str)]) -> String {
    let entry = |(name, permission): &(&str, &str)| {
        let tool = named(tools, name);
        allow(tool, permission, Some(pin(tool).unwrap().to_string())) + &grant(tool, permission)
    };
    allowed.iter().map(entry).collect()
}

pub(crate) fn named<'t>(tools: &'t [Tool], name: &str) -> &'t Tool {
    tools.iter().find(|tool| tool.name.as_str() == name).unwrap()
}
