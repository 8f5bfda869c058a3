//! Sequences of calls, run through gates in this process with a set clock and servers that answer as specified.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use omen_audit::store::Memory;
use omen_audit::{Audit, Key, Options};
use omen_order::prove::{ProvenStep, StepEnd};
use omen_order::{CallId, Owed};
use serde_json::{Map, Value, json};

use crate::base::{GateClock, ManualClock, ServerName, ToolId, TurnId};
use crate::call::tool::{Answer, Tool};
use crate::call::{BreakerLimits, BudgetLimits, CallLimits, Fault};
use crate::catalog::{Allowed, Allowlist, pin};
use crate::config::{Config, Policy};
use crate::grant::{Confirmer, confirm};
use crate::request::SessionEnd;
use crate::request::gate::Gate;
use crate::request::order::named;
use crate::request::stopped::Stopped;
use crate::server::{Dispatch, ToolServer};

/// Returns a gate's decision that contradicts the search; `None` if both gates confirm a difference.
pub(super) async fn disagreement(
    old: &Config,
    new: &Config,
    steps: &[ProvenStep],
    ended_session: Option<usize>,
) -> Option<String> {
    let mut owed = Vec::new();
    for (side, config) in [("old", old), ("new", new)] {
        let is_same_form = |tool: &ToolId| {
            let pin = |config: &Config| config.allow.get(tool).and_then(|allowed| allowed.pin);
            pin(old) == pin(new) || side == "new"
        };
        let verdicts = match run(config, steps, ended_session, is_same_form).await {
            Ok((verdicts, debts)) => {
                owed.push(debts);
                verdicts
            }
            Err(why) => return Some(format!("the sequence cannot be run through a gate: {why}")),
        };
        for (index, (step, refusal)) in steps.iter().zip(&verdicts).enumerate() {
            let is_last = index + 1 == steps.len() && ended_session.is_none();
            let is_refused = if is_last { side == "old" } else { step.end == StepEnd::Refused };
            if refusal.is_some() != is_refused {
                let verdict =
                    refusal.as_ref().map_or("it allows the call".to_owned(), |why| format!("it refuses: {why}"));
                return Some(format!("call {}, `{}`, under the {side} configuration: {verdict}", index + 1, step.tool));
            }
        }
    }
    let [old, new] = owed.as_slice() else { return None };
    let is_shown = ended_session.is_none() || old.iter().any(|debt| !new.contains(debt));
    (!is_shown).then(|| "both configurations report the same debts at the end of the session".to_owned())
}

/// Debt at the end of a session: the call that opened it, and what settles it.
type SessionDebt = (CallId, Vec<omen_order::Tool>, Vec<String>);

/// Returns the refusal of each call, if there is one, and what the session owes at its end.
async fn run(
    config: &Config,
    steps: &[ProvenStep],
    ended_session: Option<usize>,
    is_same_form: impl Fn(&ToolId) -> bool,
) -> Result<(Vec<Option<String>>, Vec<SessionDebt>), String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let mut keys: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for step in steps {
        let members = step.args.as_object().into_iter().flat_map(Map::keys).cloned();
        keys.entry(step.tool.to_string()).or_default().extend(members);
    }
    let form = |id: &ToolId| {
        let members = keys.get(&named(id).to_string()).into_iter().flatten();
        let properties: Map<_, _> = members.map(|key| (key.clone(), json!({}))).collect();
        let schema =
            Map::from_iter([("type".to_owned(), json!("object")), ("properties".to_owned(), properties.into())]);
        Tool { name: id.tool.clone(), description: None, input_schema: schema, output_schema: None, more: Map::new() }
    };
    let mut allow = Vec::new();
    let mut tools: BTreeMap<ServerName, Vec<Tool>> = BTreeMap::new();
    for entry in config.allow.iter() {
        let id = &entry.demand.tool;
        let form = form(id);
        let is_approved = entry.pin.is_some() && is_same_form(id);
        let own = if is_approved { Some(pin(&form).map_err(|error| text(&error))?) } else { entry.pin };
        allow.push(Allowed { pin: own, ..entry.clone() });
        tools.entry(id.server.clone()).or_default().push(form);
    }
    let mut order = config.order.as_ref().clone();
    // In the search, sessions survive any pause: other calls may have kept them open.
    (order.wait_ms, order.gather_ms, order.idle_ms) = (0, 0, u64::MAX);
    let has_turns = order.rule_per_turn().is_some();
    let mut config = Config {
        allow: Allowlist::new(allow).map_err(|error| text(&error))?,
        breaker: BreakerLimits { failures: NonZeroU32::MAX, ..config.breaker },
        budget: BudgetLimits::new(u32::MAX, u32::MAX),
        calls: CallLimits::default(),
        audit: None,
        policy: Policy::new([("", ""); 0]).map_err(|error| text(&error))?,
        shadow: false,
        keeps_shadow: false,
        order: Arc::new(order),
        ..config.clone()
    };
    for server in config.servers.values_mut() {
        (server.command, server.endpoint) = (None, None);
    }
    let clock = Arc::new(ManualClock::new(SystemTime::UNIX_EPOCH));
    let shared: Arc<dyn GateClock> = clock.clone();
    let key = Key::from_bytes(&std::array::from_fn::<u8, 32, _>(|index| u8::try_from(index).unwrap_or(0)))
        .map_err(|error| text(&error))?;
    let audit = Audit::over(Memory::default(), key, Arc::clone(&shared), Options::default());
    let audit = audit.map_err(|error| text(&error))?;
    let next = Arc::new(Mutex::new(StepEnd::Failed));
    let servers: Vec<_> = config.servers.keys().cloned().collect();
    let mut builder = Gate::builder(config).audit(audit).clock(shared).confirmer(AlwaysConfirmed);
    for server in servers {
        let tools = tools.remove(&server).unwrap_or_default();
        builder = builder.server(server, ScriptedServer { tools, next: Arc::clone(&next) });
    }
    let gate = builder.build().map_err(|error| text(&error))?;
    let mut verdicts = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        clock.advance(Duration::from_millis(step.pause_ms));
        next.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&step.end);
        let turn = if has_turns { step.turn } else { index };
        verdicts.push(refusal(&gate, step, turn).await?);
    }
    let owed = match ended_session {
        Some(session) => gate.end_session(&session_name(session)?, SessionEnd::Closed),
        None => Vec::new(),
    };
    let debt = |owed: Owed| (owed.opener.0, owed.tools, owed.members);
    Ok((verdicts, owed.into_iter().map(debt).collect()))
}

fn session_name(session: usize) -> Result<TurnId, String> {
    TurnId::new(format!("s{session}")).map_err(|error| error.to_string())
}

async fn refusal(gate: &Gate, step: &ProvenStep, turn: usize) -> Result<Option<String>, String> {
    let turn = TurnId::new(format!("s{}t{turn}", step.session)).map_err(|error| error.to_string())?;
    let session = session_name(step.session)?;
    let plan = json!({
        "type": "call_tool", "server": &*step.tool.server, "tool": &*step.tool.name, "args": step.args,
    });
    let request = gate.request(turn, "rehearsal").of_session(session);
    let way = async {
        let planned = request.screen().await?.plan(&plan.to_string()).await?;
        let Ok(call) = planned.call() else { return Ok(()) };
        call.conform().await?.authorize().await?.dispatch().await.map(drop)
    };
    match way.await {
        Ok(()) => Ok(None),
        Err(Stopped::Blocked(blocked)) => Ok(Some(blocked.to_string())),
        // The call was made and failed.
        Err(Stopped::Failed(_)) => Ok(None),
        Err(other) => Err(other.to_string()),
    }
}

/// Server whose calls end as specified by the sequence.
#[derive(Debug)]
struct ScriptedServer {
    tools: Vec<Tool>,
    next: Arc<Mutex<StepEnd>>,
}

#[async_trait]
impl ToolServer for ScriptedServer {
    async fn list(&self) -> Result<Vec<Tool>, Fault> {
        Ok(self.tools.clone())
    }

    async fn call(&self, _: Dispatch) -> Result<Answer, Fault> {
        let end = self.next.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match end {
            StepEnd::Ok(answer) => {
                serde_json::from_value(answer).map_err(|error| Fault::Malformed { why: error.to_string() })
            }
            StepEnd::Failed => Ok(Answer { is_error: Some(true), ..Answer::default() }),
            StepEnd::MayHaveRun => {
                let more = Map::from_iter([("resultType".to_owned(), Value::from("input_required"))]);
                // Answers without members of their own indicate that nothing is known yet.
                Ok(Answer { more, ..Answer::default() })
            }
            StepEnd::DidNotRun | StepEnd::Refused => Err(Fault::Unreachable { why: "as the sequence says".to_owned() }),
        }
    }
}

/// Confirmer that confirms every call.
#[derive(Debug)]
struct AlwaysConfirmed;

#[async_trait]
impl Confirmer for AlwaysConfirmed {
    async fn confirm(&self, _: &confirm::Question) -> confirm::Reply {
        confirm::Reply::Confirmed
    }
}
