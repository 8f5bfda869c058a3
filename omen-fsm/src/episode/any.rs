//! Episode whose state is known at run time.

use std::fmt;
use std::sync::Arc;

use omen_invariants::facts::{Judged, MayAsk, Scope};
use omen_types::{Instant, McpEnvelope, PacketType, TokenId};

use super::core::Core;
use super::{
    Act, Alarm, Alert, AnyScope, Authorize, Decide, Episode, Escalate, Escalated, Execute, Fork, Idle, LiveToken, Many,
    Model, NamedScope, Pending, Permit, Refusal, Refused, Review, SafeMode, Says, Sense, Stop, Typestate, Undecided,
    Verify,
};
use crate::table::{Event, NodeSet};

/// Verification loop whose progress is known at run time.
pub type AnyLoop = Verify<Judged, Judged, Judged>;

macro_rules! any_episode {
    ($($(#[$doc:meta])* $variant:ident($state:ty),)*) => {
        /// Episode whose state is known at run time; a `match` returns it with its state as a type.
        #[must_use = "it holds an episode"]
        pub enum AnyEpisode {
            $($(#[$doc])* $variant(Episode<$state>),)*
        }

        impl AnyEpisode {
            /// Returns the episode in the machine's state, as the first variant that matches its nodes. The variant
            /// with open directives precedes the one without.
            fn named(core: Box<Core>) -> Self {
                let nodes = core.machine.nodes();
                let open = !core.machine.ledger().open().is_empty();
                $(
                    if stands_for::<$state>(nodes, open) {
                        return Self::$variant(Episode::from_core(core));
                    }
                )*
                // INVARIANT: every set of nodes that the table leads to has a variant.
                Self::Fork(Episode::from_core(core))
            }

            pub(crate) fn into_core(self) -> Box<Core> {
                match self {
                    $(Self::$variant(episode) => episode.core,)*
                }
            }

            fn core(&self) -> &Core {
                match self {
                    $(Self::$variant(episode) => &episode.core,)*
                }
            }
        }
    };
}
any_episode! {
    /// No observation has been made yet.
    Idle(Idle),
    /// Observations are being gathered.
    Sense(Sense),
    /// A decision may be made next.
    Model(Model),
    /// A decision to act was made.
    Act(Decide<Act>),
    /// A decision to escalate was made.
    Escalate(Decide<Escalate>),
    /// A decision to defer or cancel was made.
    Stop(Decide<Stop>),
    /// A human has answered, and a decision comes next.
    Undecided(Decide<Undecided>),
    /// A verification loop is running, with open directives.
    VerifyOpen(Many<AnyLoop>),
    /// A verification loop is running.
    Verify(AnyLoop),
    /// Tokens are being issued.
    Authorize(Authorize),
    /// Directives are being carried out, and some are open.
    ExecuteOpen(Many<Execute>),
    /// Directives are being carried out, and none is open.
    Execute(Execute),
    /// Results were recorded, and the next packet will show whether the work is done (D11).
    Fork(Fork),
    /// The episode may close.
    Review(Review),
    /// A human has been asked to choose an option.
    Escalated(Escalated),
    /// Emergency halt.
    SafeMode(SafeMode),
}

/// Returns whether a state matches the nodes, with or without open directives.
fn stands_for<S: Typestate>(nodes: NodeSet, open: bool) -> bool {
    nodes == S::NODES.iter().copied().collect::<NodeSet>() && (open || !S::OPEN)
}

/// Converts to the state that the log has reached.
impl<S> From<Episode<S>> for AnyEpisode {
    fn from(episode: Episode<S>) -> Self {
        episode.into_any()
    }
}

impl AnyEpisode {
    /// Sends an alert of severity INFO or WARNING, which is legal in every state and does not change it (D14). The error of a
    /// payload that is not such an alert is kept as [`trouble`](Self::trouble), until the next move fails with it.
    pub fn alert(self, alert: impl Says<Alert>) -> Self {
        let mut core = self.into_core();
        core.alert(alert.said());
        Self::named(core)
    }

    /// Halts the episode, which is legal in every state (D14).
    pub fn halt(self, reason: impl Says<Alarm>) -> Episode<SafeMode> {
        let mut core = self.into_core();
        core.halt(reason.said());
        Episode::from_core(core)
    }

    /// Changes the envelope of future packets, as [`Episode::under`] does. Nothing is sent.
    pub fn under(self, envelope: &impl MayAsk) -> Self {
        let mut core = self.into_core();
        core.under(envelope);
        Self::named(core)
    }

    /// Returns the envelope that the next packet of a type will carry, unless the move states another.
    #[must_use]
    pub fn envelope(&self, packet_type: PacketType) -> McpEnvelope {
        self.core().envelope_of(packet_type)
    }

    /// Returns the episode in the machine's state.
    pub(crate) fn from_core(mut core: Box<Core>) -> Self {
        // A failed log stays failed; any other trouble left no packet in the log.
        core.trouble.take_if(|why| !why.is_final());
        Self::named(core)
    }

    /// Returns the possible nodes in the transition table: two after results were recorded (D11), otherwise one.
    #[must_use]
    pub fn nodes(&self) -> NodeSet {
        self.core().machine.nodes()
    }

    /// Returns the events that the table and the sequence rules permit next, from any sender. For those that a model
    /// may propose, see [`AnyEpisode::moves_for`].
    #[must_use]
    pub fn moves(&self) -> Vec<Event> {
        let core = self.core();
        core.machine.offers(core.machine.ledger().clock_at(core.now())).collect()
    }

    /// Returns the open tasks, in sending order; see [`Episode::tasks`]. Empty if none is open.
    #[must_use]
    pub fn tasks(&self) -> Vec<Pending> {
        self.core().pending_tasks()
    }

    /// Returns the live tokens, in the order of issue.
    #[must_use]
    pub fn live_tokens(&self) -> Vec<LiveToken> {
        self.core().live_tokens()
    }

    /// Returns permits for uses of a live token that covers the scope; see [`Episode::claim_any`].
    ///
    /// # Errors
    /// Same as [`Episode::claim_any`].
    pub fn claim_any<Sc: Scope, const N: usize>(&self) -> Result<[Permit<Sc>; N], Refusal> {
        self.core().claim_any()
    }

    /// Returns permits as [`AnyEpisode::claim_any`] does, for a scope and a number of uses that are named at run time.
    ///
    /// # Errors
    /// Same as [`Episode::claim_any`].
    pub fn claim_any_named(&self, scope: &NamedScope) -> Result<Vec<Permit<AnyScope>>, Refusal> {
        self.core().claim_any_named(scope)
    }

    /// Returns the current time of the episode's clock.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.core().now()
    }

    /// Returns permits for remaining uses of a token; see [`Episode::claim`].
    ///
    /// # Errors
    /// Same as [`Episode::claim`].
    pub fn claim<Sc: Scope, const N: usize>(&self, token_id: &TokenId) -> Result<[Permit<Sc>; N], Refusal> {
        self.core().claim(token_id)
    }

    /// Returns permits as [`AnyEpisode::claim`] does, for a scope and a number of uses that are named at run time.
    ///
    /// # Errors
    /// Same as [`Episode::claim`].
    pub fn claim_named(&self, token_id: &TokenId, scope: &NamedScope) -> Result<Vec<Permit<AnyScope>>, Refusal> {
        self.core().claim_named(token_id, scope)
    }

    /// Returns the error with which the next move will fail: the log has failed, or an alert was refused; see [`Episode::trouble`].
    #[must_use]
    pub fn trouble(&self) -> Option<&Refusal> {
        self.core().trouble.as_deref()
    }

    /// Returns the lines written so far, if the log keeps them ([`MemoryLog`](super::MemoryLog), the default, does).
    #[must_use]
    pub fn lines(&self) -> &[String] {
        self.core().log.lines()
    }

    /// Returns the ledger of the episode: budgets, tokens, open directives.
    #[must_use]
    pub fn ledger(&self) -> &omen_invariants::Ledger {
        self.core().machine.ledger()
    }
}

impl fmt::Debug for AnyEpisode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let core = self.core();
        write!(f, "AnyEpisode({}, {} packets, in {})", core.origin.correlation_id, core.sent, core.machine.nodes())
    }
}

/// Premature end of an agent, with the episode in the state that its log has reached. The `?` operator converts a
/// refused move into a `Halt`.
#[must_use = "it holds the episode"]
#[derive(Debug)]
pub struct Halt {
    /// Reason for the end.
    pub why: Arc<Refusal>,
    /// Episode at that time.
    pub episode: Box<AnyEpisode>,
}

impl fmt::Display for Halt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.why.fmt(f)
    }
}

impl std::error::Error for Halt {}

impl<S, G> From<Refused<S, G>> for Halt {
    fn from(refused: Refused<S, G>) -> Self {
        Self { why: refused.why, episode: Box::new(refused.episode.into_any()) }
    }
}
