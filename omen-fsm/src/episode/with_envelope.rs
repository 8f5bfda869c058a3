//! Change of the envelope.

use omen_invariants::facts::{Envelope, Judged, ToolsDown, ToolsOk, ToolsPartial};

use super::demands::Progress;
use super::state::{Decide, Many, Open, Typestate, Verify};
use super::{Authorize, Episode, Escalated, Execute, Fork, Idle, Model, Review, SafeMode, Sense};

/// Tools state that a loop may rely on in a new envelope, if the previous envelope had `Before`. Whether its SUCCESS
/// is waived depends on the packet before the belief update (D22). So a new envelope in which no packet was sent yet
/// can remove the waiver but not grant it; `complete()` takes later packets into account.
pub trait ToolsThen<Before> {
    /// Resulting tools state.
    type Then;
}

impl<B> ToolsThen<B> for ToolsOk {
    type Then = Self;
}
impl<B> ToolsThen<B> for ToolsPartial {
    type Then = B;
}
impl<B> ToolsThen<B> for ToolsDown {
    type Then = B;
}
impl<B> ToolsThen<B> for Judged {
    type Then = Self;
}

/// State after a change to an envelope with the tools state `T`. This matters in a verification loop, because degraded
/// tools waive its SUCCESS (D22).
pub trait Under<T>: Typestate {
    /// State after the change.
    type Then: Typestate;
}

macro_rules! indifferent {
    ($($state:ty),*) => {
        $(impl<T> Under<T> for $state { type Then = Self; })*
    };
}
indifferent!(Idle, Sense, Model, Authorize, Execute, Fork, Review, Escalated, SafeMode, Many<Execute>);

impl<T, O> Under<T> for Decide<O>
where
    Self: Typestate,
{
    type Then = Self;
}

impl<T, const N: usize> Under<T> for Open<Execute, N> {
    type Then = Self;
}

impl<P: Progress, O, U, T: ToolsThen<U>> Under<T> for Verify<P, O, U> {
    type Then = Verify<P::Elsewhere, O, T::Then>;
}

impl<P: Progress, O, U, T: ToolsThen<U>, const N: usize> Under<T> for Open<Verify<P, O, U>, N> {
    type Then = Open<Verify<P::Elsewhere, O, T::Then>, N>;
}

impl<P: Progress, O, U, T: ToolsThen<U>> Under<T> for Many<Verify<P, O, U>> {
    type Then = Many<Verify<P::Elsewhere, O, T::Then>>;
}

impl<S> Episode<S> {
    /// Changes the envelope of future packets, for instance to other evidence or another tools state. Nothing is sent.
    /// A decision has its own envelope, which stays in force until the next change.
    pub fn under<L, Q, T>(mut self, envelope: &Envelope<L, Q, T>) -> Episode<S::Then>
    where
        S: Under<T>,
    {
        self.core.under(envelope);
        self.at()
    }
}
