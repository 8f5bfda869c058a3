//! Verification loops that do not lead on.

use std::fmt;
use std::sync::Arc;

use omen_types::{Code, Diagnostic, ResultStatus};

use super::Episode;
use super::demands::Progress;
use super::refused::{Halt, Refusal, Refused};
use super::state::{Open, Verify};
use super::values::{Order, Settled};

/// A check of a verification loop that ended otherwise than with SUCCESS; it may be tried again. What was proved
/// before, it leaves as it is.
#[must_use = "it holds the episode"]
pub struct Unproven<P, O, T> {
    /// The episode, with the result in its log.
    pub episode: Episode<Verify<P, O, T>>,
    /// How the check ended.
    pub status: ResultStatus,
}

impl<P, O, T> fmt::Display for Unproven<P, O, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the check ended with `{}`, and shows nothing", self.status)
    }
}

impl<P, O, T> std::error::Error for Unproven<P, O, T> {}

impl<P, O, T> From<Unproven<P, O, T>> for Halt {
    fn from(unproven: Unproven<P, O, T>) -> Self {
        let finding = Diagnostic::error(Code::E3, unproven.to_string())
            .help("send another READ directive that succeeds, or give up: halt the episode");
        Self { why: Arc::new(Refusal::rule(finding)), episode: Box::new(unproven.episode.into_any()) }
    }
}

/// Why the results of a verification loop did not lead on.
#[must_use = "it holds the episode"]
pub enum SettleError<P, O, T, const N: usize> {
    /// They were refused.
    Refused(Refused<Open<Verify<P, O, T>, N>, Vec<Settled>>),
    /// They were taken in, and none is a SUCCESS.
    Unproven(Unproven<P, O, T>),
}

impl<P, O, T, const N: usize> From<SettleError<P, O, T, N>> for Halt {
    fn from(error: SettleError<P, O, T, N>) -> Self {
        match error {
            SettleError::Refused(refused) => refused.into(),
            SettleError::Unproven(unproven) => unproven.into(),
        }
    }
}

impl<P, O, T, const N: usize> fmt::Display for SettleError<P, O, T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refused) => fmt::Display::fmt(refused, f),
            Self::Unproven(unproven) => fmt::Display::fmt(unproven, f),
        }
    }
}

impl<P, O, T, const N: usize> std::error::Error for SettleError<P, O, T, N> {}

/// Why a check did not lead on.
#[must_use = "it holds the episode"]
pub enum CheckError<P: Progress, O, T, C> {
    /// The directive was refused.
    Refused(Refused<Verify<P, O, T>, [Order<C>; 1]>),
    /// The result was refused.
    Settling(Refused<Open<Verify<P::Sent, O, T>, 1>, Vec<Settled>>),
    /// The check was made, and did not succeed.
    Unproven(Unproven<P::Sent, O, T>),
}

impl<P: Progress, O, T, C> From<CheckError<P, O, T, C>> for Halt {
    fn from(error: CheckError<P, O, T, C>) -> Self {
        match error {
            CheckError::Refused(refused) => refused.into(),
            CheckError::Settling(refused) => refused.into(),
            CheckError::Unproven(unproven) => unproven.into(),
        }
    }
}

impl<P: Progress, O, T, C> fmt::Display for CheckError<P, O, T, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refused) => fmt::Display::fmt(refused, f),
            Self::Settling(refused) => fmt::Display::fmt(refused, f),
            Self::Unproven(unproven) => fmt::Display::fmt(unproven, f),
        }
    }
}

impl<P: Progress, O, T, C> std::error::Error for CheckError<P, O, T, C> {}

// By hand, for derived ones would ask the same of the states.
impl<P, O, T> fmt::Debug for Unproven<P, O, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unproven").field("episode", &self.episode).field("status", &self.status).finish()
    }
}

impl<P, O, T, const N: usize> fmt::Debug for SettleError<P, O, T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refused) => fmt::Debug::fmt(refused, f),
            Self::Unproven(unproven) => fmt::Debug::fmt(unproven, f),
        }
    }
}

impl<P: Progress, O, T, C> fmt::Debug for CheckError<P, O, T, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refused) => fmt::Debug::fmt(refused, f),
            Self::Settling(refused) => fmt::Debug::fmt(refused, f),
            Self::Unproven(unproven) => fmt::Debug::fmt(unproven, f),
        }
    }
}
