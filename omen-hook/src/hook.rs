//! Hook behind a gate: decides before a tool runs, and records what the agent reports after it.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use omen_base::{GateClock, ServerName, SystemClock, ToolId};
use omen_gate::audit::{Audit, AuditError, Checkpoint, Kind};
use omen_gate::catalog::Catalog;
use omen_gate::confirm::Confirmer;
use omen_gate::tool::Tool;
use omen_gate::{Blocked, BuildError, Config, Dispatched, Gate, Request, Stopped, Way};
use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, watch};

use crate::answer::HELP;
use crate::call_key::{CallKey, SessionKey, hash_of};
use crate::calls::HookCall;
use crate::dialect::Dialect;
use crate::event::{Event, ToolEvent};
use crate::gate_files::GateFiles;
use crate::hook_error::{HookError, with_help};
use crate::outcomes::{self, LogEnd, members};
use crate::virtual_server::VirtualServer;

/// Hook of one agent behind a gate, over the audit log of a configuration.
#[derive(Debug)]
pub struct Hook {
    dialect: Dialect,
    config: Config,
    root: PathBuf,
    files: GateFiles,
    catalogue: BTreeMap<ServerName, Vec<Tool>>,
    confirmer: Option<Arc<dyn Confirmer>>,
    patience: Duration,
    /// Where the log was verified up to by the event before.
    checkpoint: Mutex<Option<Checkpoint>>,
}

/// Verdict on an event.
#[derive(Debug)]
#[non_exhaustive]
pub enum HookVerdict {
    /// The gate has no objection; the intent is in the log.
    Allowed(OpenCalls),
    /// The call is denied; reason.
    Denied(String),
    /// The settings of the agent may not change; reason.
    Settings(String),
    /// The event was recorded, or needs nothing.
    Noted,
    /// A call ran that was not allowed in this form; the finding, which is in the log.
    Bypass(String),
}

/// Calls that were handed over to the agent, and whose outcome it reports later, to another process.
#[must_use = "dropping it records that the gate no longer waits for the calls"]
pub struct OpenCalls {
    /// Dropped before the log is closed.
    calls: Vec<Dispatching>,
    log: OpenLog,
}

type Dispatching = Pin<Box<dyn Future<Output = Result<Request<Dispatched>, Stopped>> + Send>>;

/// Log that is open for one event. Dropping it lets the next event open it, even if something still has a clone.
struct OpenLog(Audit);

impl Drop for OpenLog {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl Deref for OpenLog {
    type Target = Audit;

    fn deref(&self) -> &Audit {
        &self.0
    }
}

impl OpenCalls {
    /// Leaves the calls open in the log.
    pub fn leave_open(self) {
        // Otherwise each would record that its caller went away: the agent is still there.
        self.log.close();
    }
}

impl fmt::Debug for OpenCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenCalls").field("calls", &self.calls.len()).finish_non_exhaustive()
    }
}

impl Hook {
    /// Creates the hook of an agent. Calls must be made below the folder of the configuration.
    ///
    /// # Errors
    /// If the configuration has no server of the agent's name.
    pub fn new(dialect: Dialect, config: Config) -> Result<Self, HookError> {
        if !config.servers.contains_key(&dialect.agent) {
            return Err(HookError::NoServer(dialect.agent));
        }
        let root = config.folder.clone().unwrap_or_default();
        let patience = Duration::from_secs(dialect.timeout_seconds) / 2;
        let files = GateFiles::of(&config);
        Ok(Self {
            dialect,
            config,
            root,
            files,
            catalogue: BTreeMap::new(),
            confirmer: None,
            patience,
            checkpoint: Mutex::default(),
        })
    }

    /// Sets the folder below which calls must be made.
    #[must_use]
    pub fn within(self, root: &Path) -> Self {
        Self { root: root.to_owned(), ..self }
    }

    /// Adds a file that belongs to the gate, such as its configuration: calls that write or name it are refused, as for the
    /// files that the configuration names.
    #[must_use]
    pub fn guard(mut self, file: &Path) -> Self {
        self.files.add(file);
        self
    }

    /// Sets the tools of MCP servers, as `omen gate catalog` prints them. Without them no tool of theirs is known.
    #[must_use]
    pub fn catalogue(mut self, catalogue: &Catalog) -> Self {
        for listed in catalogue.iter() {
            self.catalogue.entry(listed.id().server.clone()).or_default().push(listed.tool().clone());
        }
        self
    }

    /// Sets who confirms calls. Without a confirmer, calls that need a confirmation are denied.
    #[must_use]
    pub fn confirmer(self, confirmer: Arc<dyn Confirmer>) -> Self {
        Self { confirmer: Some(confirmer), ..self }
    }

    /// Handles one event.
    ///
    /// # Errors
    /// If nothing could be decided or recorded. For an event before a call that is a denial.
    pub async fn handle(&self, event: Event) -> Result<HookVerdict, HookError> {
        match event {
            Event::Before(event) => self.decide(&event).await,
            Event::After(event, outcome) => {
                let keys = self.keys(&event)?;
                let audit = self.open().await?;
                let context = outcomes::AgentReport { agent: &self.dialect.agent, event: &event, outcome };
                let found = outcomes::report(&audit, &self.config, &context, &keys)?;
                Ok(found.map_or(HookVerdict::Noted, HookVerdict::Bypass))
            }
            Event::Settings => Ok(HookVerdict::Settings(
                "the settings of the agent cannot change while the gate governs it; help: change them between sessions"
                    .to_owned(),
            )),
            Event::End { session } => {
                let audit = self.open().await?;
                let session = SessionKey::new(&self.dialect.agent, &session);
                outcomes::close(&audit, |doubt| session.has(&doubt.turn), LogEnd::Session)?;
                let turn = session.turn()?;
                let _ =
                    self.gate(audit.0.clone(), &mpsc::unbounded_channel().0, &watch::channel(false).1)?.end_turn(&turn);
                // Written after what the end of the session has queued.
                outcomes::record(&audit, Kind::Turn, &turn, members(json!({ "outcome": "over" })))?;
                Ok(HookVerdict::Noted)
            }
            Event::Note => Ok(HookVerdict::Noted),
        }
    }

    async fn decide(&self, event: &ToolEvent) -> Result<HookVerdict, HookError> {
        let keys = self.keys(event)?;
        let mut audit = self.open().await?;
        // The call was decided, and counted, when its event for all tools came. Without that one, it is decided here.
        let is_decided = |turn: &str| keys.iter().any(|(key, _)| key.has_special_event_of(turn));
        if event.is_special
            && self.checked(event).is_ok()
            && audit.in_doubt().iter().any(|doubt| is_decided(&doubt.turn))
        {
            return Ok(HookVerdict::Allowed(OpenCalls { calls: Vec::new(), log: audit }));
        }
        // An equal call without an outcome would be refused as one that may have run already (PG-6).
        let is_equal = |turn: &str, call: &str| {
            turn.starts_with(&format!("{}:", self.dialect.agent)) && keys.iter().any(|(key, _)| key.hash == call)
        };
        if outcomes::close(&audit, |doubt| is_equal(&doubt.turn, &doubt.call), LogEnd::Repeated)? {
            drop(audit);
            audit = self.open().await?;
        }
        let session = SessionKey::new(&self.dialect.agent, &event.session).turn()?;
        let number = audit.anchor()?.count();
        let calls = match self.checked(event) {
            Ok(calls) => calls,
            Err(why) => {
                let first = keys.first().map(|(key, tool)| (key, tool.clone()));
                if let Some((key, tool)) = first {
                    let entry = json!({ "code": "PG-3", "outcome": "denied", "tool": tool, "why": why });
                    outcomes::record(&audit, Kind::Decision, &key.turn(number)?, members(entry))?;
                }
                return Ok(HookVerdict::Denied(format!("PG-3: {why}")));
            }
        };
        let (handed_over, mut hand_overs) = mpsc::unbounded_channel();
        let (withdraw, withdrawn) = watch::channel(false);
        let gate = self.gate(audit.0.clone(), &handed_over, &withdrawn)?;
        let mut open: Vec<Dispatching> = Vec::new();
        for (call, (key, _)) in calls.iter().zip(&keys) {
            let call = authorize_and_dispatch(gate.clone(), key.turn(number)?, session.clone(), plan(call));
            let mut dispatching: Dispatching = Box::pin(call);
            let refused = tokio::select! {
                biased;
                _ = hand_overs.recv() => None,
                ended = &mut dispatching => Some(ended),
            };
            match refused {
                None => open.push(dispatching),
                Some(ended) => {
                    withdraw.send_replace(true);
                    for call in open {
                        let _ = call.await;
                    }
                    return Ok(HookVerdict::Denied(reason(ended)));
                }
            }
        }
        Ok(HookVerdict::Allowed(OpenCalls { calls: open, log: audit }))
    }

    /// Calls of an event, if they are made where the policy holds, and leave the gate alone.
    fn checked(&self, event: &ToolEvent) -> Result<Vec<HookCall>, String> {
        self.check_folder(&event.cwd, "start the agent there")?;
        let calls = self.dialect.calls(event, self.config.servers.keys()).map_err(|error| error.to_string())?;
        for call in &calls {
            if let Some(member) = self.dialect.form_of(&call.tool).and_then(|form| form.cwd.as_deref())
                && let Some(folder) = call.args.get(member).and_then(Value::as_str)
            {
                self.check_folder(&event.cwd.join(folder), &format!("leave `{member}` out, or name a folder there"))?;
            }
            let guarded = self.dialect.guard(call, &event.cwd, &self.files, self.config.demand(&call.tool));
            guarded.map_err(|error| error.to_string())?;
        }
        Ok(calls)
    }

    /// Checks that a call is made below the root.
    fn check_folder(&self, folder: &Path, help: &str) -> Result<(), String> {
        let root = if self.root.as_os_str().is_empty() { Path::new(".") } else { &self.root };
        let is_within = match (root.canonicalize(), folder.canonicalize()) {
            (Ok(root), Ok(real)) => folder.is_absolute() && real.starts_with(root),
            _ => false,
        };
        if is_within {
            return Ok(());
        }
        Err(format!("the working directory of the call is not below `{}`{HELP}{help}", root.display()))
    }

    /// Keys of the calls of an event, with their tools. An event that cannot be judged has one, too.
    fn keys(&self, event: &ToolEvent) -> Result<Vec<(CallKey, Value)>, HookError> {
        let session = SessionKey::new(&self.dialect.agent, &event.session);
        let key = |server: &str, tool: &str, args: &Map<String, Value>| {
            let key = CallKey::new(&session, event.call.as_deref(), hash_of(server, tool, args));
            (key, json!({ "server": server, "tool": tool }))
        };
        Ok(match self.dialect.calls(event, self.config.servers.keys()) {
            Ok(calls) => calls
                .iter()
                .map(|HookCall { tool: ToolId { server, tool }, args }| {
                    let (own, name) = key(server.as_str(), tool.as_str(), args);
                    let special = self.dialect.in_special_event(tool, args);
                    (own.with_special(special.map(|args| hash_of(server.as_str(), tool.as_str(), &args))), name)
                })
                .collect(),
            Err(_) => vec![key(self.dialect.agent.as_str(), &omen_base::bounded(&event.tool), &event.input)],
        })
    }

    /// Opens the log. Hooks of parallel calls take turns.
    async fn open(&self) -> Result<OpenLog, HookError> {
        let until = Instant::now() + self.patience;
        loop {
            let opened = {
                let mut checkpoint = self.checkpoint.lock().unwrap_or_else(PoisonError::into_inner);
                Gate::open_audit_after(&self.config, clock(), &mut checkpoint)
            };
            match opened {
                Err(BuildError::Audit(AuditError::InUse(_))) if Instant::now() < until => {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                opened => return Ok(OpenLog(opened?)),
            }
        }
    }

    fn gate(
        &self,
        audit: Audit,
        handed_over: &mpsc::UnboundedSender<()>,
        withdrawn: &watch::Receiver<bool>,
    ) -> Result<Gate, HookError> {
        let mut builder = Gate::builder(self.config.clone()).clock(clock()).audit(audit).leaves_calls_open();
        if let Some(confirmer) = &self.confirmer {
            builder = builder.confirmer(SharedConfirmer(Arc::clone(confirmer)));
        }
        for name in self.config.servers.keys() {
            let tools = match *name == self.dialect.agent {
                true => self.dialect.tools(),
                false => self.catalogue.get(name).cloned().unwrap_or_default(),
            };
            let (handed_over, withdrawn) = (handed_over.clone(), withdrawn.clone());
            builder = builder.server(name.clone(), VirtualServer { tools: tools.into(), handed_over, withdrawn });
        }
        Ok(builder.build()?)
    }
}

/// Confirmer that several gates share.
#[derive(Debug)]
struct SharedConfirmer(Arc<dyn Confirmer>);

#[async_trait::async_trait]
impl Confirmer for SharedConfirmer {
    async fn confirm(&self, question: &omen_gate::confirm::Question) -> omen_gate::confirm::Reply {
        self.0.confirm(question).await
    }
}

/// Takes a call through all steps of the gate.
async fn authorize_and_dispatch(
    gate: Gate,
    turn: omen_base::TurnId,
    session: omen_base::TurnId,
    plan: String,
) -> Result<Request<Dispatched>, Stopped> {
    let request = gate.request(turn, "").of_session(session).screen().await?;
    let Way::Call(request) = request.plan(&plan).await? else {
        let message = "the event asks for no call";
        return Err(
            Blocked::new(omen_gate::GateCode::Pg1, message, "this is a bug in the hook; please report it").into()
        );
    };
    request.conform().await?.authorize().await?.dispatch().await
}

fn plan(HookCall { tool, args }: &HookCall) -> String {
    json!({ "type": "call_tool", "server": tool.server, "tool": tool.tool, "args": args }).to_string()
}

/// Reason of a refusal, for the agent.
fn reason(ended: Result<Request<Dispatched>, Stopped>) -> String {
    match ended {
        Err(Stopped::Blocked(blocked)) => with_help(&blocked.to_string(), &blocked.help),
        Err(stopped) => stopped.to_string(),
        Ok(_) => "the call ended before it was handed over".to_owned(),
    }
}

fn clock() -> Arc<dyn GateClock> {
    Arc::new(SystemClock::default())
}
