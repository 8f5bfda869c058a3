//! Traces in neutral JSON, run through the engine as in a gate: with a log, from which the state is restored.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde_json::Value;

use super::Engine;
use super::event::{Ask, HowEnded, Mode, Output};
use crate::history::{CallId, Ended, Entry, Now, State};
use crate::judge::Verdict;
use crate::rules::RuleSet;
use crate::rules::neutral::{self, MakeTest};
use crate::values::Secret;

/// Outcome of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceReport {
    /// Verdicts by the ids in the trace: `allow`, a code, `cancelled` or `undecidable`.
    pub verdicts: BTreeMap<String, String>,
    /// Calls that waited, in the order in which they started to wait.
    pub waits: Vec<String>,
    /// Time of each verdict.
    pub times: BTreeMap<String, i64>,
    /// Findings: the opener, the index of the rule, and `end`, `overdue` or `undecidable`.
    pub findings: Vec<(String, usize, String)>,
}

/// Runs a trace: `{"policies", "trace", "mode"}`.
///
/// # Errors
/// A description of the mistake in the rules or the trace.
pub fn run(value: &Value, test: &MakeTest<'_>) -> Result<TraceReport, String> {
    let policies = value.get("policies").and_then(Value::as_array).ok_or("missing field `policies`")?;
    let policies = policies.iter().map(|value| neutral::policy(value, test)).collect::<Result<Vec<_>, _>>()?;
    let mode = if value.get("mode").is_some_and(|mode| mode == "facts") { Mode::Observe } else { Mode::Enforce };
    let rules = RuleSet::new(policies.first().ok_or("there is no policy")?);
    let secret = Secret::new(&[7; 32]);
    let start = Now { mono: 0, wall: 0 };
    let mut run = TraceRun {
        engine: Engine::new(rules, secret.clone(), mode, start),
        secret,
        mode,
        current: 0,
        now: start,
        ids: HashMap::new(),
        names: HashMap::new(),
        log: Vec::new(),
        report: TraceReport::default(),
    };
    run.log.push((0, 0, run.engine.rules_entry()));
    for event in value.get("trace").and_then(Value::as_array).ok_or("missing field `trace`")? {
        let t = event.get("t").and_then(Value::as_i64).ok_or("missing field `t`")?;
        let wall = event.get("w").and_then(Value::as_i64);
        run.now = Now { mono: t, wall: wall.unwrap_or(run.now.wall + (t - run.now.mono)) };
        run.event(event, &policies)?;
    }
    Ok(run.report)
}

struct TraceRun {
    engine: Engine,
    secret: Secret,
    mode: Mode,
    current: usize,
    now: Now,
    ids: HashMap<String, CallId>,
    names: HashMap<CallId, (String, String, String)>,
    log: Vec<(u64, i64, Entry)>,
    report: TraceReport,
}

impl TraceRun {
    fn event(&mut self, event: &Value, policies: &[crate::rules::Policy]) -> Result<(), String> {
        let text =
            |key: &str| event.get(key).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        let id = text("id").and_then(|id| self.ids.get(&id).copied());
        let (session, turn) = (text("session").unwrap_or_default(), text("turn").unwrap_or_default());
        let now = self.now;
        match text("ev").or_else(|| text("event")).unwrap_or_default().as_str() {
            "start" => {}
            "ask" => {
                let name = text("tool").ok_or("missing field `tool`")?;
                let tool = neutral::tool(&name)?;
                let confirm = policies.get(self.current).and_then(|policy| policy.tools.get(&tool));
                let refused = event.get("pre").or_else(|| event.get("refused"));
                let is_refused = refused.is_some_and(|code| !matches!(code, Value::Null | Value::Bool(false)));
                let args = event.get("args").filter(|args| !args.is_null());
                let must_confirm = self.mode == Mode::Enforce && confirm.is_some_and(|tool| tool.may_confirm);
                let own = text("id").unwrap_or_default();
                // The verdict may arrive with the request, so its id must be known first.
                let id = CallId(self.engine.last_id + 1);
                self.names.insert(id, (own.clone(), session.clone(), turn.clone()));
                self.ids.insert(own.clone(), id);
                let args = args.cloned().map(Arc::new);
                self.engine.ask(now, Ask { tool, session, turn, args, must_confirm, is_refused });
                if is_refused {
                    self.report.verdicts.insert(own, refused.and_then(Value::as_str).unwrap_or("refused").to_owned());
                }
            }
            "confirm" => {
                let is_confirmed = event.get("yes") != Some(&Value::Bool(false));
                if let Some(id) = id {
                    self.engine.confirm(now, id, is_confirmed);
                }
            }
            "end" => {
                let end = match text("result").unwrap_or_default().as_str() {
                    "ok" => Ended::Ok,
                    "failed" => Ended::Failed,
                    "not_run" => Ended::DidNotRun,
                    _ => Ended::MayHaveRun,
                };
                if let Some(id) = id {
                    self.engine.end(now, id, end, event.get("answer").filter(|answer| !answer.is_null()));
                }
            }
            "cancel" => id.into_iter().for_each(|id| self.engine.cancel(now, id)),
            "turn_end" => self.engine.end_turn(now, &session, &turn),
            "session_end" => {
                self.engine.end_session(now, &session);
                self.written();
                self.log.push((self.log.len() as u64, self.engine.now.wall, Entry::SessionEnded { session }));
            }
            "restart" => self.restart(policies)?,
            "reload" => {
                let index = event.get("policy").and_then(Value::as_u64).and_then(|index| usize::try_from(index).ok());
                self.current = index.ok_or("missing field `policy`")?;
                let policy = policies.get(self.current).ok_or("there is no such policy")?;
                self.engine.reload(now, RuleSet::new(policy));
            }
            "tick" => self.engine.tick(now),
            other => return Err(format!("invalid event `{other}`")),
        }
        self.written();
        Ok(())
    }

    fn restart(&mut self, policies: &[crate::rules::Policy]) -> Result<(), String> {
        self.engine.run_timers(self.now);
        self.written();
        let Some(policy) = policies.get(self.current) else { return Ok(()) };
        // In the form in which a log stores them.
        let entries: Vec<(u64, i64, Entry)> = serde_json::to_value(&self.log)
            .and_then(serde_json::from_value)
            .map_err(|error| format!("the log cannot be read back: {error}"))?;
        let dropped: Vec<_> = self.engine.flights.keys().copied().collect();
        self.ids.retain(|_, id| !dropped.contains(id));
        let running = self.engine.history.calls.values().filter(|call| call.state == State::Made);
        let mut running: Vec<_> = running.map(|call| call.id).collect();
        running.sort_unstable();
        self.engine = Engine::restore(RuleSet::new(policy), self.secret.clone(), self.mode, self.now, entries);
        // The new gate records what its predecessor could not.
        for id in running {
            let order = self.engine.outcome_member(id);
            let entry = Entry::Ended { end: Ended::MayHaveRun, order };
            self.log.push((self.log.len() as u64, self.engine.now.wall, entry));
        }
        Ok(())
    }

    /// Adds the outputs of an event to the report and to the log.
    fn written(&mut self) {
        for output in self.engine.outputs().collect::<Vec<_>>() {
            let number = self.log.len() as u64;
            let latest = self.engine.now.wall;
            match output {
                Output::Confirm(_) | Output::SessionBegan(_) | Output::SessionEnded { .. } => {}
                Output::Waits(id) => {
                    self.report.waits.extend(self.names.get(&id).map(|(name, ..)| name.clone()));
                }
                Output::Reloaded => self.log.push((number, latest, self.engine.rules_entry())),
                Output::Refused(id) => {
                    if let Some((name, ..)) = self.names.get(&id) {
                        self.report.verdicts.entry(name.clone()).or_insert_with(|| "G3".to_owned());
                    }
                    self.begun(id, number, None);
                }
                Output::Ended(id, end) => {
                    let wall = self.wall_of(id, true);
                    let order = self.engine.outcome_member(id);
                    self.log.push((number, wall, Entry::Ended { end, order }));
                    self.engine.logged(id, number, true);
                }
                Output::Found(found) => {
                    let how = match (found.is_uncertain, found.how) {
                        (true, _) => "undecidable",
                        (false, HowEnded::Ended) => "end",
                        (false, HowEnded::Overdue) => "overdue",
                    };
                    let opener = found.owed.opener.0;
                    let name = self.names.get(&opener).map(|(name, ..)| name.clone()).unwrap_or_default();
                    self.report.findings.push((name, found.rule, how.to_owned()));
                    self.log.push((number, latest, Entry::Found { opener, rule: found.content }));
                }
                Output::Verdict(id, verdict) => {
                    let text = match &verdict {
                        Verdict::Allow { .. } | Verdict::Wait { .. } => "allow",
                        Verdict::Cancelled => "cancelled",
                        Verdict::Refuse(refusal) if self.mode == Mode::Observe && refusal.cause.is_undecided() => {
                            "undecidable"
                        }
                        Verdict::Refuse(refusal) => refusal.code.as_str(),
                    };
                    if let Some((name, ..)) = self.names.get(&id) {
                        self.report.verdicts.insert(name.clone(), text.to_owned());
                        let wall = self.engine.history.calls.get(&id).and_then(|call| call.begun);
                        self.report.times.insert(name.clone(), wall.map_or(0, |at| at.forbids));
                    }
                    let rests_on = match verdict {
                        Verdict::Allow { rests_on } => Some(rests_on),
                        Verdict::Refuse(_) if self.mode == Mode::Observe => Some(Vec::new()),
                        _ => None,
                    };
                    self.begun(id, number, rests_on.as_deref());
                }
            }
        }
    }

    fn wall_of(&self, id: CallId, is_end: bool) -> i64 {
        let call = self.engine.history.calls.get(&id);
        call.and_then(|call| if is_end { call.ended } else { call.begun }).map_or(0, |at| at.wall)
    }

    /// Logs the intent or the refusal of a call.
    fn begun(&mut self, id: CallId, number: u64, rests_on: Option<&[CallId]>) {
        let Some((_, session, turn)) = self.names.get(&id).cloned() else { return };
        let Some(call) = self.engine.history.calls.get(&id) else { return };
        let (tool, confirmed) = (call.tool.clone(), call.confirmed);
        let order = self.engine.intent_member(id, rests_on.unwrap_or_default());
        let entry = match rests_on {
            Some(_) => Entry::Made { tool, session, turn, confirmed, order },
            None => Entry::Refused { tool, session, turn, order },
        };
        self.log.push((number, self.wall_of(id, false), entry));
        self.engine.logged(id, number, false);
    }
}
