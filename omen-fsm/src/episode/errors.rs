//! Errors of moves; each holds the episode.

use std::fmt;
use std::io;
use std::sync::Arc;

use omen_types::{Code, Diagnostic};

use super::Episode;

/// Reason for a refused move. Nothing of the move was written, except possibly for [`Refusal::Log`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Refusal {
    /// The protocol forbids the move: violations that a validator would report for the packet.
    Rules(Vec<Diagnostic>),
    /// The log could not be written. Only its medium knows how much of the move it holds, so every later move fails,
    /// including `close`. Resume the episode from its log with `AnyEpisode::resume`.
    Log(io::Error),
    /// The episode was resumed elsewhere and its log taken over (see [`Claims`](super::Claims)). Every later move of
    /// this handle fails.
    Superseded,
    /// The log holds packets of the episode after the end of the text from which it was resumed. Resume it from the
    /// log itself: the SDK's `LogFile` has a method for that.
    Stale,
    /// A tool failed. Its FAILURE is in the log, and the episode continues.
    Tool(String),
}

impl Refusal {
    pub(crate) fn rule(finding: Diagnostic) -> Self {
        Self::Rules(vec![finding])
    }

    /// Returns the rule violations of the move; empty if it was refused for another reason.
    #[must_use]
    pub fn findings(&self) -> &[Diagnostic] {
        match self {
            Self::Rules(findings) => findings,
            Self::Log(_) | Self::Superseded | Self::Stale | Self::Tool(_) => &[],
        }
    }

    /// Returns whether every later move of this handle fails.
    pub(crate) fn is_final(&self) -> bool {
        matches!(self, Self::Log(_) | Self::Superseded)
    }

    /// Returns the code of the first finding.
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
            Self::Log(error) => write!(f, "cannot write the log: {error}"),
            Self::Superseded => {
                f.write_str("the episode was resumed elsewhere, and only that handle may write its log")
            }
            Self::Stale => f.write_str(
                "the log holds later packets of the episode than this text; resume it from the log (`LogFile::resume`)",
            ),
            Self::Tool(why) => write!(f, "the tool failed: {why}"),
        }
    }
}

impl std::error::Error for Refusal {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Rules(_) | Self::Superseded | Self::Stale | Self::Tool(_) => None,
            Self::Log(error) => Some(error),
        }
    }
}

/// Refused move: the unchanged episode, the reason, and the arguments of the move. If the protocol forbids the move,
/// other moves are still possible; after an error of the log, none are ([`Refusal::Log`]).
#[must_use = "it holds the episode"]
pub struct Refused<S, G = ()> {
    /// Episode, in its state before the move.
    pub episode: Episode<S>,
    /// Reason for the refusal.
    pub why: Arc<Refusal>,
    /// Arguments of the move: a ruling or an order to act, a plan, a token specification, orders with their permits,
    /// or settled tasks.
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
