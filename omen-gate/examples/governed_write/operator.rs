//! Settings of the gate's operator: the server, which of its tools may be called, their permissions, who confirms
//! calls, and where they are recorded.

use std::path::Path;

use async_trait::async_trait;
use omen::json;
use omen_gate::audit::Key;
use omen_gate::catalog::pin;
use omen_gate::confirm::{Confirmer, Question, Reply};
use omen_gate::mcp::{Launch, StdioServer};
use omen_gate::server::ToolServer as _;
use omen_gate::{Config, Gate, ToolId};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::Failure;

/// Answer of `config.get`. Any other answer does not reach the agent (PG-4).
#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "the gate holds answers against it; the agent reads them as JSON")]
struct Setting {
    key: String,
    value: Option<String>,
}

/// Answer of `config.set`.
#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "the gate holds answers against it; the agent reads them as JSON")]
struct Changed {
    key: String,
    before: Option<String>,
    after: String,
}

/// Gate for the store of `settings`, with its audit log in `dir`.
pub(crate) async fn gate(dir: &Path, settings: &Path) -> Result<Gate, Failure> {
    let key = dir.join("audit.key");
    if !key.exists() {
        drop(Key::create(&key)?);
    }
    let config = Config::parse(&configuration(dir, settings).await?)?;
    let gate = Gate::builder(config)
        .start_servers()
        .await?
        .output::<Setting>(tool("config.get")?)
        .output::<Changed>(tool("config.set")?)
        .confirmer(Operator);
    Ok(gate.build()?)
}

/// Configuration, which is usually a file that the operator writes.
async fn configuration(dir: &Path, settings: &Path) -> Result<String, Failure> {
    let program = std::env::current_exe()?;
    // Approved forms of the tools. An operator reviews the tools, and writes down the pins that `omen gate catalog`
    // prints; from then on, a changed tool does not run. Here the current pins are used unreviewed.
    let server = StdioServer::start(Launch::new(&program).arg("--serve").arg(settings)).await?;
    let tools = server.list().await?;
    server.stop().await;
    let pin_of = |name: &str| -> Result<_, Failure> {
        let tool = tools.iter().find(|tool| tool.name.as_str() == name);
        Ok(pin(tool.ok_or("the server has no such tool")?)?)
    };
    // A JSON string is a TOML string, too.
    let text = |path: &Path| json!(path.to_string_lossy()).to_string();
    Ok(format!(
        r#"
        [servers.store]
        command = {program}
        args = ["--serve", {settings}]

        # Nothing else that the server offers can be called, and these only in the form of their pins.
        [[allow]]
        server = "store"
        tool = "config.get"
        permissions = ["READ"]
        pin = "{pin_of_get}"

        [[allow]]
        server = "store"
        tool = "config.set"
        permissions = ["WRITE"]
        pin = "{pin_of_set}"

        [[grants]]
        server = "store"
        tool = "config.get"
        permissions = ["READ"]

        # One write, and somebody has to confirm it: it is not `pre_granted`.
        [[grants]]
        server = "store"
        tool = "config.set"
        permissions = ["WRITE"]
        uses = 1

        [audit]
        log = {log}
        key_file = {key}
        "#,
        program = text(&program),
        settings = text(settings),
        pin_of_get = pin_of("config.get")?,
        pin_of_set = pin_of("config.set")?,
        log = text(&dir.join("audit.jsonl")),
        key = text(&dir.join("audit.key")),
    ))
}

fn tool(name: &str) -> Result<ToolId, Failure> {
    Ok(ToolId { server: "store".parse()?, tool: name.parse()? })
}

/// Stand-in for a person at a terminal, who confirms.
#[derive(Debug)]
struct Operator;

#[async_trait]
impl Confirmer for Operator {
    async fn confirm(&self, question: &Question) -> Reply {
        println!("may {} call {} with {}? yes, this once", question.turn, question.tool, question.args);
        Reply::Confirmed
    }
}
