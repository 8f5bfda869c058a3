//! Steps that fail: why, and with the episode in hand.

use std::fmt;
use std::io;
use std::sync::Arc;

use omen_types::{Code, Diagnostic};

use super::{AnyEpisode, Episode};

/// Why a step was refused. Nothing of it was written, but perhaps for [`Refusal::Log`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Refusal {
    /// The protocol forbids it: what a validator would say of the packet.
    Rules(Vec<Diagnostic>),
    /// The log could not be written. Only the log's medium knows how much of the step it holds, so the episode
    /// takes no step any more, `close` least of all. Take it up from the log with [`AnyEpisode::resume`].
    Log(io::Error),
    /// The episode was resumed elsewhere, which took its log over (see [`Claims`](super::Claims)). This one takes no
    /// step any more.
    Superseded,
    /// A tool failed. Its FAILURE is in the log, and the episode goes on.
    Tool(String),
}

impl Refusal {
    pub(crate) fn rule(finding: Diagnostic) -> Self {
        Self::Rules(vec![finding])
    }

    /// What the protocol has against the step; empty if that is not what refuses it.
    #[must_use]
    pub fn findings(&self) -> &[Diagnostic] {
        match self {
            Self::Rules(findings) => findings,
            Self::Log(_) | Self::Superseded | Self::Tool(_) => &[],
        }
    }

    /// Whether this handle of the episode takes no step any more.
    pub(crate) fn is_final(&self) -> bool {
        matches!(self, Self::Log(_) | Self::Superseded)
    }

    /// The code of the first finding.
    #[must_use]
    pub fn code(&self) -> Option<Code> {
        self.findings().first().map(|finding| finding.code)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rules(findings) => {
                for (i, finding) in findings.iter().enumerate() {
                    if i > 0 {
                        f.write_str("; ")?;
                    }
                    write!(f, "{finding}")?;
                }
                Ok(())
            }
            Self::Log(error) => write!(f, "the log cannot be written: {error}"),
            Self::Superseded => f.write_str("the episode was resumed elsewhere, and its log is written there"),
            Self::Tool(why) => write!(f, "the tool failed: {why}"),
        }
    }
}

impl std::error::Error for Refusal {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Rules(_) | Self::Superseded | Self::Tool(_) => None,
            Self::Log(error) => Some(error),
        }
    }
}

/// A step that was refused: the episode as it was before, the reason, and what was given to the step. A step that
/// the protocol forbids leaves the episode as good as it was; one that the log has failed on leaves one that takes no
/// step any more ([`Refusal::Log`]).
#[must_use = "it holds the episode"]
pub struct Refused<S, G = ()> {
    /// The episode, in the state that it was in.
    pub episode: Episode<S>,
    /// Why the step was refused.
    pub why: Arc<Refusal>,
    /// What the step had been given: a ruling or an order to act, a plan, a token's particulars, orders with their
    /// permits, settled tasks.
    pub given: G,
}

impl<S> Refused<S> {
    pub(crate) fn giving_back<G>(self, given: G) -> Refused<S, G> {
        Refused { episode: self.episode, why: self.why, given }
    }
}

impl<S, G> fmt::Debug for Refused<S, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Refused").field("episode", &self.episode).field("why", &self.why).finish_non_exhaustive()
    }
}

impl<S, G> fmt::Display for Refused<S, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.why.fmt(f)
    }
}

impl<S, G> std::error::Error for Refused<S, G> {}

/// Why an agent stopped, and the episode in the state that its log has reached. What `?` makes of a
/// step that was refused.
#[must_use = "it holds the episode"]
#[derive(Debug)]
pub struct Halt {
    /// Why.
    pub why: Arc<Refusal>,
    /// The episode.
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
