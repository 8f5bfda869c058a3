//! Context of a request: its turn, and the recording of decisions about it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use omen_base::Mutex;
use omen_types::PacketId;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::base::clock::instant;
use crate::base::{Blocked, GateClock, GateCode, StepId, ToolId, TurnId};
use crate::call::arguments::Recordable;
use crate::call::{Abort, Fault};
use crate::catalog::Pin;
use crate::config::Policy;
use crate::request::audit_queue::{AuditQueue, EpisodePacket, data};
use crate::request::directive::Directive;
use crate::request::order::{CallOrigin, Order};
use crate::request::stopped::Stopped;
use omen_audit::{DeferredEntry, Kind, Record, USER_TURN};

/// Context of a request: the id of its turn, its directive and step, and the audit log.
#[derive(Clone, Debug)]
pub(crate) struct RequestContext {
    id: TurnId,
    directive: Option<Arc<Directive>>,
    /// Episode packet for the request's entries.
    packet: Option<Arc<EpisodePacket>>,
    step: Option<Arc<RunningStep>>,
    /// Data in each entry about the request: the hash of its query, or the user inputs on which it depends (A2).
    asked: Arc<Map<String, Value>>,
    /// Data in an intent or a refusal about the call: its tool and pin, and the recorded part of its arguments.
    planned: Arc<Map<String, Value>>,
    /// Whether a recorded reason may quote the call. Until the call is known, nothing may be quoted.
    quotes: Recordable,
    /// Violations that shadow mode has let pass, kept so that each is recorded only once.
    tried: Arc<Mutex<BTreeSet<String>>>,
    /// Session of the requesting client.
    session: Option<TurnId>,
    /// User's turn that the request is part of, if it differs from the request's turn.
    user_turn: Option<TurnId>,
    /// User's query, if it came as text.
    query: Option<Arc<str>>,
    /// Order rules, which know what the session owes.
    order: Option<Order>,
    audit_queue: AuditQueue,
}

/// Running step of a turn. It ends when its turn says so, even if its request continues.
#[derive(Debug)]
struct RunningStep {
    step: StepId,
    is_over: AtomicBool,
}

/// Guard that ends the step when dropped, even if the caller goes away.
#[derive(Debug)]
pub(crate) struct StepGuard(Arc<RunningStep>);

impl Drop for StepGuard {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Release);
    }
}

impl RequestContext {
    pub(crate) fn new(id: TurnId, directive: Option<Directive>, audit_queue: AuditQueue) -> Self {
        Self {
            id,
            packet: directive.as_ref().map(|directive| Arc::clone(&directive.packet)),
            directive: directive.map(Arc::new),
            step: None,
            asked: Arc::default(),
            planned: Arc::default(),
            quotes: Recordable::default(),
            tried: Arc::default(),
            session: None,
            user_turn: None,
            query: None,
            order: None,
            audit_queue,
        }
    }

    /// Sets the data in each entry about the request.
    pub(crate) fn with_request_data(self, asked: Map<String, Value>) -> Self {
        Self { asked: Arc::new(asked), ..self }
    }

    /// Sets the data in an intent or a refusal about a call.
    pub(crate) fn planning(self, tool: &ToolId, mut recordable: Recordable) -> Self {
        let mut planned = data(json!({ "tool": tool }));
        if let Some(args) = recordable.take_arguments() {
            planned.insert("args".to_owned(), Value::Object(args));
        }
        Self { planned: Arc::new(planned), quotes: recordable, ..self }
    }

    /// Returns a text for the record: unchanged, or without quotations if it must not quote the call.
    fn quotable(&self, text: String, unquoted: impl FnOnce() -> String) -> String {
        if self.quotes.may_quote(&text) { text } else { unquoted() }
    }

    /// Returns the reason of a refusal, for the record.
    fn why(&self, blocked: &Blocked) -> String {
        self.quotable(blocked.message.clone(), || blocked.unquoted().to_owned())
    }

    /// Returns the description of a fault, for the record.
    pub(crate) fn why_failed(&self, fault: &Fault) -> String {
        self.quotable(fault.to_string(), || fault.unquoted())
    }

    /// Returns the reason why a call was stopped, for the record.
    pub(crate) fn why_stopped(&self, stopped: &Stopped) -> String {
        self.quotable(stopped.to_string(), || stopped.unquoted())
    }

    /// Sets the pin of the tool's current form.
    pub(crate) fn formed(mut self, pin: Option<&Pin>) -> Self {
        if let Some(pin) = pin {
            Arc::make_mut(&mut self.planned).insert("pin".to_owned(), pin.to_string().into());
        }
        self
    }

    pub(crate) fn of_session(self, session: TurnId) -> Self {
        Self { session: Some(session), ..self }
    }

    /// Makes the request part of a user's turn.
    pub(crate) fn of_user_turn(self, user_turn: TurnId) -> Self {
        Self { user_turn: Some(user_turn), ..self }
    }

    /// Returns the turn in which failures and calls are counted (R2): the user's, if there is one.
    pub(crate) fn counted_turn(&self) -> &TurnId {
        self.user_turn.as_ref().unwrap_or(&self.id)
    }

    /// Sets the episode packet for all further entries.
    pub(crate) fn of_packet(self, packet: EpisodePacket) -> Self {
        Self { packet: Some(Arc::new(packet)), ..self }
    }

    /// Makes refusals of the request mention what its session owes.
    pub(crate) fn owing(self, order: &Order) -> Self {
        Self { order: Some(order.clone()), ..self }
    }

    /// Returns the session and turn for the order rules.
    pub(crate) fn origin(&self) -> CallOrigin<'_> {
        let turn = self.counted_turn();
        CallOrigin { session: self.session.as_ref().unwrap_or(turn), turn }
    }

    /// Adds what the session owes to the help of a refusal.
    pub(crate) fn with_debts(&self, blocked: Blocked) -> Blocked {
        match &self.order {
            Some(order) => order.with_debts(self.origin().session, blocked),
            None => blocked,
        }
    }

    /// Returns the session of the requesting client, if it has one.
    pub(crate) fn session(&self) -> Option<&TurnId> {
        self.session.as_ref()
    }

    /// Sets the user's query, which is screened again right before a call.
    pub(crate) fn querying(self, query: &str) -> Self {
        Self { query: Some(query.into()), ..self }
    }

    /// Assigns the request to a step of its turn. The step ends when the returned guard is dropped.
    pub(crate) fn within(&self, step: &StepId) -> (Self, StepGuard) {
        let under_way = Arc::new(RunningStep { step: step.clone(), is_over: AtomicBool::new(false) });
        let within = Self { step: Some(Arc::clone(&under_way)), tried: Arc::default(), ..self.clone() };
        (within, StepGuard(under_way))
    }

    /// Checks that the step of the request is still running (R4).
    pub(crate) fn check_running(&self) -> Result<(), Abort> {
        match &self.step {
            Some(under_way) if under_way.is_over.load(Ordering::Acquire) => {
                let why = "its request was used after the step had ended";
                Err(Abort::OutOfOrder { step: under_way.step.clone(), why })
            }
            _ => Ok(()),
        }
    }

    /// Returns the directive that requests the call, if any.
    pub(crate) fn directive(&self) -> Option<&PacketId> {
        self.directive.as_ref()?.packet.packet_id.as_ref()
    }

    /// Checks that the directive is still valid: its token has not expired, and its deadline has not passed.
    pub(crate) fn stands(&self, clock: &dyn GateClock) -> Result<(), Blocked> {
        self.directive.as_ref().map_or(Ok(()), |directive| directive.stands(instant(clock.wall())))
    }

    /// Checks that the episode, if the call comes from one, still lets its task run (D52).
    pub(crate) fn leased(&self) -> Result<(), Blocked> {
        self.directive.as_ref().map_or(Ok(()), |directive| directive.leased())
    }

    /// Screens the query, or the user inputs on which the directive depends, against the policy in force now (PG-0, D68).
    pub(crate) fn screened(&self, policy: &Policy) -> Result<(), Blocked> {
        self.query.as_ref().map_or(Ok(()), |query| policy.screen(query))?;
        self.directive.as_ref().map_or(Ok(()), |directive| directive.screened(policy))
    }

    /// Waits until the episode no longer allows the task to run.
    pub(crate) async fn taken_back(&self) -> Blocked {
        match &self.directive {
            Some(directive) => directive.taken_back().await,
            None => std::future::pending().await,
        }
    }

    /// Checks that the directive's token, if it has one, is in force.
    pub(crate) fn authorized(&self, clock: &dyn GateClock) -> Result<(), Blocked> {
        self.directive.as_ref().map_or(Ok(()), |directive| directive.authorized(instant(clock.wall())))
    }

    /// Waits until the directive's token expires; forever if it has none.
    pub(crate) async fn expired(&self, clock: &dyn GateClock) -> Blocked {
        match &self.directive {
            Some(directive) => directive.expired(clock).await,
            None => std::future::pending().await,
        }
    }

    /// Returns the time limit of a call: `limit`, but no later than the directive's deadline.
    pub(crate) fn time_left(&self, clock: &dyn GateClock, limit: Duration) -> Duration {
        let Some(directive) = &self.directive else { return limit };
        let now = instant(clock.wall());
        // Deadlines are in whole seconds; the remaining fraction of a second still counts.
        let left = directive.deadline.unix_seconds().saturating_sub(now.unix_seconds());
        limit.min(Duration::from_secs(u64::try_from(left).unwrap_or(0).max(1)))
    }

    pub(crate) fn id(&self) -> &TurnId {
        &self.id
    }

    /// Records an entry (A1, G4).
    pub(crate) async fn record(&self, kind: Kind, data: Map<String, Value>) -> Result<(), Blocked> {
        self.record_numbered(kind, data).await.map(drop)
    }

    /// Records an entry and returns its number.
    pub(crate) async fn record_numbered(&self, kind: Kind, data: Map<String, Value>) -> Result<u64, Blocked> {
        Ok(self.audit_queue.audit().record(self.entry(kind, data)).await?.sequence)
    }

    /// Records an entry whose data is a plain value.
    pub(crate) async fn record_value(&self, kind: Kind, value: &impl Serialize) -> Result<(), Blocked> {
        self.record(kind, members(value)?).await
    }

    /// Queues an entry whose data is a plain value, to be written with the next one, which follows at once.
    pub(crate) fn record_value_with_next(&self, kind: Kind, value: &impl Serialize) -> Result<DeferredEntry, Blocked> {
        Ok(self.audit_queue.audit().record_with_next(self.entry(kind, members(value)?))?)
    }

    /// Records an entry from a caller that cannot wait.
    pub(crate) fn record_later(&self, kind: Kind, data: Map<String, Value>) {
        self.audit_queue.audit().record_later(self.entry(kind, data));
    }

    fn entry(&self, kind: Kind, mut data: Map<String, Value>) -> Record<'_> {
        data.extend(self.asked.iter().map(|(name, value)| (name.clone(), value.clone())));
        data.extend(self.user_turn.iter().map(|turn| (USER_TURN.to_owned(), turn.as_str().into())));
        // A refused request can be tested against another policy too.
        let refuses = data.get("outcome").is_some_and(|outcome| outcome == "denied" || outcome == SHADOW);
        if kind == Kind::Intent || (refuses && matches!(kind, Kind::Decision | Kind::Confirmation)) {
            for (name, value) in self.planned.iter() {
                data.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
        self.audit_queue.record(kind, &self.id, self.packet.as_ref(), data)
    }

    /// Returns the verdict of a rule that shadow mode covers, and records a refusal. In shadow mode, a refusal is
    /// recorded as such but passes.
    pub(crate) async fn check_or_try(&self, is_shadow: bool, verdict: Result<(), Blocked>) -> Result<(), Blocked> {
        match self.try_only(is_shadow, verdict).await {
            Ok(Err(blocked)) => self.check(Err(blocked)).await,
            Ok(Ok(())) => Ok(()),
            Err(unrecorded) => Err(unrecorded),
        }
    }

    /// Applies the shadow mode of [`check_or_try`](Self::check_or_try), for a caller that records refusals itself.
    ///
    /// # Errors
    /// If the refusal that shadow mode lets pass cannot be recorded (A1).
    pub(crate) async fn try_only(
        &self,
        is_shadow: bool,
        verdict: Result<(), Blocked>,
    ) -> Result<Result<(), Blocked>, Blocked> {
        let blocked = match verdict {
            Err(blocked) if is_shadow => blocked,
            verdict => return Ok(verdict),
        };
        let is_new = self.tried.lock().insert(blocked.to_string());
        if is_new {
            let entry = json!({ "code": blocked.code.as_str(), "outcome": SHADOW, "why": self.why(&blocked) });
            self.record(Kind::Decision, data(entry)).await?;
        }
        Ok(Ok(()))
    }

    /// Returns the verdict of a check and records a refusal.
    pub(crate) async fn check<T>(&self, verdict: Result<T, Blocked>) -> Result<T, Blocked> {
        if let Err(blocked) = &verdict {
            let entry = json!({ "code": blocked.code.as_str(), "outcome": "denied", "why": self.why(blocked) });
            self.record(Kind::Decision, data(entry)).await?;
        }
        verdict.map_err(|blocked| self.with_debts(blocked))
    }

    /// Records that the turn is aborted and why.
    pub(crate) async fn aborted(&self, abort: &Abort) -> Result<(), Blocked> {
        let entry = json!({ "code": abort.code().as_str(), "outcome": "aborted", "why": abort.to_string() });
        self.record(Kind::Turn, data(entry)).await
    }
}

/// Returns the members of an entry's data.
fn members(value: &impl Serialize) -> Result<Map<String, Value>, Blocked> {
    match serde_json::to_value(value) {
        Ok(Value::Object(data)) => Ok(data),
        _ => {
            let help = "this is a bug in the gate; please report it";
            Err(Blocked::new(GateCode::A1, "the entry is not an object", help))
        }
    }
}

/// Outcome recorded for a refusal that shadow mode lets pass.
const SHADOW: &str = "shadow";
