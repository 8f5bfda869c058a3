//! Gate of a configuration, as a Python object.

use std::collections::BTreeMap;
use std::mem;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use omen_gate::audit::Audit;
use omen_gate::catalog::pin;
use omen_gate::order::owed_line;
use omen_gate::tool::Tool;
use omen_gate::{
    Blocked, Config, Gate, Grant, Permission, ReloadError, ServerName, Source, SystemClock, ToolId, TurnId,
};
use pyo3::prelude::*;
use serde_json::json;
use tokio::runtime::{Builder, Runtime};
use tokio::task::AbortHandle;

use super::callers::{Caller, Callers, Event, OpenCall};
use super::pending::PendingCall;
use super::refusal::{self, gate_error};
use super::servers::{PythonConfirmer, PythonServer, SharedServer};
use super::steps::{self, CallRequest};

/// Runtime of this process. After a fork, that of the parent has no threads in the child, which gets another one.
static RUNTIME: Mutex<Option<(u32, &'static Runtime)>> = Mutex::new(None);

/// Returns the runtime of this process; starts it if there is none.
fn runtime() -> PyResult<&'static Runtime> {
    let mut started = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    match *started {
        Some((owner, runtime)) if owner == process => Ok(runtime),
        _ => {
            let built = Builder::new_multi_thread().worker_threads(2).thread_name("omen-gate").enable_all().build();
            let built = built.map_err(|error| gate_error(&format!("no threads can be started: {error}"), ""))?;
            // One for each process, to its end: dropping it would wait for tools that block.
            let runtime: &'static Runtime = Box::leak(Box::new(built));
            *started = Some((process, runtime));
            Ok(runtime)
        }
    }
}

/// Number of gates that this process has made, for their names.
static GATES: AtomicUsize = AtomicUsize::new(0);

/// Longest time that closing a gate waits for its open calls to be dropped.
const PATIENCE: Duration = Duration::from_secs(5);

/// Gate with its log, its own servers and its open calls.
#[pyclass(frozen, module = "omen._core")]
pub(super) struct GateCore {
    parts: Option<Parts>,
    process: u32,
}

struct Parts {
    /// `None` once it is closed: dropping the gate ends the servers that it has started.
    gate: Mutex<Option<Gate>>,
    audit: Audit,
    servers: Vec<String>,
    own: BTreeMap<ServerName, Arc<PythonServer>>,
    callers: Arc<Callers>,
    confirms: Arc<AtomicBool>,
    /// Name of this gate: it begins the ids of its calls, which no other gate of the log repeats.
    name: String,
    calls: AtomicU64,
    open: Mutex<Vec<AbortHandle>>,
}

#[pymethods]
impl GateCore {
    /// Loads the configuration of a file. Its log is open from then on, and its servers run.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let config = Config::load(&path).map_err(|errors| config_error(&path.display().to_string(), &errors))?;
        py.detach(|| Self::start(config))
    }

    /// Reads a configuration from a text, whose paths are relative to the working directory.
    #[staticmethod]
    fn parse(py: Python<'_>, text: &str) -> PyResult<Self> {
        let config = Config::parse(text).map_err(|errors| config_error("the configuration", &errors))?;
        py.detach(|| Self::start(config))
    }

    /// Servers of the configuration whose tools this program has.
    fn own_servers(&self) -> PyResult<Vec<String>> {
        Ok(self.parts()?.own.keys().map(ToString::to_string).collect())
    }

    /// All servers of the configuration.
    fn servers(&self) -> PyResult<Vec<String>> {
        Ok(self.parts()?.servers.clone())
    }

    /// Adds a tool, or replaces the one of its name, by its form in JSON. Returns its pin.
    fn put_tool(&self, server: &str, form: &str) -> PyResult<String> {
        let parts = self.parts()?;
        let server = parts.own_server(server)?;
        let tool: Tool = serde_json::from_str(form).map_err(|error| {
            gate_error(&format!("invalid form of a tool: {error}"), "check its name and its schemas")
        })?;
        let pinned = pin(&tool).map_err(|error| gate_error(&format!("`{}`: {error}", tool.name), ""))?;
        server.put(tool);
        Ok(pinned.to_string())
    }

    /// Checks what a program states that a tool of its own needs against what the configuration says of the tool. A tool
    /// that is not allowed passes: its calls are refused.
    fn check_permissions(&self, server: &str, tool: &str, needed: Vec<String>) -> PyResult<()> {
        let needed = needed.into_iter().map(|name| permission(tool, name)).collect::<PyResult<Vec<_>>>()?;
        let Some(stated) = self.parts()?.gate()?.permissions(&tool_id(server, tool)?) else { return Ok(()) };
        match needed.into_iter().find(|needed| !stated.contains(*needed)) {
            None => Ok(()),
            Some(missing) => {
                let message =
                    format!("`{server}/{tool}` needs `{missing}`, but the configuration says that it does not");
                Err(gate_error(
                    &message,
                    &format!("add `{missing}` to its `permissions` in `[[allow]]` and `[[grants]]`"),
                ))
            }
        }
    }

    /// Sets whether the program has a function that confirms calls.
    fn set_confirms(&self, confirms: bool) -> PyResult<()> {
        self.parts()?.confirms.store(confirms, Ordering::Release);
        Ok(())
    }

    /// Id that is unique in the log, for a turn or a session.
    fn fresh_id(&self, kind: &str) -> PyResult<String> {
        let parts = self.parts()?;
        Ok(format!("{}.{kind}{}", parts.name, parts.calls.fetch_add(1, Ordering::Relaxed)))
    }

    /// Begins a call. `wake` is called whenever there is an event.
    #[pyo3(signature = (server, tool, args, session, user_turn=None, query=None, wake=None))]
    #[allow(clippy::too_many_arguments, reason = "an interface between two languages, which only `gate.py` calls")]
    fn begin(
        &self,
        server: &str,
        tool: &str,
        args: String,
        session: &str,
        user_turn: Option<&str>,
        query: Option<String>,
        wake: Option<Py<PyAny>>,
    ) -> PyResult<PendingCall> {
        let parts = self.parts()?;
        let gate = parts.gate()?;
        let turn = turn_id(&self.fresh_id("")?)?;
        let request = CallRequest {
            turn: turn.clone(),
            session: turn_id(session)?,
            user_turn: user_turn.map(turn_id).transpose()?,
            query,
            server: server.to_owned(),
            tool: tool.to_owned(),
            args,
        };
        let (runtime, (events, received)) = (runtime()?, mpsc::channel());
        let caller = Caller::new(events, wake, runtime.handle());
        let open = parts.callers.add(&turn, caller.clone());
        let task = runtime.spawn(carry_out(open, gate, caller, request));
        let handle = task.abort_handle();
        let mut tasks = parts.open.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.retain(|task| !task.is_finished());
        tasks.push(handle.clone());
        Ok(PendingCall::new(received, handle))
    }

    /// Forgets a turn or session that is over, and returns what it owes by the order rules.
    fn end(&self, id: &str) -> PyResult<Vec<String>> {
        let (gate, id) = (self.parts()?.gate()?, turn_id(id)?);
        Ok(gate.end_turn(&id).iter().map(|owed| owed_line(std::slice::from_ref(owed))).collect())
    }

    /// What a session owes now by the order rules.
    fn owed(&self, session: &str) -> PyResult<Vec<String>> {
        let owed = self.parts()?.gate()?.owed(&turn_id(session)?);
        Ok(owed.iter().map(|owed| owed_line(std::slice::from_ref(owed))).collect())
    }

    /// Adds a grant, and returns its id. It is in the log before it is in force.
    #[pyo3(signature = (server, tool, permission, is_of_user, ttl_seconds=None, uses=None, pre_granted=false))]
    #[allow(clippy::too_many_arguments, reason = "an interface between two languages, which only `gate.py` calls")]
    fn grant(
        &self,
        py: Python<'_>,
        server: &str,
        tool: &str,
        permission: String,
        is_of_user: bool,
        ttl_seconds: Option<u32>,
        uses: Option<NonZeroU32>,
        pre_granted: bool,
    ) -> PyResult<String> {
        let (gate, turn) = (self.parts()?.gate()?, turn_id(&self.fresh_id("g")?)?);
        let later = |seconds: u32| SystemTime::now().checked_add(Duration::from_secs(seconds.into()));
        let grant = Grant {
            tool: tool_id(server, tool)?,
            permission: self::permission(tool, permission)?,
            source: if is_of_user { Source::User } else { Source::Operator },
            expires: ttl_seconds.and_then(later),
            uses,
            pre_granted,
        };
        let runtime = runtime()?;
        let given = py.detach(|| runtime.block_on(gate.grant(&turn, grant))).map_err(|why| blocked(&why))?;
        Ok(json!(given).to_string())
    }

    /// Revokes the grants of a permission for a tool, and returns their ids as JSON. This is in force at once.
    fn revoke(&self, py: Python<'_>, server: &str, tool: &str, permission: String) -> PyResult<String> {
        let (gate, turn) = (self.parts()?.gate()?, turn_id(&self.fresh_id("g")?)?);
        let (id, permission) = (tool_id(server, tool)?, self::permission(tool, permission)?);
        let runtime = runtime()?;
        let revoked = py.detach(|| runtime.block_on(gate.revoke(&turn, &id, permission)));
        revoked.map(|ids| json!(ids).to_string()).map_err(|why| blocked(&why))
    }

    /// Puts the configuration of a file in force, whole or not at all, and returns what has changed as JSON.
    fn reload(&self, py: Python<'_>, path: PathBuf) -> PyResult<String> {
        let (gate, runtime) = (self.parts()?.gate()?, runtime()?);
        match py.detach(|| runtime.block_on(gate.reload_file(&path))) {
            Ok(reloaded) => Ok(json!({
                "before": reloaded.before, "given": reloaded.given, "policy": reloaded.policy, "revoked": reloaded.revoked,
            })
            .to_string()),
            Err(ReloadError::Invalid(errors)) => Err(config_error(&path.display().to_string(), &errors)),
            Err(ReloadError::Refused(why)) => Err(blocked(&why)),
            Err(other) => Err(gate_error(&other.to_string(), "")),
        }
    }

    /// Ends all open calls, writes what is queued, and closes the log. Every later call is an error.
    fn close(&self, py: Python<'_>) {
        // In a forked child, the log is the parent's.
        if let Ok(parts) = self.parts() {
            py.detach(|| parts.close());
        }
    }
}

impl GateCore {
    fn start(config: Config) -> PyResult<Self> {
        let runtime = runtime()?;
        let (callers, confirms) = (Arc::<Callers>::default(), Arc::<AtomicBool>::default());
        let audit = Gate::open_audit(&config, Arc::new(SystemClock::default())).map_err(build_error)?;
        let programs =
            config.servers.iter().filter(|(_, server)| server.command.is_none() && server.endpoint.is_none());
        let own: BTreeMap<_, _> =
            programs.map(|(name, _)| (name.clone(), Arc::new(PythonServer::new(Arc::clone(&callers))))).collect();
        if let Some((name, _)) = config.servers.iter().find(|(_, server)| server.endpoint.is_some()) {
            audit.close();
            let message = format!("the server `{name}` has a `url`, which only `omen gate proxy` reaches");
            let help = "omit the `url`, and pass the tools of your own session to `omen.adapters.mcp`";
            return Err(gate_error(&message, help));
        }
        let servers = config.servers.keys().map(ToString::to_string).collect();
        let confirmer = PythonConfirmer { callers: Arc::clone(&callers), is_set: Arc::clone(&confirms) };
        let mut builder = Gate::builder(config).audit(audit.clone()).confirmer(confirmer);
        for (name, server) in &own {
            builder = builder.server(name.clone(), SharedServer(Arc::clone(server)));
        }
        let built = runtime.block_on(async {
            let builder = builder.start_servers().await.map_err(|why| gate_error(&why.to_string(), &why.help))?;
            builder.build().map_err(build_error)
        });
        let gate = built.inspect_err(|_| audit.close())?;
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let number = GATES.fetch_add(1, Ordering::Relaxed);
        let name = format!("py-{:x}-{:x}-{number:x}", since.as_millis(), std::process::id());
        let parts = Parts {
            gate: Mutex::new(Some(gate)),
            audit,
            servers,
            own,
            callers,
            confirms,
            name,
            calls: AtomicU64::new(1),
            open: Mutex::default(),
        };
        Ok(Self { parts: Some(parts), process: std::process::id() })
    }

    fn parts(&self) -> PyResult<&Parts> {
        match &self.parts {
            Some(parts) if self.process == std::process::id() => Ok(parts),
            _ => Err(gate_error("the gate belongs to another process", "load a gate in each process, after the fork")),
        }
    }
}

impl Parts {
    fn gate(&self) -> PyResult<Gate> {
        let gate = self.gate.lock().unwrap_or_else(PoisonError::into_inner).clone();
        gate.ok_or_else(|| gate_error("the gate is closed", "load it again"))
    }

    fn own_server(&self, name: &str) -> PyResult<&PythonServer> {
        let found = ServerName::new(name).ok().and_then(|name| self.own.get(&name));
        found.map(Arc::as_ref).ok_or_else(|| {
            let known = self.own.keys().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let message = format!("the configuration has no server `{name}` that this program provides");
            let help = match known.is_empty() {
                true => format!("add an empty table to it: `[servers.{name}]`"),
                false => format!("expected one of {known}"),
            };
            gate_error(&message, &help)
        })
    }

    fn close(&self) {
        let Some(gate) = self.gate.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
        self.open.lock().unwrap_or_else(PoisonError::into_inner).drain(..).for_each(|task| task.abort());
        self.callers.wait_until_none(PATIENCE);
        self.audit.close();
        let _runtime = runtime().map(|runtime| runtime.enter());
        drop(gate);
    }
}

impl Drop for GateCore {
    fn drop(&mut self) {
        match self.parts.take() {
            Some(parts) if self.process == std::process::id() => parts.close(),
            // The threads that would end it are those of the parent.
            parts => mem::forget(parts),
        }
    }
}

/// Takes a call through the gate, and reports its end. `open` is dropped last: a call is open until all of it is dropped, and so
/// everything of it is queued for the log.
async fn carry_out(open: OpenCall, gate: Gate, caller: Caller, request: CallRequest) {
    let (turn, is_own_turn) = (request.turn.clone(), request.user_turn.is_none());
    let outcome = steps::take(&gate, request, &caller).await;
    if is_own_turn {
        drop(gate.end_turn(&turn));
    }
    let ended = match outcome {
        Ok(answer) => serde_json::to_string(&answer).map_err(|error| error.to_string()),
        Err(refused) => Err(refusal::to_json(&refused, &turn, caller.hash())),
    };
    // The call is over before its caller learns of it, and may close the gate.
    drop(open);
    caller.send(Event::End(ended));
}

fn turn_id(text: &str) -> PyResult<TurnId> {
    TurnId::new(text).map_err(|error| gate_error(&error.to_string(), ""))
}

fn tool_id(server: &str, tool: &str) -> PyResult<ToolId> {
    let wrong = |error: omen_gate::BadName| gate_error(&error.to_string(), "");
    Ok(ToolId { server: server.parse().map_err(wrong)?, tool: tool.parse().map_err(wrong)? })
}

fn permission(tool: &str, name: String) -> PyResult<Permission> {
    serde_json::from_value(name.into())
        .map_err(|error| gate_error(&format!("`{tool}`: invalid permission: {error}"), ""))
}

/// Returns the error of a change that the gate refuses.
fn blocked(why: &Blocked) -> PyErr {
    gate_error(&why.to_string(), &why.help)
}

fn config_error(of: &str, errors: &omen_gate::config::ConfigErrors) -> PyErr {
    let lines: Vec<_> = errors.0.iter().map(|error| format!("{of}: {error}\n  help: {}", error.help)).collect();
    gate_error(&lines.join("\n"), "")
}

fn build_error(error: omen_gate::BuildError) -> PyErr {
    gate_error(&error.to_string(), &error.help())
}
