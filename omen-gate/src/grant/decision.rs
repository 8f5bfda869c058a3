//! G4: decisions whose outcome is available only after they have been logged.

use std::fmt::Debug;

use serde::{Serialize, Serializer};

use crate::base::{Blocked, GateCode, Permissions, ToolId, TurnId};
use crate::call::{Call, CallHash};
use crate::grant::GrantId;
use crate::grant::responder::Responder;

/// Decision about a call, as logged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Decision {
    /// Turn of the call.
    pub turn: TurnId,
    /// Tool to call.
    pub tool: ToolId,
    /// Permissions that the tool needs.
    pub permissions: Permissions,
    /// Hash of the tool and arguments.
    pub call: CallHash,
    /// Stage at which the decision was made.
    pub stage: DecisionStage,
    /// Outcome of the decision.
    pub outcome: Outcome,
    /// Rule that denies the call.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "code")]
    pub code: Option<GateCode>,
    /// Reason why the call is denied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Grants on which the decision depends.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub grants: Vec<GrantId>,
    /// Whether the call continues only after a confirmation (G3). Known at authorization; omitted if false.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub needs_confirmation: bool,
    /// Responder, if the call had to be confirmed and the confirmer identified the responder (G3).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Responder>,
}

/// Stage at which a decision is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DecisionStage {
    /// Before the confirmation and the call (G1, G2).
    Authorization,
    /// When the confirmation is answered, or the wait for it ends without an answer (G3).
    Confirmation,
    /// At dispatch (G2).
    Dispatch,
}

/// Outcome of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The call may continue.
    Allowed,
    /// The call is denied.
    Denied,
}

impl Decision {
    fn new(call: &Call, stage: DecisionStage, grants: Vec<GrantId>, denied: Option<&Blocked>) -> Self {
        Self {
            turn: call.turn().clone(),
            tool: call.tool().clone(),
            permissions: call.demand().permissions.clone(),
            call: call.hash(),
            stage,
            outcome: if denied.is_some() { Outcome::Denied } else { Outcome::Allowed },
            code: denied.map(|blocked| blocked.code),
            why: denied.map(|blocked| blocked.unquoted().to_owned()),
            grants,
            needs_confirmation: false,
            by: None,
        }
    }

    /// Builds the decision on a call that ended while it waited for a confirmation (G3).
    pub(crate) fn withdrawn(call: &Call) -> Self {
        let message = format!("the call of `{}` ended before it was confirmed", call.tool());
        let blocked = Blocked::new(GateCode::G3, message, "make the call again").quoting_nothing();
        Self::new(call, DecisionStage::Confirmation, Vec::new(), Some(&blocked))
    }
}

/// Decision with its result, which becomes available only by logging the decision (G4).
#[derive(Debug)]
#[must_use = "log the decision with `recorded()`, which returns its outcome"]
pub struct Ruling<T> {
    decision: Decision,
    pub(super) outcome: Result<T, Blocked>,
}

impl<T> Ruling<T> {
    pub(crate) fn new(call: &Call, stage: DecisionStage, grants: Vec<GrantId>, outcome: Result<T, Blocked>) -> Self {
        Self { decision: Decision::new(call, stage, grants, outcome.as_ref().err()), outcome }
    }

    /// Sets whether the call continues only after a confirmation.
    pub(crate) fn needing_confirmation(mut self, needed: bool) -> Self {
        self.decision.needs_confirmation = needed;
        self
    }

    pub(crate) fn answered_by(mut self, by: Option<Responder>) -> Self {
        self.decision.by = by;
        self
    }

    /// Returns the decision to log.
    pub fn decision(&self) -> &Decision {
        &self.decision
    }

    /// Logs the decision and then returns its result.
    ///
    /// # Errors
    /// The log's error if it cannot record the decision; otherwise the refusal, if the call is denied.
    pub fn recorded<E: From<Blocked>>(self, log: impl FnOnce(&Decision) -> Result<(), E>) -> Result<T, E> {
        log(&self.decision)?;
        Ok(self.outcome?)
    }

    /// Same as [`Self::recorded`], for an asynchronous log.
    ///
    /// # Errors
    /// As [`Self::recorded`].
    pub async fn recorded_by<E: From<Blocked>, F>(self, log: impl FnOnce(Decision) -> F) -> Result<T, E>
    where
        F: Future<Output = Result<(), E>>,
    {
        log(self.decision).await?;
        Ok(self.outcome?)
    }
}

fn code<S: Serializer>(code: &Option<GateCode>, serializer: S) -> Result<S::Ok, S::Error> {
    code.map(GateCode::as_str).serialize(serializer)
}
