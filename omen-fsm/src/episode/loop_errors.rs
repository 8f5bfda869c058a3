//! Errors of verification loops.

use std::fmt;
use std::sync::Arc;

use omen_types::{Code, Diagnostic, ResultStatus};

use super::Episode;
use super::any::Halt;
use super::demands::Progress;
use super::errors::{Refusal, Refused};
use super::state::{Open, Verify};
use super::values::{Order, Settled};

/// Check in a verification loop that did not end with SUCCESS. It may be repeated, and does not affect earlier proofs.
#[must_use = "it holds the episode"]
pub struct Unproven<P, O, T> {
    /// Episode, with the result in its log.
    pub episode: Episode<Verify<P, O, T>>,
    /// Status of the result.
    pub status: ResultStatus,
}

impl<P, O, T> fmt::Display for Unproven<P, O, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the check ended with `{}`; expected `{}`", self.status, ResultStatus::Success)
    }
}

impl<P, O, T> std::error::Error for Unproven<P, O, T> {}

impl<P, O, T> From<Unproven<P, O, T>> for Halt {
    fn from(unproven: Unproven<P, O, T>) -> Self {
        let finding =
            Diagnostic::error(Code::E3, unproven.to_string()).help("send another READ directive, or halt the episode");
        Self { why: Arc::new(Refusal::rule(finding)), episode: Box::new(unproven.episode.into_any()) }
    }
}

/// Error of results that do not satisfy a verification loop.
#[must_use = "it holds the episode"]
pub enum SettleError<P, O, T, const N: usize> {
    /// The results were refused.
    Refused(Refused<Open<Verify<P, O, T>, N>, Vec<Settled>>),
    /// The results were recorded, but none is a SUCCESS.
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

/// Error of a check that does not satisfy a verification loop.
#[must_use = "it holds the episode"]
pub enum CheckError<P: Progress, O, T, C> {
    /// The directive was refused.
    Refused(Refused<Verify<P, O, T>, [Order<C>; 1]>),
    /// The result was refused.
    Settling(Refused<Open<Verify<P::Sent, O, T>, 1>, Vec<Settled>>),
    /// The check was performed, but did not succeed.
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

// Not derived, because derived impls would add bounds to the states.
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
