//! An episode whose state is known at run time.

use std::fmt;

use omen_invariants::facts::{Judged, Scope};
use omen_types::{Instant, TokenId};

use super::core::Core;
use super::{
    Act, Alarm, Alert, Allow, Authorize, Decide, Episode, Escalate, Escalated, Execute, Fork, Idle, LiveToken, Many,
    Model, Pending, Permit, Refusal, Review, SafeMode, Says, Sense, Stop, Undecided, Verify,
};
use crate::table::{Event, Node, NodeSet};

/// A verification loop whose progress is known at run time.
pub type AnyLoop = Verify<Judged, Judged, Judged>;

/// An episode in any state; a `match` gives the typed one back.
#[must_use = "it holds an episode"]
pub enum AnyEpisode {
    /// Nothing was observed yet.
    Idle(Episode<Idle>),
    /// Observations are being gathered.
    Sense(Episode<Sense>),
    /// A decision may be made.
    Model(Episode<Model>),
    /// The decision to act rests.
    Act(Episode<Decide<Act>>),
    /// The decision to escalate rests.
    Escalate(Episode<Decide<Escalate>>),
    /// The decision to defer or cancel rests.
    Stop(Episode<Decide<Stop>>),
    /// A human has answered, and a decision is due.
    Undecided(Episode<Decide<Undecided>>),
    /// A verification loop runs.
    Verify(Episode<AnyLoop>),
    /// A verification loop runs, and directives are open.
    VerifyOpen(Episode<Many<AnyLoop>>),
    /// Tokens are being issued.
    Authorize(Episode<Authorize>),
    /// Directives are carried out, and none is open.
    Execute(Episode<Execute>),
    /// Directives are carried out, and some are open.
    ExecuteOpen(Episode<Many<Execute>>),
    /// Results were taken in, and the next packet tells whether the work is done (D11).
    Fork(Episode<Fork>),
    /// The episode may close.
    Review(Episode<Review>),
    /// Options lie before a human.
    Escalated(Episode<Escalated>),
    /// Emergency halt.
    SafeMode(Episode<SafeMode>),
}

/// In the state that its log has reached.
impl<S> From<Episode<S>> for AnyEpisode {
    fn from(episode: Episode<S>) -> Self {
        episode.into_any()
    }
}

impl AnyEpisode {
    /// Sends an alert of severity INFO or WARNING, which is legal in every state and moves nothing (D14).
    pub fn alert(self, alert: impl Says<Alert>) -> Self {
        let mut core = self.into_core();
        core.alert(alert.said());
        Self::of(core)
    }

    /// Halts the episode, which is legal in every state (D14).
    pub fn halt(self, reason: impl Says<Alarm>) -> Episode<SafeMode> {
        let mut core = self.into_core();
        core.halt(reason.said());
        Episode::from_core(core)
    }

    /// Names the state that the machine is in.
    pub(crate) fn of(mut core: Box<Core>) -> Self {
        // A log that has failed stays so; other trouble has not been written.
        core.trouble.take_if(|why| !why.is_final());
        let nodes = core.machine.nodes();
        let open = !core.machine.ledger().open().is_empty();
        let mut all = nodes.iter();
        let (first, second) = (all.next(), all.next());
        match (first.unwrap_or(Node::INITIAL), second) {
            (_, Some(_)) => Self::Fork(Episode::from_core(core)),
            (Node::Idle, None) => Self::Idle(Episode::from_core(core)),
            (Node::Sense, None) => Self::Sense(Episode::from_core(core)),
            (Node::Model, None) => Self::Model(Episode::from_core(core)),
            (Node::DecideAct, None) => Self::Act(Episode::from_core(core)),
            (Node::DecideEscalate, None) => Self::Escalate(Episode::from_core(core)),
            (Node::DecideStop, None) => Self::Stop(Episode::from_core(core)),
            (Node::DecideUndecided, None) => Self::Undecided(Episode::from_core(core)),
            (Node::Verify, None) if open => Self::VerifyOpen(Episode::from_core(core)),
            (Node::Verify, None) => Self::Verify(Episode::from_core(core)),
            (Node::Authorize, None) => Self::Authorize(Episode::from_core(core)),
            (Node::Execute, None) if open => Self::ExecuteOpen(Episode::from_core(core)),
            (Node::Execute, None) => Self::Execute(Episode::from_core(core)),
            (Node::Review, None) => Self::Review(Episode::from_core(core)),
            (Node::Escalated, None) => Self::Escalated(Episode::from_core(core)),
            (Node::SafeMode, None) => Self::SafeMode(Episode::from_core(core)),
        }
    }

    /// Where the table has the episode; two nodes after results were taken in (D11).
    #[must_use]
    pub fn nodes(&self) -> NodeSet {
        self.core().machine.nodes()
    }

    pub(crate) fn into_core(self) -> Box<Core> {
        match self {
            Self::Idle(episode) => episode.core,
            Self::Sense(episode) => episode.core,
            Self::Model(episode) => episode.core,
            Self::Act(episode) => episode.core,
            Self::Escalate(episode) => episode.core,
            Self::Stop(episode) => episode.core,
            Self::Undecided(episode) => episode.core,
            Self::Verify(episode) => episode.core,
            Self::VerifyOpen(episode) => episode.core,
            Self::Authorize(episode) => episode.core,
            Self::Execute(episode) => episode.core,
            Self::ExecuteOpen(episode) => episode.core,
            Self::Fork(episode) => episode.core,
            Self::Review(episode) => episode.core,
            Self::Escalated(episode) => episode.core,
            Self::SafeMode(episode) => episode.core,
        }
    }

    /// The events that may happen next, as far as table and sequence rules go, whoever makes them happen. What a
    /// model may propose is [`AnyEpisode::moves_for`].
    #[must_use]
    pub fn moves(&self) -> Vec<Event> {
        let core = self.core();
        core.machine.offers(core.machine.ledger().clock_at(core.now())).collect()
    }

    /// The events that [`AnyEpisode::propose_with`] takes next, as far as table, sequence rules and `allow` go: to
    /// tell a model beforehand. The episode's close is no packet, and the end of safe mode is layer 1's word, so neither
    /// is listed.
    ///
    /// ```
    /// use omen_fsm::episode::{Allow, AnyEpisode};
    ///
    /// fn prompt(episode: &AnyEpisode) -> String {
    ///     let moves = episode.moves_for(Allow::moves());
    ///     moves.iter().map(|event| format!("- {}\n", event.as_str())).collect()
    /// }
    /// ```
    #[must_use]
    pub fn moves_for(&self, allow: Allow) -> Vec<Event> {
        self.moves().into_iter().filter(|event| allow.lists(*event)).collect()
    }

    /// The open tasks, in the order of sending, see [`Episode::tasks`]. Empty if none is open.
    #[must_use]
    pub fn tasks(&self) -> Vec<Pending> {
        self.core().pending_tasks()
    }

    /// Returns the tokens that a directive can be sent with now, in the order of issue.
    #[must_use]
    pub fn live_tokens(&self) -> Vec<LiveToken> {
        self.core().live_tokens()
    }

    /// Permits for uses of a live token that covers the scope, see [`Episode::claim_any`].
    ///
    /// # Errors
    /// As [`Episode::claim_any`].
    pub fn claim_any<Sc: Scope, const N: usize>(&self) -> Result<[Permit<Sc>; N], Refusal> {
        self.core().claim_any()
    }

    /// What the clock says now.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.core().now()
    }

    /// The permits for uses that a token has left, see [`Episode::claim`].
    ///
    /// # Errors
    /// As [`Episode::claim`].
    pub fn claim<Sc: Scope, const N: usize>(&self, token_id: &TokenId) -> Result<[Permit<Sc>; N], Refusal> {
        self.core().claim(token_id)
    }

    /// Why no step is taken from it, if its log has failed, see [`Episode::trouble`].
    #[must_use]
    pub fn trouble(&self) -> Option<&Refusal> {
        self.core().trouble.as_deref()
    }

    /// The lines that it has written, if it keeps them itself ([`MemoryLog`](super::MemoryLog), the default).
    #[must_use]
    pub fn lines(&self) -> &[String] {
        self.core().log.lines()
    }

    /// What is remembered of the episode: budgets, tokens, open directives.
    #[must_use]
    pub fn ledger(&self) -> &omen_invariants::Ledger {
        self.core().machine.ledger()
    }

    fn core(&self) -> &Core {
        match self {
            Self::Idle(episode) => &episode.core,
            Self::Sense(episode) => &episode.core,
            Self::Model(episode) => &episode.core,
            Self::Act(episode) => &episode.core,
            Self::Escalate(episode) => &episode.core,
            Self::Stop(episode) => &episode.core,
            Self::Undecided(episode) => &episode.core,
            Self::Verify(episode) => &episode.core,
            Self::VerifyOpen(episode) => &episode.core,
            Self::Authorize(episode) => &episode.core,
            Self::Execute(episode) => &episode.core,
            Self::ExecuteOpen(episode) => &episode.core,
            Self::Fork(episode) => &episode.core,
            Self::Review(episode) => &episode.core,
            Self::Escalated(episode) => &episode.core,
            Self::SafeMode(episode) => &episode.core,
        }
    }
}

impl fmt::Debug for AnyEpisode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let core = self.core();
        write!(f, "AnyEpisode({}, {} packets, in {})", core.origin.correlation_id, core.sent, core.machine.nodes())
    }
}
