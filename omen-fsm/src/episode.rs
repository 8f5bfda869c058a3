//! The typed API: an episode whose illegal moves do not compile.
//!
//! [`Episode<S>`] is an episode in the state `S`. Each state has exactly the methods for which the transition table has
//! a row. If a method is called in another state, the compile error names the rule and the fix. Errors that only occur
//! at run time (budgets, expiry, deadlines) are returned as [`Refused`], which holds the unchanged episode; nothing was
//! written. If the log fails ([`Refusal::Log`]), the run is over: resume the episode from the content of its log.
//!
//! Each packet is judged before it is written, by the same [`Machine`](crate::Machine) that validates logs. So a
//! validator accepts every packet that an episode has written.

#![allow(clippy::type_complexity, reason = "the types of the moves spell out which states they lead to")]

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use omen_types::{CorrelationId, DecisionOutcome, Instant, PacketId};

mod any;
mod any_moves;
mod claim;
mod compose;
mod convert;
mod core;
mod demands;
mod draft;
mod drop_policy;
mod envelope;
mod errors;
mod ids;
mod lease;
mod lease_updates;
mod log;
mod loop_errors;
mod loop_notes;
mod moves;
mod notes;
mod on_drop;
mod open_task;
mod propose;
mod resume;
mod run;
mod runtime_counts;
mod setup;
mod stamps;
mod state;
mod sync;
mod tag;
mod tool_classes;
mod truncate;
mod user_inputs;
mod values;
mod verified_assumptions;
mod with_envelope;

pub use any::{AnyEpisode, AnyLoop, Halt};
pub use claim::{Claims, StartError};
pub use convert::{AskingEnvelope, EndsSafeMode, IntoActOrder, IntoOrder, IntoOrders, KnownEnvelope, Says};
pub use demands::*;
pub use drop_policy::{Lost, OnDrop};
pub use errors::{Refusal, Refused};
pub use ids::{IdSource, Numbered};
pub use lease::Lapsed;
pub use log::{JsonLines, Line, Log, MemoryLog};
pub use loop_errors::{CheckError, SettleError, Unproven};
pub use propose::{Allow, Moved, NotMoved};
pub use resume::ResumeError;
pub use run::{EachError, ExecuteError, Failed, LoopError, TaskError};
pub use setup::{AnotherEpisode, Setup};
pub use stamps::{Stamps, SystemClock, TimeSource};
pub use state::*;
pub use user_inputs::UserInput;
pub use values::*;
pub use with_envelope::{ToolsThen, Under};

use core::Core;

// The typestates, their methods, and the traits that explain illegal calls are included here, beside `Episode`, so that
// compile errors refer to them by short paths.
use crate::table::{Node, NodeSet};
use omen_invariants::facts::*;
use state::sealed::EpisodeSealed;

include!(concat!(env!("OUT_DIR"), "/episode.rs"));

/// An episode in the state `S`.
///
/// One pointer wide; `Send`, `Sync` and `'static` in every state. Every move takes the episode by value and returns it
/// in the next state, so no state can be used twice.
#[must_use = "an episode must be driven to `close()`; a dropped one is ended by its drop policy"]
pub struct Episode<S> {
    core: Box<Core>,
    state: PhantomData<fn(S) -> S>,
}

impl<S> Episode<S> {
    /// Returns the correlation id.
    #[must_use]
    pub fn correlation_id(&self) -> &CorrelationId {
        &self.core.origin.correlation_id
    }

    /// Returns the current time of the episode's clock.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.core.clock.now()
    }

    /// Returns the ledger of the episode: budgets, tokens, open directives.
    #[must_use]
    pub fn ledger(&self) -> &omen_invariants::Ledger {
        self.core.machine.ledger()
    }

    /// Returns the packet id of the latest decision, which a verification plan names.
    #[must_use]
    pub fn decision(&self) -> Option<&PacketId> {
        self.core.decision.as_ref()
    }

    /// Returns the possible nodes in the transition table: two after results were recorded (D11), otherwise one.
    #[must_use]
    pub fn nodes(&self) -> NodeSet {
        self.core.machine.nodes()
    }

    /// Returns the number of packets sent.
    #[must_use]
    pub fn packets(&self) -> u64 {
        self.core.sent
    }

    /// Returns the lines written so far, if the log keeps them ([`MemoryLog`], the default, does).
    #[must_use]
    pub fn lines(&self) -> &[String] {
        self.core.log.lines()
    }

    /// Returns the error of an earlier move whose return type has no error. Every later move fails with the same error. Causes:
    /// the log could not be written, the episode was resumed elsewhere, the id source returned an invalid id, or a generated
    /// payload does not fit its move (see [`Says`]) or was changed after it was built. Other values cannot cause such an error:
    /// they are checked when they are created (see [`Json`]), and a record that is too long for a line is shortened. If the log
    /// failed or the episode was resumed elsewhere, only [`AnyEpisode::resume`] can continue the episode, from the content of
    /// its log. Otherwise, [`Episode::into_any`] returns the episode in the state that its log has reached.
    #[must_use]
    pub fn trouble(&self) -> Option<&Refusal> {
        self.core.trouble.as_deref()
    }

    /// Returns the episode in the state that its log has reached; the state is then known at run time.
    pub fn into_any(self) -> AnyEpisode {
        AnyEpisode::from_core(self.core)
    }

    fn from_core(core: Box<Core>) -> Self {
        Self { core, state: PhantomData }
    }

    /// Changes the state type.
    fn at<N>(self) -> Episode<N> {
        Episode::from_core(self.core)
    }

    /// Returns the refusal of a move, with the episode and the reason.
    fn refuse(self, why: std::sync::Arc<Refusal>) -> Refused<S> {
        Refused { episode: self, why, given: () }
    }
}

impl<S> fmt::Debug for Episode<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Episode({}, {} packets, in {})", self.correlation_id(), self.packets(), self.core.machine.nodes())
    }
}

/// Proof that an episode has closed legally.
#[must_use = "it proves that the episode has ended"]
pub struct Closed {
    core: Box<Core>,
}

impl Closed {
    /// Returns the correlation id.
    #[must_use]
    pub fn correlation_id(&self) -> &CorrelationId {
        &self.core.origin.correlation_id
    }

    /// Returns the lines of the log, if the log keeps them ([`MemoryLog`], the default, does).
    #[must_use]
    pub fn lines(&self) -> &[String] {
        self.core.log.lines()
    }
}

impl fmt::Debug for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Closed({}, {} packets)", self.correlation_id(), self.core.sent)
    }
}

/// Episode after a decision whose outcome is known at run time. A `match` must handle every outcome.
#[must_use = "it holds the episode"]
#[derive(Debug)]
pub enum Decided {
    /// A decision to act was made.
    Act(Episode<Decide<Act>>),
    /// A verification loop is running.
    VerifyFirst(Episode<Verify<Unplanned, Unseen, Judged>>),
    /// A decision to escalate was made.
    Escalate(Episode<Decide<Escalate>>),
    /// A decision to defer or cancel was made.
    Stop(Episode<Decide<Stop>>),
}

impl<S: CanDecide> Episode<S> {
    /// Makes a decision whose outcome is known at run time, in any envelope.
    ///
    /// # Errors
    /// Violations that a validator would report: INV-002, INV-003 and INV-010 for ACT, INV-005 over budget.
    pub fn decide<A, E: MayAsk>(
        mut self,
        outcome: DecisionOutcome,
        order: ActOrder<A>,
        envelope: &E,
    ) -> Result<Decided, Refused<S, ActOrder<A>>> {
        match self.core.decide(outcome, &order, envelope) {
            Ok(()) => Ok(match outcome {
                DecisionOutcome::Act => Decided::Act(self.at()),
                DecisionOutcome::VerifyFirst => Decided::VerifyFirst(self.at()),
                DecisionOutcome::Escalate => Decided::Escalate(self.at()),
                DecisionOutcome::Defer | DecisionOutcome::Cancel => Decided::Stop(self.at()),
            }),
            Err(why) => Err(self.refuse(why).giving_back(order)),
        }
    }
}

impl Core {
    /// Makes a decision whose outcome is known at run time.
    pub(crate) fn decide<A>(
        &mut self,
        outcome: DecisionOutcome,
        order: &ActOrder<A>,
        envelope: &impl MayAsk,
    ) -> Result<(), Arc<Refusal>> {
        order.check(&self.tag)?;
        let draft = order.draft(outcome).map_err(Arc::new)?;
        self.try_send_under(envelope, draft)
    }
}
