//! G4: every decision is a value, and its outcome is had only by logging it.

use std::fmt::Debug;

use serde::{Serialize, Serializer};

use crate::base::{Blocked, GateCode, Permissions, ToolId, TurnId};
use crate::call::{Call, CallHash};
use crate::grant::GrantId;
use crate::grant::responder::Responder;

/// A decision about a call, as it is logged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Decision {
    /// The turn that the call is for.
    pub turn: TurnId,
    /// The tool.
    pub tool: ToolId,
    /// The permissions that the tool needs.
    pub permissions: Permissions,
    /// Stands for tool and arguments.
    pub call: CallHash,
    /// At what point it was made.
    pub stage: DecisionStage,
    /// What it is.
    pub outcome: Outcome,
    /// The rule, if the call is denied.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "code")]
    pub code: Option<GateCode>,
    /// Why, if the call is denied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The grants that it rests on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub grants: Vec<GrantId>,
    /// Whether the call goes on only once it is confirmed (G3). Known when it is authorized; left out where it is false.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub needs_confirmation: bool,
    /// Who answered, if the call had to be confirmed and the confirmer knows (G3).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Responder>,
}

/// When a decision was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DecisionStage {
    /// Before anything was asked or done (G1, G2).
    Authorization,
    /// When the confirmation was answered, or was not (G3).
    Confirmation,
    /// At the moment of dispatch (G2).
    Dispatch,
}

/// What a decision is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The call may go on.
    Allowed,
    /// The call ends here.
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

    /// A call that waited for a confirmation and ended without one (G3).
    pub(crate) fn withdrawn(call: &Call) -> Self {
        let message = format!("the call of `{}` ended before it was confirmed", call.tool());
        let blocked = Blocked::new(GateCode::G3, message, "make the call again").quoting_nothing();
        Self::new(call, DecisionStage::Confirmation, Vec::new(), Some(&blocked))
    }
}

/// A decision with what comes of it. What comes of it is had only by logging the decision (G4).
#[derive(Debug)]
#[must_use = "log the decision with `recorded()`, which returns its outcome"]
pub struct Ruling<T> {
    decision: Decision,
    outcome: Result<T, Blocked>,
}

impl<T> Ruling<T> {
    pub(crate) fn new(call: &Call, stage: DecisionStage, grants: Vec<GrantId>, outcome: Result<T, Blocked>) -> Self {
        Self { decision: Decision::new(call, stage, grants, outcome.as_ref().err()), outcome }
    }

    /// The same, with whether the call goes on only once it is confirmed.
    pub(crate) fn needing_confirmation(mut self, needed: bool) -> Self {
        self.decision.needs_confirmation = needed;
        self
    }

    /// The same, with who answered.
    pub(crate) fn by(mut self, by: Option<Responder>) -> Self {
        self.decision.by = by;
        self
    }

    /// The decision.
    pub fn decision(&self) -> &Decision {
        &self.decision
    }

    /// Logs the decision, then gives what comes of it.
    ///
    /// # Errors
    /// What the log says if it cannot record the decision; else the refusal, if the decision is one.
    pub fn recorded<E: From<Blocked>>(self, log: impl FnOnce(&Decision) -> Result<(), E>) -> Result<T, E> {
        log(&self.decision)?;
        Ok(self.outcome?)
    }

    /// Like [`Self::recorded`], for a log that is waited for.
    ///
    /// # Errors
    /// Like [`Self::recorded`].
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
