//! What the operator of the gate says: which server there is, which of its tools may be called, what they may do, who
//! confirms it, and where it is recorded.

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

/// What `config.get` answers. An answer that is something else does not reach the agent (PG-4).
#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "the gate holds answers against it; the agent reads them as JSON")]
struct Setting {
    key: String,
    value: Option<String>,
}

/// What `config.set` answers.
#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "the gate holds answers against it; the agent reads them as JSON")]
struct Changed {
    key: String,
    before: Option<String>,
    after: String,
}

/// The gate before the store of `settings`, with its audit log in `dir`.
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

/// The configuration, which otherwise is a file that the operator writes.
async fn configuration(dir: &Path, settings: &Path) -> Result<String, Failure> {
    let program = std::env::current_exe()?;
    // The forms of the tools that are approved. An operator looks at the tools, and writes down the pins that
    // `omen gate catalog` gives; from then on, a tool that has changed does not run. Here they are taken as they are.
    let server = StdioServer::start(Launch::new(&program).arg("--serve").arg(settings)).await?;
    let tools = server.list().await?;
    server.stop().await;
    let pin_of = |name: &str| -> Result<_, Failure> {
        let tool = tools.iter().find(|tool| tool.name.as_str() == name);
        Ok(pin(tool.ok_or("the server has no such tool")?)?)
    };
    // A string of JSON is a string of TOML, too.
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

/// Stands for a person at a terminal. This one says yes.
#[derive(Debug)]
struct Operator;

#[async_trait]
impl Confirmer for Operator {
    async fn confirm(&self, question: &Question) -> Reply {
        println!("may {} call {} with {}? yes, this once", question.turn, question.tool, question.args);
        Reply::Confirmed
    }
}
