//! The typed API: an episode whose illegal moves do not compile.
//!
//! [`Episode<S>`] is an episode in the state `S`. Each state has the methods that the transition table
//! has rows for, and no others; a method that is called where it is not legal is answered by rustc
//! with the rule that forbids it and the way out. What only becomes known while the program runs
//! (budgets, expiry, deadlines) comes back as [`Refused`], with the episode in hand and nothing written.
//! A log that fails ([`Refusal::Log`]) ends the run: the episode is taken up again from what the log holds.
//!
//! Every packet that an episode sends is judged by the same [`Machine`](crate::Machine) that judges
//! other people's logs, before it is written: what a program can do with an episode, a validator
//! accepts.

#![allow(clippy::type_complexity, reason = "states are types: what a move leads to is written out")]

use std::fmt;
use std::marker::PhantomData;

use omen_types::{CorrelationId, Instant, PacketId};

mod any;
mod asked;
mod checks;
mod claim;
mod convert;
mod core;
mod counted;
mod decide;
mod ending;
mod envelope;
mod fit;
mod lease;
mod leased;
mod moves;
mod propose;
mod proved;
mod refused;
mod resume;
mod rules;
mod run;
mod setup;
mod stamps;
mod state;
mod sync;
mod under;
mod unproven;
mod values;

pub use any::{AnyEpisode, AnyLoop};
pub use asked::UserInput;
pub use claim::{Claims, StartError};
pub use convert::{AskingEnvelope, EndsSafeMode, IntoActOrder, IntoOrder, IntoOrders, KnownEnvelope, Says};
pub use decide::Decided;
pub use ending::{Lost, OnDrop};
pub use lease::Lapsed;
pub use propose::{Allow, Moved, NotMoved};
pub use refused::{Halt, Refusal, Refused};
pub use resume::ResumeError;
pub use rules::*;
pub use run::{EachError, ExecuteError, Failed, LoopError, TaskError};
pub use setup::{AnotherEpisode, IdSource, JsonLines, Line, Log, MemoryLog, Numbered, Setup, SystemClock, TimeSource};
pub use stamps::Stamps;
pub use state::*;
pub use under::{ToolsThen, Under};
pub use unproven::{CheckError, SettleError, Unproven};
pub use values::*;

use core::Core;

// The types that stand for states, their methods, and what answers calls that are not legal. They stand
// here, beside `Episode`, so that compile errors name them by short paths.
use crate::table::{Node, NodeSet};
use omen_invariants::facts::*;
use state::sealed::EpisodeSealed;

include!(concat!(env!("OUT_DIR"), "/episode.rs"));

/// An episode in the state `S`.
///
/// One pointer wide; `Send`, `Sync` and `'static` whatever the state. Every move takes it and gives it
/// back in the next state, so no state can be used twice.
#[must_use = "an episode is driven to `close()`; one that is dropped leaves its log unfinished"]
pub struct Episode<S> {
    core: Box<Core>,
    state: PhantomData<fn(S) -> S>,
}

impl<S> Episode<S> {
    /// The episode's correlation id.
    #[must_use]
    pub fn correlation_id(&self) -> &CorrelationId {
        &self.core.origin.correlation_id
    }

    /// What the clock says now.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.core.clock.now()
    }

    /// What is remembered of the episode: budgets, tokens, open directives.
    #[must_use]
    pub fn ledger(&self) -> &omen_invariants::Ledger {
        self.core.machine.ledger()
    }

    /// Its latest decision, which a verification plan names.
    #[must_use]
    pub fn decision(&self) -> Option<&PacketId> {
        self.core.decision.as_ref()
    }

    /// Where the table has it; two nodes after results were taken in (D11).
    #[must_use]
    pub fn nodes(&self) -> NodeSet {
        self.core.machine.nodes()
    }

    /// How many packets it has sent.
    #[must_use]
    pub fn packets(&self) -> u64 {
        self.core.sent
    }

    /// The lines that it has written, if it keeps them itself ([`MemoryLog`], the default log).
    #[must_use]
    pub fn lines(&self) -> &[String] {
        self.core.log.lines()
    }

    /// Why the episode stands still although no step has returned an error: the log could not be written, the episode
    /// was resumed elsewhere, or the id source gave no valid id. Values are not among the reasons: they are checked
    /// where they are made (see [`Json`]), and a record that is too long for a line is shortened. A generated payload is, if
    /// it is not what its move sends (see [`Says`]) or was changed after it was built. Every later step fails with
    /// it. After an invalid id, [`Episode::into_any`] returns the episode in the state that its log has reached; after
    /// the others, only [`AnyEpisode::resume`] leads on, with what the log holds.
    #[must_use]
    pub fn trouble(&self) -> Option<&Refusal> {
        self.core.trouble.as_deref()
    }

    /// The episode with its state known at run time: the state that its log has reached.
    pub fn into_any(self) -> AnyEpisode {
        AnyEpisode::of(self.core)
    }

    fn from_core(core: Box<Core>) -> Self {
        Self { core, state: PhantomData }
    }

    /// The same episode in another state.
    fn at<N>(self) -> Episode<N> {
        Episode::from_core(self.core)
    }

    /// Gives the episode back with the reason why it was not moved.
    fn refuse(self, why: std::sync::Arc<Refusal>) -> Refused<S> {
        Refused { episode: self, why, given: () }
    }
}

impl<S> fmt::Debug for Episode<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Episode({}, {} packets, in {})", self.correlation_id(), self.packets(), self.core.machine.nodes())
    }
}

/// Proof that an episode has closed as the protocol has it.
#[must_use = "it proves that the episode has ended"]
pub struct Closed {
    core: Box<Core>,
}

impl Closed {
    /// The episode's correlation id.
    #[must_use]
    pub fn correlation_id(&self) -> &CorrelationId {
        &self.core.origin.correlation_id
    }

    /// The lines of its log, if it keeps them itself ([`MemoryLog`], the default log).
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
