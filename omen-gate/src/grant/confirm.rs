//! G3: confirmations of individual calls.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::Serialize;

use crate::base::{Blocked, GateClock, GateCode, Permissions, Ratchet, ToolId, TurnId, bounded};
use crate::call::{Call, CallHash, Fault, guarded};
use crate::grant::decision::{DecisionStage, Ruling};

pub use crate::grant::responder::Responder;

/// Confirmer of calls. An implementation needs neither a timeout nor a panic handler: the gate provides both.
#[async_trait]
pub trait Confirmer: Debug + Send + Sync + 'static {
    /// Shows the question and waits for the answer. If the gate stops waiting, the future is dropped.
    async fn confirm(&self, question: &Question) -> Reply;
}

/// Question whether this call, with these arguments, may be made once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Question {
    /// Turn that the call belongs to.
    pub turn: TurnId,
    /// Tool to call.
    pub tool: ToolId,
    /// Arguments as canonical JSON. They may contain foreign text, so show them with care.
    pub args: String,
    /// Hash of the tool and arguments; the answer is bound to it (D48).
    pub hash: CallHash,
    /// Permissions of the tool.
    pub permissions: Permissions,
    /// Time limit for the answer, counted from when the question is asked.
    #[serde(skip)]
    pub timeout: Duration,
}

/// Answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Confirms this call once.
    Confirmed,
    /// Denies the call.
    Denied {
        /// Reason given by the responder, of which only a bounded part is kept.
        why: String,
    },
    /// Confirms this call once, by a responder that the confirmer has identified. The audit log records the name.
    ConfirmedBy(Responder),
    /// Denies the call, by a responder that the confirmer has identified. The audit log records the name.
    DeniedBy {
        /// Responder who denies the call.
        by: Responder,
        /// Reason given by the responder, of which only a bounded part is kept.
        why: String,
    },
}

/// Confirmer that denies everything because there is nobody to ask.
#[derive(Clone, Copy, Debug)]
pub struct Nobody;

#[async_trait]
impl Confirmer for Nobody {
    async fn confirm(&self, _: &Question) -> Reply {
        Reply::Denied { why: "there is no confirmer".to_owned() }
    }
}

/// Time limits for confirmations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfirmLimits {
    /// Time limit for an answer. No answer is a denial.
    pub timeout: Duration,
    /// Validity of an answer, counted from its arrival.
    pub valid: Duration,
}

/// Requests confirmations from a confirmer.
#[derive(Clone, Debug)]
pub struct Confirmations {
    confirmer: Arc<dyn Confirmer>,
    clock: Arc<Ratchet>,
    limits: ConfirmLimits,
}

impl Confirmations {
    /// Creates a value that requests confirmations from `confirmer`, within time limits.
    pub fn new(confirmer: Arc<dyn Confirmer>, clock: Arc<dyn GateClock>, limits: ConfirmLimits) -> Self {
        Self::with_clock(confirmer, Ratchet::over(clock), limits)
    }

    /// Creates confirmations with a shared clock.
    pub(crate) fn with_clock(confirmer: Arc<dyn Confirmer>, clock: Arc<Ratchet>, limits: ConfirmLimits) -> Self {
        Self { confirmer, clock, limits }
    }

    /// Asks about a call once. Without an answer in time, or if the confirmer panics, the call is denied and not asked
    /// about again (D48). Waiting uses the runtime's time; an answer can also be late by the injected clock. Requires a
    /// tokio runtime with time enabled.
    pub async fn ask(&self, call: &Call) -> Ruling<Confirmed> {
        self.ask_within(call, self.limits).await
    }

    /// Asks within limits other than the default ones.
    pub(crate) async fn ask_within(&self, call: &Call, limits: ConfirmLimits) -> Ruling<Confirmed> {
        let waits_until = self.after(limits.timeout);
        let question = Question {
            turn: call.turn().clone(),
            tool: call.tool().clone(),
            args: call.args_text().to_owned(),
            hash: call.hash(),
            permissions: call.demand().permissions.clone(),
            timeout: limits.timeout,
        };
        let confirmer = Arc::clone(&self.confirmer);
        let reply = guarded(limits.timeout, async move { Ok(confirmer.confirm(&question).await) }).await;
        let late = self.clock.elapsed() >= waits_until;
        let (reply, by) = match reply {
            Ok(Reply::Confirmed) => (Ok(None), None),
            Ok(Reply::Denied { why }) => (Ok(Some(why)), None),
            Ok(Reply::ConfirmedBy(by)) => (Ok(None), Some(by)),
            Ok(Reply::DeniedBy { by, why }) => (Ok(Some(why)), Some(by)),
            Err(fault) => (Err(fault), None),
        };
        let outcome = match reply {
            Ok(None) if !late => Ok(Confirmed {
                turn: call.turn().clone(),
                hash: call.hash(),
                until: self.after(limits.valid),
                clock: Arc::clone(&self.clock),
            }),
            Ok(None) | Err(Fault::Timeout { .. }) => Err(self.denied(call, "no answer in time")),
            Ok(Some(why)) => Err(self.denied(call, &bounded(&why))),
            Err(fault) => Err(self.denied(call, &format!("asking failed: {fault}"))),
        };
        Ruling::new(call, DecisionStage::Confirmation, Vec::new(), outcome).answered_by(by)
    }

    fn after(&self, time: Duration) -> Duration {
        self.clock.elapsed().saturating_add(time)
    }

    fn denied(&self, call: &Call, why: &str) -> Blocked {
        let message = format!("the call of `{}` was not confirmed: {why}", call.tool());
        Blocked::new(GateCode::G3, message, "the call is denied; a new turn may ask again")
    }
}

/// Confirmation of one call. That call consumes it, and it is invalid for any other call.
/// ```compile_fail,E0382
/// # fn f(one: omen_gate::Lease, two: omen_gate::Lease, confirmed: omen_gate::Confirmed) {
/// let first = one.redeem(Some(confirmed));
/// let second = two.redeem(Some(confirmed)); // One confirmation, one call.
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a confirmation is good for one call: redeem the lease with it"]
pub struct Confirmed {
    turn: TurnId,
    hash: CallHash,
    /// End of validity, by the clock with which the confirmation was given.
    until: Duration,
    clock: Arc<Ratchet>,
}

impl Confirmed {
    /// Returns the hash of the confirmed call.
    #[must_use]
    pub fn hash(&self) -> CallHash {
        self.hash
    }

    /// Consumes the confirmation for a call.
    pub(crate) fn spend(self, call: &Call) -> Result<(), Blocked> {
        let (message, help) = if self.hash != call.hash() || self.turn != *call.turn() {
            let message = format!("the confirmation is for a different call than this one of `{}`", call.tool());
            (message, "confirm this tool with these arguments, in this turn")
        } else if self.clock.elapsed() >= self.until {
            (format!("the confirmation of `{}` has expired", call.tool()), "confirm the call again")
        } else {
            return Ok(());
        };
        Err(Blocked::new(GateCode::G3, message, help))
    }
}
