//! G3: somebody is asked, and the answer is good for one call.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::Serialize;

use crate::base::{Blocked, GateClock, GateCode, Permissions, Ratchet, ToolId, TurnId, bounded};
use crate::call::{Call, CallHash, Fault, guarded};
use crate::grant::decision::{DecisionStage, Ruling};

pub use crate::grant::responder::Responder;

/// Asks somebody to confirm a call. An implementation needs no timeout and no panic handler: the gate has both.
#[async_trait]
pub trait Confirmer: Debug + Send + Sync + 'static {
    /// Shows the question and waits for the answer. If the gate waits no longer, the future is dropped.
    async fn confirm(&self, question: &Question) -> Reply;
}

/// What somebody is asked: this call, with these arguments, once?
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Question {
    /// The turn that the call is for.
    pub turn: TurnId,
    /// The tool.
    pub tool: ToolId,
    /// The arguments as canonical JSON. Foreign text may be in them: show it with care.
    pub args: String,
    /// Stands for tool and arguments; the answer is bound to it (D48).
    pub hash: CallHash,
    /// What the tool may do.
    pub permissions: Permissions,
    /// How long an answer is waited for, from the moment that the question is asked.
    #[serde(skip)]
    pub timeout: Duration,
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Yes, this call, once.
    Confirmed,
    /// No.
    Denied {
        /// Why, in the words of who denies. Only a bounded part of it is kept.
        why: String,
    },
    /// Yes, this call, once, says somebody whom the confirmer knows. The audit log has the name.
    ConfirmedBy(Responder),
    /// No, says somebody whom the confirmer knows. The audit log has the name.
    DeniedBy {
        /// Who denies.
        by: Responder,
        /// Why, in the words of who denies. Only a bounded part of it is kept.
        why: String,
    },
}

/// Nobody is there to be asked: everything that needs a confirmation is denied.
#[derive(Clone, Copy, Debug)]
pub struct Nobody;

#[async_trait]
impl Confirmer for Nobody {
    async fn confirm(&self, _: &Question) -> Reply {
        Reply::Denied { why: "there is no confirmer".to_owned() }
    }
}

/// How long confirmations take and hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfirmLimits {
    /// How long an answer is waited for. No answer is a denial.
    pub timeout: Duration,
    /// How long an answer is good, from the moment that it came.
    pub valid: Duration,
}

/// Gets confirmations.
#[derive(Clone, Debug)]
pub struct Confirmations {
    confirmer: Arc<dyn Confirmer>,
    clock: Arc<Ratchet>,
    limits: ConfirmLimits,
}

impl Confirmations {
    /// Asks a confirmer, within limits.
    pub fn new(confirmer: Arc<dyn Confirmer>, clock: Arc<dyn GateClock>, limits: ConfirmLimits) -> Self {
        Self::by(confirmer, Ratchet::over(clock), limits)
    }

    /// With a clock that is shared.
    pub(crate) fn by(confirmer: Arc<dyn Confirmer>, clock: Arc<Ratchet>, limits: ConfirmLimits) -> Self {
        Self { confirmer, clock, limits }
    }

    /// Asks about a call, once. No answer in time is a denial and is not asked again (D48); so is a confirmer that
    /// panics. The waiting is done by the runtime's time; an answer is late by the injected clock, too. Runs on
    /// tokio, with time enabled.
    pub async fn ask(&self, call: &Call) -> Ruling<Confirmed> {
        self.ask_within(call, self.limits).await
    }

    /// Asks within other limits than those that it was made with.
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
        Ruling::new(call, DecisionStage::Confirmation, Vec::new(), outcome).by(by)
    }

    fn after(&self, time: Duration) -> Duration {
        self.clock.elapsed().saturating_add(time)
    }

    fn denied(&self, call: &Call, why: &str) -> Blocked {
        let message = format!("the call of `{}` was not confirmed: {why}", call.tool());
        Blocked::new(GateCode::G3, message, "the call is denied; a new turn may ask again")
    }
}

/// Somebody said yes to one call. It is spent with that call, and worth nothing for another one.
///
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
    /// In the time of the clock that it was given by.
    until: Duration,
    clock: Arc<Ratchet>,
}

impl Confirmed {
    /// What it confirms.
    #[must_use]
    pub fn hash(&self) -> CallHash {
        self.hash
    }

    /// Uses it up for a call.
    pub(crate) fn spend(self, call: &Call) -> Result<(), Blocked> {
        let (message, help) = if self.hash != call.hash() || self.turn != *call.turn() {
            let message = format!("the confirmation belongs to another call than this one of `{}`", call.tool());
            (message, "confirm this tool with these arguments, in this turn")
        } else if self.clock.elapsed() >= self.until {
            (format!("the confirmation of `{}` has expired", call.tool()), "confirm the call again")
        } else {
            return Ok(());
        };
        Err(Blocked::new(GateCode::G3, message, help))
    }
}
