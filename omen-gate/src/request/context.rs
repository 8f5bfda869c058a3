//! What a request carries of its turn, and how it records what is decided for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use omen_types::PacketId;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::audit::{AuditQueue, EpisodePacket, Kind, data};
use crate::base::clock::instant;
use crate::base::{Blocked, GateClock, GateCode, StepId, TurnId};
use crate::call::Abort;
use crate::config::Policy;
use crate::request::directive::Directive;

/// The context of a request: the id of its turn, its directive and step, and the way to the audit log.
#[derive(Clone, Debug)]
pub(crate) struct RequestContext {
    id: TurnId,
    directive: Option<Arc<Directive>>,
    step: Option<Arc<UnderWay>>,
    /// What each entry has of the request: the hash of its query, or the user inputs that it rests on (A2).
    asked: Arc<Map<String, Value>>,
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
        Self { id, directive: directive.map(Arc::new), step: None, asked: Arc::default(), query: None, audit_queue }
    }

    /// The same turn for a request, with what its entries have of it.
    pub(crate) fn asked(self, asked: Map<String, Value>) -> Self {
        Self { asked: Arc::new(asked), ..self }
    }

    /// The same turn for what a user asks as a text, which is screened once more right before a call.
    pub(crate) fn querying(self, query: &str) -> Self {
        Self { query: Some(query.into()), ..self }
    }

    /// The same turn for one of its steps, and what ends the step when it is dropped.
    pub(crate) fn within(&self, step: &StepId) -> (Self, EndOfStep) {
        let under_way = Arc::new(UnderWay { step: step.clone(), is_over: AtomicBool::new(false) });
        (Self { step: Some(Arc::clone(&under_way)), ..self.clone() }, EndOfStep(under_way))
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
        self.directive.as_ref().map(|directive| &directive.packet.packet_id)
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
        self.audit_queue.append(kind, &self.id, self.packet(), self.noted(data)).await
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
        self.audit_queue.append_later(kind, &self.id, self.packet(), self.noted(data));
    }

    fn packet(&self) -> Option<&Arc<EpisodePacket>> {
        self.directive.as_ref().map(|directive| &directive.packet)
    }

    fn noted(&self, mut data: Map<String, Value>) -> Map<String, Value> {
        data.extend(self.asked.iter().map(|(name, value)| (name.clone(), value.clone())));
        data
    }

    /// Gives what a check says, and records it if it refuses.
    pub(crate) async fn check<T>(&self, verdict: Result<T, Blocked>) -> Result<T, Blocked> {
        if let Err(Blocked { code, message, .. }) = &verdict {
            self.record(Kind::Decision, data(json!({ "code": code.as_str(), "outcome": "denied", "why": message })))
                .await?;
        }
        verdict
    }

    /// Records that the turn is at its end, and why.
    pub(crate) async fn aborted(&self, abort: &Abort) -> Result<(), Blocked> {
        let entry = json!({ "code": abort.code().as_str(), "outcome": "aborted", "why": abort.to_string() });
        self.record(Kind::Turn, data(entry)).await
    }
}
