//! The gate between an agent and its tools.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::answer::Outputs;
use crate::base::{Blocked, GateClock, GateCode, Permission, Permissions, Ratchet, ToolId, TurnId};
use crate::call::arguments::{KnownNames, Recordable, Recorder};
use crate::call::{Breakers, Call, Fault, Health, Rate, Rates, Snapshot};
use crate::catalog::{Allowlist, Listed};
use crate::config::{Limits, Policy};
use crate::grant::{Confirmations, Confirmed, Grant, GrantId, Grants, Ruling};
use crate::request::audit_queue::{AuditQueue, data};
use crate::request::context::RequestContext;
use crate::request::discoveries::Discoveries;
use crate::request::file_rule_threads::FileRuleThreads;
use crate::request::order::{Order, SessionEnd};
use crate::request::restart_only::RestartOnly;
use crate::request::restart_state::RestartState;
use crate::request::rules::RulesInForce;
use crate::request::turn_registry::TurnRegistry;
use crate::server::Discovery;
use omen_audit::{Anchor, AuditError, InDoubt, Kind};
use omen_order::Owed;

/// Gate between an agent and its tools. Clones refer to the same gate.
///
/// The gate owns its servers. Nothing else can call them, because a call requires a
/// [`Dispatch`](crate::server::Dispatch), which only a gate creates.
#[derive(Clone)]
pub struct Gate(pub(super) Arc<GateParts>);

/// Parts of a gate. Gates [beside](Gate::beside) each other share the parts that are shared pointers or documented so.
#[derive(Clone)]
pub(super) struct GateParts {
    pub(super) rules: Arc<RulesInForce>,
    pub(super) fixed: Arc<RestartOnly>,
    /// Held during a reload.
    pub(super) reloading: Arc<tokio::sync::Mutex<()>>,
    pub(super) discovery: Arc<Discovery>,
    /// Discoveries of all gates that share the state.
    pub(super) discoveries: Discoveries,
    pub(super) outputs: Arc<Outputs>,
    pub(super) grants: Grants,
    pub(super) confirmations: Confirmations,
    pub(super) breakers: Breakers,
    pub(super) rates: Arc<Rates>,
    pub(super) recorder: Recorder,
    pub(super) on_disk: FileRuleThreads,
    /// Whether shadow mode stays on, even if a reload turns it off.
    pub(super) keeps_shadow: bool,
    pub(super) health: Health,
    pub(super) turns: Arc<TurnRegistry>,
    pub(super) before: RestartState,
    pub(super) audit_queue: AuditQueue,
    pub(super) order: Order,
    /// Monotonic clock for expiry.
    pub(super) clock: Arc<Ratchet>,
}

/// Omits the parts, which would fill pages.
impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate").field("servers", &self.0.discovery.servers().collect::<Vec<_>>()).finish_non_exhaustive()
    }
}

impl Gate {
    /// Adds a grant at run time. It is recorded in the audit log before it takes effect (G4).
    ///
    /// # Errors
    /// If the grant cannot be recorded (A1), there are too many grants (G1), or it was revoked while being recorded (G2).
    pub async fn grant(&self, turn: &TurnId, grant: Grant) -> Result<GrantId, Blocked> {
        let state = RequestContext::new(turn.clone(), None, self.0.audit_queue.clone());
        let reserved = state.check(self.0.grants.reserve(grant)).await?;
        state.record(Kind::Grant, data(json!({ "grants": [reserved.given()] }))).await?;
        state.check(reserved.give()).await
    }

    /// Revokes all grants of a permission for a tool. This takes effect immediately, even if it cannot be recorded: it
    /// also stops calls that are authorized but not yet dispatched, and cancels running ones (G2).
    ///
    /// # Errors
    /// If the revocation cannot be recorded (A1). The grants are revoked nevertheless.
    pub async fn revoke(&self, turn: &TurnId, tool: &ToolId, permission: Permission) -> Result<Vec<GrantId>, Blocked> {
        let revoked = self.0.grants.revoke(tool, permission);
        let entry = json!({ "grants": revoked, "permission": permission, "tool": tool });
        let state = RequestContext::new(turn.clone(), None, self.0.audit_queue.clone());
        state.record(Kind::Revocation, data(entry)).await?;
        Ok(revoked)
    }

    /// Forgets a finished turn or session with its failures, and records and returns what a session owes (O-4). The id
    /// must not be used again.
    pub fn end_turn(&self, turn: &TurnId) -> Vec<Owed> {
        self.end_session(turn, SessionEnd::Closed)
    }

    /// Forgets a session that has ended, with its calls, and records and returns what it owes (O-4).
    pub fn end_session(&self, session: &TurnId, how: SessionEnd) -> Vec<Owed> {
        self.0.turns.end(session);
        self.0.order.end(session, how)
    }

    /// Returns what a session currently owes under the order rules, before its end.
    #[must_use]
    pub fn owed(&self, session: &TurnId) -> Vec<Owed> {
        self.0.order.owed(session)
    }

    /// Adds what a session currently owes to the help of a refusal.
    #[must_use]
    pub fn with_debts(&self, session: &TurnId, blocked: Blocked) -> Blocked {
        self.0.order.with_debts(session, blocked)
    }

    /// Returns the health of the tools, for people to read; no decision depends on it (R5).
    #[must_use]
    pub fn health(&self) -> Snapshot {
        self.0.health.snapshot(&self.0.breakers)
    }

    /// Returns an anchor for the current end of the audit log, to be kept elsewhere (A3).
    ///
    /// # Errors
    /// If a write failed, so the end of the log is unknown.
    pub fn anchor(&self) -> Result<Anchor, AuditError> {
        self.0.audit_queue.audit().anchor()
    }

    /// Returns the operator's permissions for a tool; `None` if it is not allowed.
    #[must_use]
    pub fn permissions(&self, tool: &ToolId) -> Option<Permissions> {
        self.allowed().get(tool).map(|allowed| allowed.demand.permissions.clone())
    }

    pub(crate) fn policy(&self) -> Arc<Policy> {
        self.0.rules.with(|rules| Arc::clone(&rules.policy))
    }

    pub(crate) fn grants(&self) -> &Grants {
        &self.0.grants
    }

    pub(crate) fn breakers(&self) -> &Breakers {
        &self.0.breakers
    }

    pub(crate) fn rates(&self) -> &Rates {
        &self.0.rates
    }

    /// Returns the rate limit of a tool, if it has one.
    pub(crate) fn rate_of(&self, tool: &ToolId) -> Option<Rate> {
        self.allowed().get(tool)?.rate
    }

    /// Returns whether shadow mode is on: violations of the rules on content and order are recorded but not enforced.
    pub(crate) fn is_shadow(&self) -> bool {
        self.0.keeps_shadow || self.0.rules.with(|rules| rules.shadow)
    }

    /// Returns the part of a call that `[audit] arguments` allows to be recorded, for a program that keeps its own
    /// record in addition to the audit log.
    #[must_use]
    pub fn recordable(&self, tool: &ToolId, args: &Map<String, Value>) -> Recordable {
        // A server whose code panics lists no tools.
        let listed = if self.asks_for_names() { self.discovery().known(tool).ok().flatten() } else { None };
        self.recorded(tool, args, listed.as_deref())
    }

    /// Same as [`recordable`](Self::recordable), with the tool as its server lists it. Until the tool is listed, no
    /// member name counts as known.
    pub(crate) fn recorded(&self, tool: &ToolId, args: &Map<String, Value>, listed: Option<&Listed>) -> Recordable {
        let allowed = self.allowed();
        let rules = allowed.get(tool).map(|allowed| &allowed.arguments);
        let declares = |name: &str| listed.is_some_and(|listed| listed.declares(name));
        self.0.recorder.record(&KnownNames::new(rules, &declares), args)
    }

    /// Returns whether redaction of a call depends on its tool's schema.
    pub(crate) fn asks_for_names(&self) -> bool {
        self.0.recorder.asks_for_names()
    }

    pub(crate) fn outputs(&self) -> &Outputs {
        &self.0.outputs
    }

    pub(crate) fn turns(&self) -> &TurnRegistry {
        &self.0.turns
    }

    /// Returns calls that may have run and have no known outcome, because a gate that wrote to this log died in
    /// between. They are not repeated until somebody has found out what the tool did and recorded it with
    /// [`Audit::settle`](omen_audit::Audit::settle) or `omen audit settle` (PG-6).
    #[must_use]
    pub fn in_doubt(&self) -> Vec<InDoubt> {
        self.0.before.in_doubt()
    }

    pub(crate) fn before(&self) -> &RestartState {
        &self.0.before
    }

    pub(crate) fn audit_queue(&self) -> &AuditQueue {
        &self.0.audit_queue
    }

    pub(crate) fn order(&self) -> &Order {
        &self.0.order
    }

    pub(crate) fn clock(&self) -> &dyn GateClock {
        self.0.clock.as_ref()
    }

    pub(crate) fn discovery(&self) -> &Discovery {
        &self.0.discovery
    }

    pub(crate) fn allowed(&self) -> Arc<Allowlist> {
        self.0.rules.with(|rules| Arc::clone(&rules.allow))
    }

    pub(crate) fn limits(&self) -> Arc<Limits> {
        self.0.rules.with(|rules| Arc::clone(&rules.limits))
    }

    /// Accepts a call whose arguments satisfy their rules (PG-3).
    pub(crate) async fn judge_arguments(&self, call: &Call) -> Result<(), Blocked> {
        self.0.on_disk.judge_arguments(self.allowed(), call).await
    }

    /// Requests a confirmation of a call, within the time limits in force now.
    pub(crate) async fn ask(&self, call: &Call) -> Ruling<Confirmed> {
        let limits = self.0.rules.with(|rules| rules.confirm);
        self.0.confirmations.ask_within(call, limits).await
    }

    /// Checks that an authorized call is still allowed in the same way, since the configuration may have changed (PG-3).
    pub(crate) fn still_allows(&self, listed: &Listed, call: &Call) -> Result<(), Blocked> {
        if self.allowed().permit(listed)?.demand == *call.demand() {
            return Ok(());
        }
        let message =
            format!("the configuration changed something that `{}` needs after the call was authorized", call.tool());
        Err(Blocked::new(GateCode::Pg3, message, "make the call again: it will be authorized again"))
    }

    pub(crate) fn call_timeout(&self) -> Duration {
        Duration::from_secs(u64::from(self.limits().call_timeout_seconds))
    }

    pub(crate) fn answer_bytes(&self) -> u64 {
        u64::from(self.limits().answer_bytes)
    }

    pub(crate) fn observed(&self, tool: &ToolId, fault: Option<&Fault>) {
        self.0.health.observe(tool, fault);
    }
}
