//! The gate: everything that stands between an agent and its tools.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::answer::Outputs;
use crate::base::{Blocked, GateClock, GateCode, Permission, Permissions, Ratchet, ToolId, TurnId};
use crate::call::arguments::{Known, Recordable, Recorder};
use crate::call::{Breakers, Call, Fault, Health, Rate, Rates, Snapshot};
use crate::catalog::{Allowlist, Listed};
use crate::config::{Limits, Policy};
use crate::grant::{Confirmations, Confirmed, Grant, GrantId, Grants, Ruling};
use crate::request::audit_queue::{AuditQueue, data};
use crate::request::before::Before;
use crate::request::context::RequestContext;
use crate::request::discoveries::Discoveries;
use crate::request::fixed::Fixed;
use crate::request::on_disk::OnDisk;
use crate::request::rules::InForce;
use crate::request::turn_registry::TurnRegistry;
use crate::server::Discovery;
use omen_audit::{Anchor, AuditError, InDoubt, Kind};

/// A gate. Clones are the same gate.
///
/// It owns its servers: nobody else can call them, for a call takes a [`Dispatch`](crate::server::Dispatch), which
/// only a gate makes.
#[derive(Clone)]
pub struct Gate(pub(super) Arc<Parts>);

/// What a gate shares with those [beside](Gate::beside) it are the parts that are shared pointers, or that say so.
#[derive(Clone)]
pub(super) struct Parts {
    pub(super) rules: Arc<InForce>,
    pub(super) fixed: Arc<Fixed>,
    /// Held while another configuration is put in force.
    pub(super) reloading: Arc<tokio::sync::Mutex<()>>,
    /// The gate's own.
    pub(super) discovery: Arc<Discovery>,
    /// Those of all gates that share the rest.
    pub(super) discoveries: Discoveries,
    pub(super) outputs: Arc<Outputs>,
    pub(super) grants: Grants,
    /// The gate's own.
    pub(super) confirmations: Confirmations,
    pub(super) breakers: Breakers,
    pub(super) rates: Arc<Rates>,
    pub(super) recorder: Recorder,
    pub(super) on_disk: OnDisk,
    /// Whether rules on what a call says are only tried, whatever a reload brings.
    pub(super) keeps_shadow: bool,
    pub(super) health: Health,
    pub(super) turns: Arc<TurnRegistry>,
    pub(super) before: Before,
    pub(super) audit_queue: AuditQueue,
    /// What things expire by. It never goes back.
    pub(super) clock: Arc<Ratchet>,
}

/// All that a gate is would fill pages.
impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate").field("servers", &self.0.discovery.servers().collect::<Vec<_>>()).finish_non_exhaustive()
    }
}

impl Gate {
    /// Grants something while running. It is in the audit log before it is in force (G4).
    ///
    /// # Errors
    /// If it cannot be recorded (A1), there are too many grants (G1), or it was revoked while it was recorded (G2).
    pub async fn grant(&self, turn: &TurnId, grant: Grant) -> Result<GrantId, Blocked> {
        let state = RequestContext::new(turn.clone(), None, self.0.audit_queue.clone());
        let reserved = state.check(self.0.grants.reserve(grant)).await?;
        state.record(Kind::Grant, data(json!({ "grants": [reserved.given()] }))).await?;
        state.check(reserved.give()).await
    }

    /// Revokes all grants of a permission for a tool. It is in force at once, also for calls that are authorized
    /// and not dispatched yet, and breaks off those that run, whether or not it can be recorded (G2).
    ///
    /// # Errors
    /// If it cannot be recorded (A1). It is revoked all the same.
    pub async fn revoke(&self, turn: &TurnId, tool: &ToolId, permission: Permission) -> Result<Vec<GrantId>, Blocked> {
        let revoked = self.0.grants.revoke(tool, permission);
        let entry = json!({ "grants": revoked, "permission": permission, "tool": tool });
        let state = RequestContext::new(turn.clone(), None, self.0.audit_queue.clone());
        state.record(Kind::Revocation, data(entry)).await?;
        Ok(revoked)
    }

    /// Forgets a turn that is over, with its failures. An id must not be used again after that.
    pub fn end_turn(&self, turn: &TurnId) {
        self.0.turns.end(turn);
    }

    /// The health of the tools, for people to read; no decision depends on it (R5).
    #[must_use]
    pub fn health(&self) -> Snapshot {
        self.0.health.snapshot(&self.0.breakers)
    }

    /// Where the audit log stands, to be kept elsewhere (A3).
    ///
    /// # Errors
    /// If a write failed, so that it is not known.
    pub fn anchor(&self) -> Result<Anchor, AuditError> {
        self.0.audit_queue.audit().anchor()
    }

    /// What the operator says that a tool can do; none if it is not allowed.
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

    /// How often a tool may be called.
    pub(crate) fn rate_of(&self, tool: &ToolId) -> Option<Rate> {
        self.allowed().get(tool)?.rate
    }

    /// Whether rules on what a call says are tried, and not enforced.
    pub(crate) fn is_shadow(&self) -> bool {
        self.0.keeps_shadow || self.0.rules.with(|rules| rules.shadow)
    }

    /// What `[audit] arguments` lets be written down of a call, for a program that keeps a record of its own beside the audit log.
    #[must_use]
    pub fn recordable(&self, tool: &ToolId, args: &Map<String, Value>) -> Recordable {
        // A server whose code panics lists nothing.
        let listed = if self.asks_for_names() { self.discovery().known(tool).ok().flatten() } else { None };
        self.recorded(tool, args, listed.as_deref())
    }

    /// The same with the tool as its server lists it; before that is known, no name of a member is.
    pub(crate) fn recorded(&self, tool: &ToolId, args: &Map<String, Value>, listed: Option<&Listed>) -> Recordable {
        let allowed = self.allowed();
        let rules = allowed.get(tool).map(|allowed| &allowed.arguments);
        let declares = |name: &str| listed.is_some_and(|listed| listed.declares(name));
        self.0.recorder.record(&Known::new(rules, &declares), args)
    }

    /// Whether what is recorded of a call depends on the schema of its tool.
    pub(crate) fn asks_for_names(&self) -> bool {
        self.0.recorder.asks_for_names()
    }

    pub(crate) fn outputs(&self) -> &Outputs {
        &self.0.outputs
    }

    pub(crate) fn turns(&self) -> &TurnRegistry {
        &self.0.turns
    }

    /// The calls that may have run and whose outcome is not known: a gate that wrote to this log before died in between.
    /// None of them is repeated (PG-6) until somebody has found out what its tool did, and has recorded it:
    /// [`Audit::settle`](omen_audit::Audit::settle), `omen audit settle`.
    #[must_use]
    pub fn in_doubt(&self) -> Vec<InDoubt> {
        self.0.before.in_doubt()
    }

    pub(crate) fn before(&self) -> &Before {
        &self.0.before
    }

    pub(crate) fn audit_queue(&self) -> &AuditQueue {
        &self.0.audit_queue
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

    /// Lets a call pass whose arguments satisfy the rules on them (PG-3).
    pub(crate) async fn judge_arguments(&self, call: &Call) -> Result<(), Blocked> {
        self.0.on_disk.judge_arguments(self.allowed(), call).await
    }

    /// Asks somebody to confirm a call, within the limits in force now.
    pub(crate) async fn ask(&self, call: &Call) -> Ruling<Confirmed> {
        let limits = self.0.rules.with(|rules| rules.confirm);
        self.0.confirmations.ask_within(call, limits).await
    }

    /// Whether a call that was authorized is still allowed in the same way (PG-3): the configuration may be another one.
    pub(crate) fn still_allows(&self, listed: &Listed, call: &Call) -> Result<(), Blocked> {
        if self.allowed().permit(listed)?.demand == *call.demand() {
            return Ok(());
        }
        let message =
            format!("what `{}` needs was changed in the configuration after the call was authorized", call.tool());
        Err(Blocked::new(GateCode::Pg3, message, "make the call again; it is authorized anew"))
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
