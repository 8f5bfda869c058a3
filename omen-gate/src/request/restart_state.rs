//! State restored from the audit log after a restart (PG-6, R2, G2).

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::base::{Blocked, GateClock, GateCode, Permission, ServerName, ToolId, ToolName, TurnId};
use crate::call::{BudgetLimits, Call, FailureBudget, FaultClass, Rates};
use crate::grant::{Grant, Grants};
use crate::request::audit_queue::data;
use crate::request::context::RequestContext;
use omen_audit::{Audit, AuditError, InDoubt, Kind, OrderRecord, Record};

/// State from before the restart, as found in the audit log.
#[derive(Clone, Debug)]
pub(crate) struct RestartState(Audit);

impl RestartState {
    pub(crate) fn new(audit: Audit) -> Self {
        Self(audit)
    }

    /// Returns the calls that may have run and have no known outcome.
    pub(crate) fn in_doubt(&self) -> Vec<InDoubt> {
        self.0.in_doubt()
    }

    /// Refuses a repeated call: one whose directive has already had its call, or one equal to a call that may have run.
    /// A tool that only reads may be called again in another turn.
    pub(crate) fn allows(&self, context: &RequestContext, call: &Call) -> Result<(), Blocked> {
        let (past, turn) = (self.0.past(), context.id().as_str());
        if let Some(doubt) = past.doubt(&call.hash().to_string(), |doubt| {
            doubt.turn == turn || call.demand().permissions.iter().any(|permission| permission != Permission::Read)
        }) {
            let message = format!(
                "the call of `{}` may have run already: the gate stopped before its outcome was known (entry {} of the \
                 audit log)",
                call.tool(),
                doubt.sequence
            );
            let help =
                "check what the tool did; then stop the gate, record that with `omen audit settle`, and start it again";
            return Err(Blocked::new(GateCode::Pg6, message, help));
        }
        match context.directive() {
            Some(directive) if past.was_called(turn, directive.as_str()) => {
                let message = format!(
                    "the tool of the directive `{directive}` was already called, before the gate was restarted"
                );
                let help = "settle the task with the outcome in the audit log, or send a new directive";
                Err(Blocked::new(GateCode::Pg6, message, help))
            }
            _ => Ok(()),
        }
    }

    /// Returns the log's data for the order rules.
    pub(crate) fn order(&self) -> &[OrderRecord] {
        self.0.past().order()
    }

    /// Restores the failure budget of a turn (R2).
    pub(crate) fn budget(&self, turn: &TurnId, limits: BudgetLimits) -> FailureBudget {
        let Some(failures) = self.0.past().failures(turn.as_str()) else { return FailureBudget::new(limits) };
        let class = FaultClass::ALL.iter().find(|class| class.as_str() == failures.last);
        let last = class.copied().unwrap_or(FaultClass::Cancelled);
        FailureBudget::resumed(limits, failures.failures, failures.in_a_row, last)
    }

    /// Counts the calls of the last day for the rate limits. Setting the clock back does not make them older.
    pub(crate) fn restore_rates(&self, rates: &Rates, clock: &dyn GateClock) {
        let now = clock.wall();
        for (server, name, made) in self.0.past().recent().tools() {
            let (Ok(server), Ok(name)) = (ServerName::new(server), ToolName::new(name)) else { continue };
            let tool = ToolId { server, tool: name };
            for time in made {
                rates.restore(tool.clone(), now.duration_since(*time).unwrap_or_default());
            }
        }
    }

    /// Returns the number of calls that a turn has made.
    pub(crate) fn calls(&self, turn: &TurnId) -> u32 {
        self.0.past().recent().of_turn(turn.as_str())
    }

    pub(crate) fn calls_of_session(&self, session: &TurnId) -> u32 {
        self.0.past().recent().of_session(session.as_str())
    }

    /// Restores the uses of the default grants (G2). If the configuration contains the same grant twice, the logged
    /// calls are divided between the two.
    pub(crate) fn restore_uses(&self, grants: &Grants) {
        let past = self.0.past();
        let mut left_over = BTreeMap::new();
        grants.spend(|grant, left| {
            let Ok(Value::Object(members)) = serde_json::to_value(grant) else { return 0 };
            let spent =
                left_over.entry(Value::Object(members.clone()).to_string()).or_insert_with(|| past.spent(&members));
            let taken = u32::try_from(*spent).unwrap_or(u32::MAX).min(left);
            *spent -= u64::from(taken);
            taken
        });
    }

    /// Revokes the default grants that were revoked before the restart, and records this so that the next restart finds
    /// it (G2).
    pub(crate) fn keep_revoked(&self, grants: &Grants, turn: &TurnId) -> Result<(), AuditError> {
        let past = self.0.past();
        let was_revoked = |grant: &Grant| match serde_json::to_value(grant) {
            Ok(Value::Object(members)) => past.is_revoked(&members),
            _ => false,
        };
        for (id, Grant { tool, permission, .. }) in grants.revoke_where(was_revoked) {
            let why = "it was revoked before the gate was restarted";
            let entry = data(json!({ "grants": [id], "permission": permission, "tool": tool, "why": why }));
            let _ = self.0.append(Record::new(Kind::Revocation, turn, entry))?;
        }
        Ok(())
    }
}
