//! Sequences of calls, run through gates in this process with a manual clock and servers that answer as specified.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use omen_audit::store::Memory;
use omen_audit::{Audit, Key, Options};
use omen_order::prove::{ProvenStep, StepEnd};
use serde_json::{Map, Value, json};

use crate::base::{GateClock, ManualClock, ServerName, ToolId, TurnId};
use crate::call::tool::{Answer, Tool};
use crate::call::{BreakerLimits, BudgetLimits, CallLimits, Fault};
use crate::catalog::{Allowed, Allowlist, pin};
use crate::config::{Config, Policy};
use crate::grant::{Confirmer, confirm};
use crate::request::SessionEnd;
use crate::request::gate::Gate;
use crate::request::order::{DebtReport, named};
use crate::request::stopped::Stopped;
use crate::server::{Dispatch, ToolServer};

/// Sequence of calls, as the search has found it.
pub(super) struct Counterexample<'r> {
    pub(super) steps: &'r [ProvenStep],
    /// Time of the first call in milliseconds since 1970, if the time of day matters.
    pub(super) start: Option<i64>,
    /// Number of the session that ends after the calls.
    pub(super) ended_session: Option<usize>,
}

/// What a gate has decided.
#[derive(Debug, Default)]
struct GateDecisions {
    /// Refusal of each call, if there is one.
    refusals: Vec<Option<String>>,
    /// Whether a human confirmed each call.
    confirmed: Vec<bool>,
    /// Number of debts that were reported, up to the end of the session.
    debts: usize,
}

impl Counterexample<'_> {
    /// Whether a human has to confirm each call under the new configuration, and what a gate decides otherwise than the search;
    /// nothing if both gates confirm a difference.
    pub(super) async fn run(&self, old: &Config, new: &Config) -> (Vec<bool>, Option<String>) {
        let mut all = Vec::new();
        for (side, config) in [("old", old), ("new", new)] {
            let is_same_form = |tool: &ToolId| {
                let pin = |config: &Config| config.allow.get(tool).and_then(|allowed| allowed.pin);
                pin(old) == pin(new) || side == "new"
            };
            match self.decided(config, is_same_form).await {
                Ok(decided) => all.push((side, decided)),
                Err(why) => {
                    let confirmed = vec![false; self.steps.len()];
                    return (confirmed, Some(format!("the sequence cannot be run through a gate: {why}")));
                }
            }
        }
        let disagreement = all.iter().find_map(|(side, decided)| self.disagreement(side, decided));
        let debts: Vec<_> = all.iter().map(|(_, decided)| decided.debts).collect();
        let confirmed = all.pop().map(|(_, decided)| decided.confirmed).unwrap_or_default();
        // What both owe alike, both report.
        let is_shown = self.ended_session.is_none() || debts.first() > debts.last();
        let same = || "both configurations report the same debts by the end of the session".to_owned();
        (confirmed, disagreement.or_else(|| (!is_shown).then(same)))
    }

    fn disagreement(&self, side: &str, decided: &GateDecisions) -> Option<String> {
        for (index, (step, refusal)) in self.steps.iter().zip(&decided.refusals).enumerate() {
            let is_last = index + 1 == self.steps.len() && self.ended_session.is_none();
            let is_refused = if is_last { side == "old" } else { step.end == StepEnd::Refused };
            if refusal.is_some() != is_refused {
                let call = format!("call {}, `{}`", index + 1, step.tool);
                return Some(match refusal {
                    None => format!("under the {side} configuration, the gate allows {call}"),
                    Some(why) => format!("under the {side} configuration, the gate refuses {call}: {why}"),
                });
            }
        }
        None
    }

    /// Runs the calls through a gate.
    async fn decided(&self, config: &Config, is_same_form: impl Fn(&ToolId) -> bool) -> Result<GateDecisions, String> {
        let text = |error: &dyn std::fmt::Display| error.to_string();
        let (tools, allow) = self.forms(config, is_same_form)?;
        let mut order = config.order.as_ref().clone();
        // In the search, sessions last through any pause: other calls may have kept them open.
        (order.wait_ms, order.gather_ms, order.idle_ms) = (0, 0, u64::MAX);
        let has_turns = order.rule_per_turn().is_some();
        let mut config = Config {
            allow,
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
        let start = Duration::from_millis(self.start.and_then(|start| u64::try_from(start).ok()).unwrap_or(0));
        let clock = Arc::new(ManualClock::new(SystemTime::UNIX_EPOCH + start));
        let shared: Arc<dyn GateClock> = clock.clone();
        let key = Key::from_bytes(&std::array::from_fn::<u8, 32, _>(|index| u8::try_from(index).unwrap_or(0)))
            .map_err(|error| text(&error))?;
        let audit = Audit::over(Memory::default(), key, Arc::clone(&shared), Options::default());
        let audit = audit.map_err(|error| text(&error))?;
        let next = Arc::new(Mutex::new(StepEnd::Failed));
        let (asked, overdue) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let reported = Arc::clone(&overdue);
        let servers: Vec<_> = config.servers.keys().cloned().collect();
        let mut builder =
            Gate::builder(config).audit(audit).clock(shared).confirmer(AlwaysConfirmed(Arc::clone(&asked)));
        builder = builder.debts(move |debt| {
            reported.fetch_add(usize::from(matches!(debt, DebtReport::Overdue(_))), Ordering::Relaxed);
        });
        for server in servers {
            let tools = tools.get(&server).cloned().unwrap_or_default();
            builder = builder.server(server, ScriptedServer { tools, next: Arc::clone(&next) });
        }
        let gate = builder.build().map_err(|error| text(&error))?;
        let mut decided = GateDecisions::default();
        for (index, step) in self.steps.iter().enumerate() {
            clock.advance(Duration::from_millis(step.pause_ms));
            next.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&step.end);
            let turn = if has_turns { step.turn } else { index };
            decided.refusals.push(refusal(&gate, step, turn).await?);
            decided.confirmed.push(asked.swap(false, Ordering::Relaxed));
        }
        if let Some(session) = self.ended_session {
            let owed = gate.end_session(&session_name(session)?, SessionEnd::Closed);
            decided.debts = owed.len() + overdue.load(Ordering::Relaxed);
        }
        Ok(decided)
    }

    /// Tools of each server, and the allowlist that approves them in the form that they have here.
    fn forms(
        &self,
        config: &Config,
        is_same_form: impl Fn(&ToolId) -> bool,
    ) -> Result<(ServerTools, Allowlist), String> {
        let mut keys: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for step in self.steps {
            let members = step.args.as_object().into_iter().flat_map(Map::keys).cloned();
            keys.entry(step.tool.to_string()).or_default().extend(members);
        }
        for entry in config.allow.iter() {
            keys.entry(named(&entry.demand.tool).to_string()).or_default().extend(entry.arguments.names());
        }
        let form = |id: &ToolId| {
            let members = keys.get(&named(id).to_string()).into_iter().flatten();
            let properties: Map<_, _> = members.map(|key| (key.clone(), json!({}))).collect();
            let schema =
                Map::from_iter([("type".to_owned(), json!("object")), ("properties".to_owned(), properties.into())]);
            Tool {
                name: id.tool.clone(),
                description: None,
                input_schema: schema,
                output_schema: None,
                more: Map::new(),
            }
        };
        let mut allow = Vec::new();
        let mut tools = ServerTools::new();
        for entry in config.allow.iter() {
            let id = &entry.demand.tool;
            let form = form(id);
            let is_approved = entry.pin.is_some() && is_same_form(id);
            let own = if is_approved { Some(pin(&form).map_err(|error| error.to_string())?) } else { entry.pin };
            allow.push(Allowed { pin: own, ..entry.clone() });
            tools.entry(id.server.clone()).or_default().push(form);
        }
        Ok((tools, Allowlist::new(allow).map_err(|error| error.to_string())?))
    }
}

type ServerTools = BTreeMap<ServerName, Vec<Tool>>;

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

/// Confirmer of all calls, who notes that it was asked.
#[derive(Debug)]
struct AlwaysConfirmed(Arc<AtomicBool>);

#[async_trait]
impl Confirmer for AlwaysConfirmed {
    async fn confirm(&self, _: &confirm::Question) -> confirm::Reply {
        self.0.store(true, Ordering::Relaxed);
        confirm::Reply::Confirmed
    }
}
