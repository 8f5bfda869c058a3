//! Gate with two tools in this process, for end-to-end tests.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use omen_gate::audit::store::{Memory, Store};
use omen_gate::audit::{Audit, Key, Options};
use omen_gate::catalog::pin;
use omen_gate::confirm::{Confirmer, Question, Reply};
use omen_gate::pipeline::{Authorized, Conformant, Planned, Request};
use omen_gate::server::{Dispatch, Local, ToolServer};
use omen_gate::tool::{Answer, Tool};
use omen_gate::{Blocked, BuildError, Builder, Config, Fault, Gate, GateClock, ManualClock, ServerName, TurnId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::support::{clock, kinds, logged_of_turns, tool};

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Key_ {
    pub(crate) key: String,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Change {
    pub(crate) key: String,
    pub(crate) value: i64,
}

/// Answer of both tools.
#[derive(Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub(crate) struct Setting {
    pub(crate) key: String,
    pub(crate) value: i64,
}

/// `get` reads, `set` writes, `misbehave` does as configured.
pub(crate) fn local() -> Local {
    let pool = Arc::new(Mutex::new(50));
    let of_set = Arc::clone(&pool);
    let get = move |Key_ { key }| {
        let value = *pool.lock().unwrap();
        async move { Ok::<_, String>(Setting { key, value }) }
    };
    let set = move |Change { key, value }| {
        let pool = Arc::clone(&of_set);
        async move {
            if value < 0 {
                return Err("a pool is not negative".to_owned());
            }
            *pool.lock().unwrap() = value;
            Ok(Setting { key, value })
        }
    };
    Local::new().tool("get", "Reads a setting.", get).unwrap().tool("set", "Changes a setting.", set).unwrap()
}

/// Server that counts its requests, and can be made to fail.
#[derive(Debug)]
pub(crate) struct Watched {
    local: Local,
    pub(crate) seen: Arc<Seen>,
}

#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) lists: AtomicU32,
    pub(crate) calls: AtomicU32,
    pub(crate) fault: Mutex<Option<Fault>>,
    pub(crate) more: Mutex<Vec<Tool>>,
    pub(crate) revision: AtomicU32,
}

impl Seen {
    pub(crate) fn lists(&self) -> u32 {
        self.lists.load(Ordering::SeqCst)
    }

    pub(crate) fn calls(&self) -> u32 {
        self.calls.load(Ordering::SeqCst)
    }

    pub(crate) fn fail_with(&self, fault: Option<Fault>) {
        *self.fault.lock().unwrap() = fault;
    }
}

#[async_trait]
impl ToolServer for Watched {
    async fn list(&self) -> Result<Vec<Tool>, Fault> {
        self.seen.lists.fetch_add(1, Ordering::SeqCst);
        let mut tools = self.local.list().await?;
        for changed in self.seen.more.lock().unwrap().iter() {
            tools.retain(|tool| tool.name != changed.name);
            tools.push(changed.clone());
        }
        Ok(tools)
    }

    async fn call(&self, dispatch: Dispatch) -> Result<Answer, Fault> {
        self.seen.calls.fetch_add(1, Ordering::SeqCst);
        let fault = self.seen.fault.lock().unwrap().clone();
        match fault {
            Some(Fault::Panicked) => panic!("as configured"),
            Some(Fault::Timeout { .. }) => std::future::pending().await,
            Some(fault) => Err(fault),
            None => self.local.call(dispatch).await,
        }
    }

    fn revision(&self) -> u64 {
        u64::from(self.seen.revision.load(Ordering::SeqCst))
    }
}

/// Confirmer with configured answers that records its questions.
#[derive(Clone, Debug)]
pub(crate) struct Person {
    pub(crate) reply: Reply,
    pub(crate) asked: Arc<Mutex<Vec<Question>>>,
}

impl Person {
    pub(crate) fn who_says(reply: Reply) -> Self {
        Self { reply, asked: Arc::default() }
    }
}

#[async_trait]
impl Confirmer for Person {
    async fn confirm(&self, question: &Question) -> Reply {
        self.asked.lock().unwrap().push(question.clone());
        self.reply.clone()
    }
}

/// Disk that is full after some lines, and can be made to block.
#[derive(Debug)]
pub(crate) struct Disk {
    pub(crate) memory: Memory,
    pub(crate) room: Arc<AtomicU32>,
    pub(crate) waits: Arc<AtomicBool>,
}

impl Store for Disk {
    fn log(&mut self) -> io::Result<Option<Box<dyn io::Read + '_>>> {
        self.memory.log()
    }

    fn head(&mut self) -> io::Result<Option<Vec<u8>>> {
        self.memory.head()
    }

    fn append(&mut self, offset: u64, line: &[u8]) -> io::Result<()> {
        while self.waits.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(1));
        }
        let room = self.room.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |room| room.checked_sub(1));
        room.map_err(|_| io::Error::from(io::ErrorKind::StorageFull))?;
        self.memory.append(offset, line)
    }

    fn set_aside(&mut self, offset: u64) -> io::Result<()> {
        self.memory.set_aside(offset)
    }

    fn kept(&mut self, offset: u64) -> io::Result<Vec<String>> {
        self.memory.kept(offset)
    }

    fn set_head(&mut self, head: &[u8]) -> io::Result<()> {
        self.memory.set_head(head)
    }

    fn replace_head(&mut self, head: &[u8]) -> io::Result<()> {
        self.memory.replace_head(head)
    }
}

/// Gate with everything that tests inspect.
pub(crate) struct World {
    /// Remaining room of the audit log, in entries.
    pub(crate) room: Arc<AtomicU32>,
    /// Whether the audit log blocks on its disk.
    pub(crate) waits: Arc<AtomicBool>,
    pub(crate) gate: Gate,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) memory: Memory,
    pub(crate) seen: Arc<Seen>,
}

/// Tools of the server.
pub(crate) async fn tools() -> Vec<Tool> {
    local().list().await.unwrap()
}

/// Configuration: both tools are allowed in their present form, `get` may read, `set` may write.
pub(crate) async fn config(more: &str) -> Config {
    config_under(PATTERNS, more).await
}

/// Patterns of refused queries.
const PATTERNS: &str = r#"
    [[policy.patterns]]
    pattern = "(?i)drop table"
    reason = "the database is not to be destroyed"
"#;

/// Same as `config`, under another policy.
pub(crate) async fn config_under(policy: &str, more: &str) -> Config {
    let tools = tools().await;
    let pin_of = |name: &str| pin(tools.iter().find(|tool| tool.name.as_str() == name).unwrap()).unwrap();
    let text = format!(
        r#"
        {policy}

        [servers.store]

        [[allow]]
        server = "store"
        tool = "get"
        permissions = ["READ"]
        pin = "{}"

        [[allow]]
        server = "store"
        tool = "set"
        permissions = ["WRITE"]
        pin = "{}"

        [[grants]]
        server = "store"
        tool = "get"
        permissions = ["READ"]

        {more}
        "#,
        pin_of("get"),
        pin_of("set"),
    );
    Config::parse(&text).unwrap()
}

/// Grant to write that a human confirms for each call.
pub(crate) const MAY_WRITE: &str = "[[grants]]\nserver = 'store'\ntool = 'set'\npermissions = ['WRITE']\n";

pub(crate) async fn world(more: &str, build: impl FnOnce(Builder) -> Builder) -> World {
    let seen = Arc::<Seen>::default();
    let server = Watched { local: local(), seen: Arc::clone(&seen) };
    World { seen, ..world_with(more, server, build).await }
}

/// Creates a world with another server that lists the same tools.
pub(crate) async fn world_with(more: &str, server: impl ToolServer, build: impl FnOnce(Builder) -> Builder) -> World {
    world_of(config(more).await, server, build)
}

/// Creates a world under another policy.
pub(crate) async fn world_under(policy: &str, build: impl FnOnce(Builder) -> Builder) -> World {
    let seen = Arc::<Seen>::default();
    let server = Watched { local: local(), seen: Arc::clone(&seen) };
    World { seen, ..world_of(config_under(policy, MAY_WRITE).await, server, build) }
}

fn world_of(config: Config, server: impl ToolServer, build: impl FnOnce(Builder) -> Builder) -> World {
    let (clock, memory) = (clock(), Memory::default());
    let key = Key::from_bytes(&std::array::from_fn::<u8, 32, _>(|i| i as u8)).unwrap();
    let shared: Arc<dyn GateClock> = clock.clone();
    let room = Arc::new(AtomicU32::new(u32::MAX));
    let waits = Arc::<AtomicBool>::default();
    let disk = Disk { memory: memory.clone(), room: Arc::clone(&room), waits: Arc::clone(&waits) };
    let audit = Audit::over(disk, key, Arc::clone(&shared), Options::default()).unwrap();
    let builder = Gate::builder(config).audit(audit).clock(shared);
    let builder = builder.server(ServerName::new("store").unwrap(), server);
    let builder = builder.output::<Setting>(tool("store/get"));
    World { room, waits, gate: build(builder).build().unwrap(), clock, memory, seen: Arc::default() }
}

/// Gate whose audit log only has room for its opening entry.
pub(crate) async fn build_on_a_full_disk() -> Result<Gate, BuildError> {
    let disk = Disk { memory: Memory::default(), room: Arc::new(AtomicU32::new(1)), waits: Arc::default() };
    let key = Key::from_bytes(&std::array::from_fn::<u8, 32, _>(|i| i as u8)).unwrap();
    let audit = Audit::over(disk, key, clock(), Options::default()).unwrap();
    Gate::builder(config("").await).audit(audit).server(ServerName::new("store").unwrap(), local()).build()
}

impl World {
    /// Entries of the audit log without those of the start.
    pub(crate) fn entries(&self) -> Vec<Value> {
        logged_of_turns(&self.memory)
    }

    /// Kinds of the entries, with the codes of refusals.
    pub(crate) fn kinds(&self) -> Vec<String> {
        kinds(&self.entries())
    }

    pub(crate) async fn planned(&self, turn: &str, tool: &str, args: Value) -> Request<Planned> {
        let (server, tool) = tool.split_once('/').unwrap();
        let plan = json!({ "type": "call_tool", "server": server, "tool": tool, "args": args }).to_string();
        let request = self.gate.request(TurnId::new(turn).unwrap(), "what is the pool?");
        let way = request.screen().await.unwrap().plan(&plan).await.unwrap();
        way.call().unwrap()
    }

    pub(crate) async fn conformant(&self, turn: &str, tool: &str, args: Value) -> Result<Request<Conformant>, Blocked> {
        self.planned(turn, tool, args).await.conform().await
    }

    pub(crate) async fn authorized(&self, turn: &str, tool: &str, args: Value) -> Result<Request<Authorized>, Blocked> {
        self.conformant(turn, tool, args).await?.authorize().await
    }
}
