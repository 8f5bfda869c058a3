//! Hook behind a gate: decides before a tool runs, and afterwards records what the agent reports.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use omen_base::{GateClock, ServerName, SystemClock, ToolId, TurnId};
use omen_gate::arguments::Recordable;
use omen_gate::audit::{Audit, AuditError, Checkpoint, InDoubt, Kind};
use omen_gate::catalog::Catalog;
use omen_gate::confirm::Confirmer;
use omen_gate::server::{Dispatch, ToolServer};
use omen_gate::tool::{Answer, Tool};
use omen_gate::{Authorized, Blocked, BuildError, Config, Dispatched, Fault, Gate, Request, Stopped, Way};
use omen_proxy::episode::{BegunCall, CallEnd, LONGEST_CALL_SECONDS, SeenCall};
use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, watch};

use crate::answer::HELP;
use crate::call_key::{CallKey, SessionKey, hash_of};
use crate::calls::gate_files::GateFiles;
use crate::calls::{CallError, HookCall};
use crate::dialect::Dialect;
use crate::episodes::{BegunCalls, EpisodeFolder, EventEpisodes};
use crate::event::{Event, ToolEvent};
use crate::hook_error::{HookError, with_help};
use crate::outcomes::{self, LogEnd, members};

/// Hook of one agent, with the gate and the audit log of a configuration.
#[derive(Debug)]
pub struct Hook {
    dialect: Dialect,
    config: Config,
    root: PathBuf,
    files: GateFiles,
    catalogue: BTreeMap<ServerName, Vec<Tool>>,
    confirmer: Option<Arc<dyn Confirmer>>,
    patience: Duration,
    clock: Arc<dyn GateClock>,
    /// Logs of episodes, if calls are recorded as such.
    episodes: Option<EpisodeFolder>,
    /// Where the log was verified up to by the event before.
    checkpoint: Mutex<Option<Checkpoint>>,
}

/// Verdict on an event, and what is not recorded of it.
#[derive(Debug)]
#[non_exhaustive]
pub struct HookReport {
    /// Verdict.
    pub verdict: HookVerdict,
    /// What the [episodes](Hook::episodes) do not have of the event, and why. It changes no verdict.
    pub not_recorded: Option<String>,
}

/// Verdict on an event.
#[derive(Debug)]
#[non_exhaustive]
pub enum HookVerdict {
    /// The gate has no objection; the intent has been recorded.
    Allowed(OpenCalls),
    /// The call is denied, for this reason.
    Denied(String),
    /// The agent's settings must not change, for this reason.
    Settings(String),
    /// The event was recorded, or needs no record.
    Noted,
    /// A call ran that was not allowed in this form; the text is the finding, which has been recorded.
    Bypass(String),
}

/// Calls handed over to the agent, which later reports their outcome to another process.
#[must_use = "dropping it records that the gate no longer waits for the calls"]
pub struct OpenCalls {
    /// Dispatched calls; declared first so that they are dropped before the log is closed.
    calls: Vec<Dispatching>,
    begun: BegunCalls,
    log: OpenLog,
}

type Dispatching = Pin<Box<dyn Future<Output = Result<Request<Dispatched>, Stopped>> + Send>>;

/// Log opened for one event. Dropping it lets the next event open the log, even if clones still exist.
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
        // Closed first: otherwise each dropped call would record that its caller went away, but the agent is still there.
        self.log.close();
        self.begun.leave_open();
    }
}

impl fmt::Debug for OpenCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenCalls").field("calls", &self.calls.len()).finish_non_exhaustive()
    }
}

impl Hook {
    /// Creates the hook of an agent. Calls must be made below the configuration's folder.
    ///
    /// # Errors
    /// If the configuration has no server named like the agent.
    pub fn new(dialect: Dialect, config: Config) -> Result<Self, HookError> {
        if !config.servers.contains_key(&dialect.agent) {
            return Err(HookError::NoServer(dialect.agent));
        }
        let root = config.folder.clone().unwrap_or_default();
        let patience = Duration::from_secs(dialect.timeout_seconds) / 2;
        let files = GateFiles::from_config(&config);
        Ok(Self {
            dialect,
            config,
            root,
            files,
            catalogue: BTreeMap::new(),
            confirmer: None,
            patience,
            clock: Arc::new(SystemClock::default()),
            episodes: None,
            checkpoint: Mutex::default(),
        })
    }

    /// Sets the folder below which calls must be made.
    #[must_use]
    pub fn within(self, root: &Path) -> Self {
        Self { root: root.to_owned(), ..self }
    }

    /// Adds a file that belongs to the gate, such as its configuration. Calls that write or name it are refused, as for the files
    /// named in the configuration.
    #[must_use]
    pub fn guard(mut self, file: &Path) -> Self {
        self.files.add(file);
        self
    }

    /// Sets the tools of MCP servers, as printed by `omen gate catalog`. Without it, their tools are unknown.
    #[must_use]
    pub fn catalogue(mut self, catalogue: &Catalog) -> Self {
        for listed in catalogue.iter() {
            self.catalogue.entry(listed.id().server.clone()).or_default().push(listed.tool().clone());
        }
        self
    }

    /// Records each call as an episode, too, in the log of its session: a file in the folder that has the name of the audit log and
    /// the extension `episodes`. What cannot be recorded there changes no verdict.
    #[must_use]
    pub fn episodes(self) -> Self {
        Self { episodes: EpisodeFolder::from_config(&self.config), ..self }
    }

    /// Sets the clock, in place of the system's.
    #[must_use]
    pub fn clock(self, clock: Arc<dyn GateClock>) -> Self {
        Self { clock, ..self }
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
    pub async fn handle(&self, event: Event) -> Result<HookReport, HookError> {
        let episodes = EventEpisodes::new(self.episodes.as_ref(), Arc::clone(&self.clock));
        let verdict = self.verdict(event, &episodes).await?;
        Ok(HookReport { verdict, not_recorded: episodes.not_recorded() })
    }

    async fn verdict(&self, event: Event, episodes: &EventEpisodes<'_>) -> Result<HookVerdict, HookError> {
        match event {
            Event::Before(event) => self.decide(&event, episodes).await,
            Event::After(event, outcome) => {
                let keys = self.keys(&event)?;
                let audit = self.open().await?;
                let context = outcomes::AgentReport { agent: &self.dialect.agent, event: &event, outcome };
                let found = outcomes::report(&audit, &self.config, &context, &keys, episodes)?;
                Ok(found.map_or(HookVerdict::Noted, HookVerdict::Bypass))
            }
            Event::Settings => Ok(HookVerdict::Settings(
                "the settings of the agent cannot change while the gate governs it; help: change them between sessions"
                    .to_owned(),
            )),
            Event::End { session } => {
                let audit = self.open().await?;
                let session = SessionKey::new(&self.dialect.agent, &session);
                outcomes::close(&audit, |doubt| session.has(&doubt.turn), LogEnd::Session, episodes)?;
                let turn = session.turn()?;
                let _ = self
                    .gate(audit.0.clone(), &mpsc::unbounded_channel().0, &watch::channel(false).1, episodes)?
                    .end_turn(&turn);
                // Written after what the end of the session has queued.
                outcomes::record(&audit, Kind::Turn, &turn, members(json!({ "outcome": "over" })))?;
                Ok(HookVerdict::Noted)
            }
            Event::Note => Ok(HookVerdict::Noted),
        }
    }

    async fn decide(&self, event: &ToolEvent, episodes: &EventEpisodes<'_>) -> Result<HookVerdict, HookError> {
        let keys = self.keys(event)?;
        let mut audit = self.open().await?;
        // Normally, the call was already decided and counted at its event for all tools. Otherwise it is decided here.
        let is_decided = |turn: &str| keys.iter().any(|(key, _)| key.has_special_event_of(turn));
        if event.is_special
            && self.checked(event).is_ok()
            && audit.in_doubt().iter().any(|doubt| is_decided(&doubt.turn))
        {
            return Ok(HookVerdict::Allowed(OpenCalls { calls: Vec::new(), begun: BegunCalls::default(), log: audit }));
        }
        // Closed first, since an equal call without an outcome would be refused as one that may already have run (PG-6).
        let is_equal = |turn: &str, call: &str| {
            turn.starts_with(&format!("{}:", self.dialect.agent)) && keys.iter().any(|(key, _)| key.hash == call)
        };
        let is_closed =
            outcomes::close(&audit, |doubt| is_equal(&doubt.turn, &doubt.call), LogEnd::Repeated, episodes)?;
        if self.close_old(&audit, episodes)? || is_closed {
            drop(audit);
            audit = self.open().await?;
        }
        let key = SessionKey::new(&self.dialect.agent, &event.session);
        let (session, number) = (key.turn()?, audit.anchor()?.count());
        let calls = match self.checked(event) {
            Ok(calls) => calls,
            Err(why) => {
                if let Some((call, tool)) = keys.first() {
                    let (turn, code) = (call.turn(number)?, "PG-3");
                    episodes.refuse(
                        &key,
                        &audit,
                        &seen(&turn, call, tool, (&event.input, Recordable::default())),
                        (code, &why),
                    );
                    let entry = json!({ "code": code, "outcome": "denied", "tool": tool, "why": why });
                    outcomes::record(&audit, Kind::Decision, &turn, members(entry))?;
                }
                return Ok(HookVerdict::Denied(format!("PG-3: {why}")));
            }
        };
        let (handed_over, mut hand_overs) = mpsc::unbounded_channel();
        let (withdraw, withdrawn) = watch::channel(false);
        let gate = self.gate(audit.0.clone(), &handed_over, &withdrawn, episodes)?;
        let (mut open, mut begun) = (Vec::<Dispatching>::new(), BegunCalls::default());
        for (call, (call_key, tool)) in calls.iter().zip(&keys) {
            let turn = call_key.turn(number)?;
            let seen = seen(&turn, call_key, tool, (&call.args, gate.recordable(&call.tool, &call.args)));
            let refused = match authorized(&gate, turn.clone(), session.clone(), &plan(call)).await {
                Ok(request) => {
                    let permissions = request.authorized().demand().permissions.clone();
                    let seen = SeenCall { permissions: Some(&permissions), ..seen };
                    let episode = episodes.begin(&key, &audit, &seen);
                    let request = match episode.as_ref().and_then(BegunCall::packet) {
                        Some((packet_id, correlation_id)) => request.of_packet(packet_id, correlation_id),
                        None => request,
                    };
                    begun.push(episode);
                    let mut dispatching: Dispatching = Box::pin(request.dispatch());
                    tokio::select! {
                        biased;
                        _ = hand_overs.recv() => {
                            open.push(dispatching);
                            None
                        }
                        ended = &mut dispatching => Some(reason(ended)),
                    }
                }
                Err(stopped) => {
                    let why = stopped.to_string();
                    let why = if seen.recordable.may_quote(&why) { why } else { stopped.unquoted() };
                    episodes.refuse(&key, &audit, &seen, (stopped.code().as_str(), &why));
                    Some(reason(Err(stopped)))
                }
            };
            if let Some(why) = refused {
                begun.end(&CallEnd::DidNotRun("a call of the same event was refused".to_owned()));
                withdraw.send_replace(true);
                for call in open {
                    let _ = call.await;
                }
                return Ok(HookVerdict::Denied(why));
            }
        }
        Ok(HookVerdict::Allowed(OpenCalls { calls: open, begun, log: audit }))
    }

    /// Closes calls of the agent without an outcome whose time is over, where the episodes would wait for them forever.
    fn close_old(&self, audit: &Audit, episodes: &EventEpisodes<'_>) -> Result<bool, HookError> {
        let now: omen_types::Instant = episodes.now();
        let prefix = format!("{}:", self.dialect.agent);
        let is_old = |doubt: &InDoubt| {
            let since = doubt.time.parse::<omen_types::Instant>();
            doubt.correlation_id.is_some()
                && doubt.turn.starts_with(&prefix)
                && since.is_ok_and(|since| since.plus_seconds(LONGEST_CALL_SECONDS) < now)
        };
        outcomes::close(audit, is_old, LogEnd::Late, episodes)
    }

    /// Returns the calls of an event after checking that they are made where the policy applies and do not touch the gate.
    fn checked(&self, event: &ToolEvent) -> Result<Vec<HookCall>, String> {
        self.check_folder(&event.cwd, "start the agent there")?;
        let calls = self.calls(event).map_err(|error| error.to_string())?;
        for call in &calls {
            if let Some(member) = self.dialect.form_of(&call.tool).and_then(|form| form.cwd.as_deref())
                && let Some(folder) = call.args.get(member).and_then(Value::as_str)
            {
                self.check_folder(&event.cwd.join(folder), &format!("omit `{member}`, or set it to a folder there"))?;
            }
            let guarded = self.dialect.guard(call, &event.cwd, &self.files, self.config.demand(&call.tool));
            guarded.map_err(|error| error.to_string())?;
        }
        Ok(calls)
    }

    /// Calls that an event asks for. A tool whose server the event does not name is that of the only one that lists it.
    fn calls(&self, event: &ToolEvent) -> Result<Vec<HookCall>, CallError> {
        let tools =
            self.catalogue.iter().flat_map(|(server, tools)| tools.iter().map(move |tool| (server, &tool.name)));
        let servers = self.config.servers.keys();
        match self.dialect.listed(event, tools)? {
            Some(mcp) => self.dialect.calls(&ToolEvent { mcp: Some(mcp), ..event.clone() }, servers),
            None => self.dialect.calls(event, servers),
        }
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

    /// Returns the keys of an event's calls, with their tools. An event that cannot be judged also has a key.
    fn keys(&self, event: &ToolEvent) -> Result<Vec<(CallKey, Value)>, HookError> {
        let session = SessionKey::new(&self.dialect.agent, &event.session);
        let key = |server: &str, tool: &str, args: &Map<String, Value>| {
            let key = CallKey::new(&session, event.call.as_deref(), hash_of(server, tool, args));
            (key, json!({ "server": server, "tool": tool }))
        };
        Ok(match self.calls(event) {
            Ok(calls) => calls
                .iter()
                .map(|HookCall { tool: id @ ToolId { server, tool }, args }| {
                    let (own, name) = key(server.as_str(), tool.as_str(), args);
                    let special = self.dialect.in_special_event(id, args);
                    (own.with_special(special.map(|args| hash_of(server.as_str(), tool.as_str(), &args))), name)
                })
                .collect(),
            Err(_) => vec![key(self.dialect.agent.as_str(), &omen_base::bounded(&event.tool), &event.input)],
        })
    }

    /// Opens the log. Hooks of parallel calls wait for each other.
    async fn open(&self) -> Result<OpenLog, HookError> {
        let until = Instant::now() + self.patience;
        loop {
            let opened = {
                let mut checkpoint = self.checkpoint.lock().unwrap_or_else(PoisonError::into_inner);
                Gate::open_audit_after(&self.config, Arc::clone(&self.clock), &mut checkpoint)
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
        episodes: &EventEpisodes<'_>,
    ) -> Result<Gate, HookError> {
        let mut builder =
            Gate::builder(self.config.clone()).clock(Arc::clone(&self.clock)).audit(audit).leaves_calls_open();
        if let Some(confirmer) = &self.confirmer {
            builder = builder.confirmer(episodes.answers.witness(Arc::clone(confirmer)));
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

/// Server whose calls are run by the agent. They are handed over only after their intent has been recorded in the audit log.
#[derive(Clone, Debug)]
struct VirtualServer {
    tools: Arc<[Tool]>,
    handed_over: mpsc::UnboundedSender<()>,
    /// Whether calls already handed over are withdrawn, because another call of the same event was refused.
    withdrawn: watch::Receiver<bool>,
}

#[async_trait]
impl ToolServer for VirtualServer {
    async fn list(&self) -> Result<Vec<Tool>, Fault> {
        Ok(self.tools.to_vec())
    }

    async fn call(&self, _: Dispatch) -> Result<Answer, Fault> {
        let _ = self.handed_over.send(());
        let mut withdrawn = self.withdrawn.clone();
        match withdrawn.wait_for(|is_withdrawn| *is_withdrawn).await {
            Ok(_) => Err(Fault::unreachable("another call of the same event was refused, so the agent is denied both")),
            Err(_) => Err(Fault::Cancelled),
        }
    }
}

/// Call as its episode has it.
fn seen<'c>(
    turn: &'c TurnId,
    key: &CallKey,
    tool: &Value,
    (args, recordable): (&'c Map<String, Value>, Recordable),
) -> SeenCall<'c> {
    let name = |member: &str| tool.get(member).and_then(Value::as_str).unwrap_or_default();
    let tool = format!("{}/{}", name("server"), name("tool"));
    SeenCall { turn, tool, hash: key.hash.clone(), args, recordable, permissions: None }
}

/// Takes a call through the steps of the gate until the agent may make it.
async fn authorized(gate: &Gate, turn: TurnId, session: TurnId, plan: &str) -> Result<Request<Authorized>, Stopped> {
    let request = gate.request(turn, "").of_session(session).screen().await?;
    let Way::Call(request) = request.plan(plan).await? else {
        let message = "the event does not ask for a call";
        return Err(
            Blocked::new(omen_gate::GateCode::Pg1, message, "this is a bug in the hook; please report it").into()
        );
    };
    Ok(request.conform().await?.authorize().await?)
}

fn plan(HookCall { tool, args }: &HookCall) -> String {
    json!({ "type": "call_tool", "server": tool.server, "tool": tool.tool, "args": args }).to_string()
}

/// Formats the reason of a refusal for the agent.
fn reason(ended: Result<Request<Dispatched>, Stopped>) -> String {
    match ended {
        Err(Stopped::Blocked(blocked)) => with_help(&blocked.to_string(), &blocked.help),
        Err(stopped) => stopped.to_string(),
        Ok(_) => "the call ended before it was handed over".to_owned(),
    }
}
