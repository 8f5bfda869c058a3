//! What a request carries of its turn, and how it records what is decided for it.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

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
use crate::request::stopped::Stopped;
use omen_audit::{Kind, USER_TURN};

/// The context of a request: the id of its turn, its directive and step, and the way to the audit log.
#[derive(Clone, Debug)]
pub(crate) struct RequestContext {
    id: TurnId,
    directive: Option<Arc<Directive>>,
    /// The packet of an episode that its entries name.
    packet: Option<Arc<EpisodePacket>>,
    step: Option<Arc<UnderWay>>,
    /// What each entry has of the request: the hash of its query, or the user inputs that it rests on (A2).
    asked: Arc<Map<String, Value>>,
    /// What an intent or a refusal has of the call: its tool and pin, and what is recorded of its arguments.
    planned: Arc<Map<String, Value>>,
    /// Whether a reason may quote the call. Nothing may be quoted before it is known what is called.
    quotes: Recordable,
    /// What was let pass because rules are only tried, so that it is recorded once.
    tried: Arc<Mutex<BTreeSet<String>>>,
    /// The session of the client that asks.
    session: Option<TurnId>,
    /// The turn of the user that it is part of, if it is not the turn itself.
    user_turn: Option<TurnId>,
    /// What the user has asked for, if it came as a text.
    query: Option<Arc<str>>,
    audit_queue: AuditQueue,
}

/// A step of a turn, which ends when its turn says so, whatever becomes of its request.
#[derive(Debug)]
struct UnderWay {
    step: StepId,
    is_over: AtomicBool,
}

/// Ends a step when it is dropped, also if the caller goes away.
#[derive(Debug)]
pub(crate) struct EndOfStep(Arc<UnderWay>);

impl Drop for EndOfStep {
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
            audit_queue,
        }
    }

    /// The same turn for a request, with what its entries have of it.
    pub(crate) fn asked(self, asked: Map<String, Value>) -> Self {
        Self { asked: Arc::new(asked), ..self }
    }

    /// The same turn for a call, with what its intent or its refusal has of it.
    pub(crate) fn planning(self, tool: &ToolId, mut recordable: Recordable) -> Self {
        let mut planned = data(json!({ "tool": tool }));
        if let Some(args) = recordable.take_arguments() {
            planned.insert("args".to_owned(), Value::Object(args));
        }
        Self { planned: Arc::new(planned), quotes: recordable, ..self }
    }

    /// A text as it is recorded: as it is, or without what it may quote of the call.
    fn said(&self, text: String, unquoted: impl FnOnce() -> String) -> String {
        if self.quotes.may_quote(&text) { text } else { unquoted() }
    }

    /// The reason of a refusal as it is recorded.
    fn why(&self, blocked: &Blocked) -> String {
        self.said(blocked.message.clone(), || blocked.unquoted().to_owned())
    }

    /// The text of a fault as it is recorded.
    pub(crate) fn why_failed(&self, fault: &Fault) -> String {
        self.said(fault.to_string(), || fault.unquoted())
    }

    /// Why a call was stopped, as it is recorded.
    pub(crate) fn why_stopped(&self, stopped: &Stopped) -> String {
        self.said(stopped.to_string(), || stopped.unquoted())
    }

    /// The tool of the call has this form.
    pub(crate) fn formed(mut self, pin: Option<&Pin>) -> Self {
        if let Some(pin) = pin {
            Arc::make_mut(&mut self.planned).insert("pin".to_owned(), pin.to_string().into());
        }
        self
    }

    /// The same turn for a session of a client.
    pub(crate) fn of_session(self, session: TurnId) -> Self {
        Self { session: Some(session), ..self }
    }

    /// The same turn as part of a turn of the user.
    pub(crate) fn of_user_turn(self, user_turn: TurnId) -> Self {
        Self { user_turn: Some(user_turn), ..self }
    }

    /// The turn whose failures and calls are counted (R2): that of the user.
    pub(crate) fn counted_turn(&self) -> &TurnId {
        self.user_turn.as_ref().unwrap_or(&self.id)
    }

    /// The same turn for a packet of an episode, which the entries after this one name.
    pub(crate) fn of_packet(self, packet: EpisodePacket) -> Self {
        Self { packet: Some(Arc::new(packet)), ..self }
    }

    /// The session of the client that asks, if it has one.
    pub(crate) fn session(&self) -> Option<&TurnId> {
        self.session.as_ref()
    }

    /// The same turn for what a user asks as a text, which is screened once more right before a call.
    pub(crate) fn querying(self, query: &str) -> Self {
        Self { query: Some(query.into()), ..self }
    }

    /// The same turn for one of its steps, and what ends the step when it is dropped.
    pub(crate) fn within(&self, step: &StepId) -> (Self, EndOfStep) {
        let under_way = Arc::new(UnderWay { step: step.clone(), is_over: AtomicBool::new(false) });
        let within = Self { step: Some(Arc::clone(&under_way)), tried: Arc::default(), ..self.clone() };
        (within, EndOfStep(under_way))
    }

    /// Whether the step that the request is of is still under way (R4).
    pub(crate) fn goes_on(&self) -> Result<(), Abort> {
        match &self.step {
            Some(under_way) if under_way.is_over.load(Ordering::Acquire) => {
                let why = "its request was used after the step had ended";
                Err(Abort::OutOfOrder { step: under_way.step.clone(), why })
            }
            _ => Ok(()),
        }
    }

    /// The directive that asks for the call, if one does.
    pub(crate) fn directive(&self) -> Option<&PacketId> {
        self.directive.as_ref()?.packet.packet_id.as_ref()
    }

    /// Whether what the directive rests on is still in force: its token has not expired, and its time is not over.
    pub(crate) fn stands(&self, clock: &dyn GateClock) -> Result<(), Blocked> {
        self.directive.as_ref().map_or(Ok(()), |directive| directive.stands(instant(clock.wall())))
    }

    /// Whether the episode that asks for the call, if one does, still lets its task run (D52).
    pub(crate) fn leased(&self) -> Result<(), Blocked> {
        self.directive.as_ref().map_or(Ok(()), |directive| directive.leased())
    }

    /// Screens what was asked for by the policy in force now: the query, or the user inputs that the directive rests on
    /// (PG-0, D68).
    pub(crate) fn screened(&self, policy: &Policy) -> Result<(), Blocked> {
        self.query.as_ref().map_or(Ok(()), |query| policy.screen(query))?;
        self.directive.as_ref().map_or(Ok(()), |directive| directive.screened(policy))
    }

    /// Waits until it does not.
    pub(crate) async fn taken_back(&self) -> Blocked {
        match &self.directive {
            Some(directive) => directive.taken_back().await,
            None => std::future::pending().await,
        }
    }

    /// Whether the token of the directive, if it has one, is in force.
    pub(crate) fn authorized(&self, clock: &dyn GateClock) -> Result<(), Blocked> {
        self.directive.as_ref().map_or(Ok(()), |directive| directive.authorized(instant(clock.wall())))
    }

    /// Waits for the token of the directive to expire, if it has one.
    pub(crate) async fn expired(&self, clock: &dyn GateClock) -> Blocked {
        match &self.directive {
            Some(directive) => directive.expired(clock).await,
            None => std::future::pending().await,
        }
    }

    /// How long a call may take: no longer than the directive may.
    pub(crate) fn time_left(&self, clock: &dyn GateClock, limit: Duration) -> Duration {
        let Some(directive) = &self.directive else { return limit };
        let now = instant(clock.wall());
        // A directive's time is counted in whole seconds; the part of a second that is left is not lost.
        let left = directive.deadline.unix_seconds().saturating_sub(now.unix_seconds());
        limit.min(Duration::from_secs(u64::try_from(left).unwrap_or(0).max(1)))
    }

    pub(crate) fn id(&self) -> &TurnId {
        &self.id
    }

    /// Records something (A1, G4).
    pub(crate) async fn record(&self, kind: Kind, data: Map<String, Value>) -> Result<(), Blocked> {
        self.audit_queue.append(kind, &self.id, self.packet(), self.noted(kind, data)).await
    }

    /// Records something that is a plain value.
    pub(crate) async fn record_value(&self, kind: Kind, value: &impl Serialize) -> Result<(), Blocked> {
        match serde_json::to_value(value) {
            Ok(Value::Object(data)) => self.record(kind, data).await,
            _ => Err(Blocked::new(
                GateCode::A1,
                "the entry is not an object",
                "this is a bug in the gate; please report it",
            )),
        }
    }

    /// Records something where nobody can wait for it.
    pub(crate) fn record_later(&self, kind: Kind, data: Map<String, Value>) {
        self.audit_queue.append_later(kind, &self.id, self.packet(), self.noted(kind, data));
    }

    fn packet(&self) -> Option<&Arc<EpisodePacket>> {
        self.packet.as_ref()
    }

    fn noted(&self, kind: Kind, mut data: Map<String, Value>) -> Map<String, Value> {
        data.extend(self.asked.iter().map(|(name, value)| (name.clone(), value.clone())));
        data.extend(self.user_turn.iter().map(|turn| (USER_TURN.to_owned(), turn.as_str().into())));
        // What was asked for and refused can be tried on another policy, too.
        let refuses = data.get("outcome").is_some_and(|outcome| outcome == "denied" || outcome == SHADOW);
        if kind == Kind::Intent || (refuses && matches!(kind, Kind::Decision | Kind::Confirmation)) {
            for (name, value) in self.planned.iter() {
                data.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
        data
    }

    /// Gives what a rule on what a call says has found, and records it if it refuses. Where rules are only tried, it refuses
    /// nothing: the entry says what it would have refused.
    pub(crate) async fn check_or_try(&self, is_shadow: bool, verdict: Result<(), Blocked>) -> Result<(), Blocked> {
        match self.try_only(is_shadow, verdict).await {
            Ok(Err(blocked)) => self.check(Err(blocked)).await,
            Ok(Ok(())) => Ok(()),
            Err(unrecorded) => Err(unrecorded),
        }
    }

    /// The same where the caller records a refusal.
    ///
    /// # Errors
    /// If what would have been refused cannot be recorded (A1).
    pub(crate) async fn try_only(
        &self,
        is_shadow: bool,
        verdict: Result<(), Blocked>,
    ) -> Result<Result<(), Blocked>, Blocked> {
        let blocked = match verdict {
            Err(blocked) if is_shadow => blocked,
            verdict => return Ok(verdict),
        };
        let is_new = self.tried.lock().unwrap_or_else(PoisonError::into_inner).insert(blocked.to_string());
        if is_new {
            let entry = json!({ "code": blocked.code.as_str(), "outcome": SHADOW, "why": self.why(&blocked) });
            self.record(Kind::Decision, data(entry)).await?;
        }
        Ok(Ok(()))
    }

    /// Gives what a check says, and records it if it refuses.
    pub(crate) async fn check<T>(&self, verdict: Result<T, Blocked>) -> Result<T, Blocked> {
        if let Err(blocked) = &verdict {
            let entry = json!({ "code": blocked.code.as_str(), "outcome": "denied", "why": self.why(blocked) });
            self.record(Kind::Decision, data(entry)).await?;
        }
        verdict
    }

    /// Records that the turn is at its end, and why.
    pub(crate) async fn aborted(&self, abort: &Abort) -> Result<(), Blocked> {
        let entry = json!({ "code": abort.code().as_str(), "outcome": "aborted", "why": abort.to_string() });
        self.record(Kind::Turn, data(entry)).await
    }
}

/// The outcome of a decision that would have refused, and was only tried.
const SHADOW: &str = "shadow";
