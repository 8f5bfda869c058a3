//! Another envelope for the packets to come.

use omen_invariants::facts::{Envelope, Judged, ToolsDown, ToolsOk, ToolsPartial};

use super::demands::Progress;
use super::state::{Decide, Many, Open, Typestate, Verify};
use super::{Authorize, Episode, Escalated, Execute, Fork, Idle, Model, Review, SafeMode, Sense};

/// What a loop may count on once an envelope says something of the tools, where one said `Before`. That its
/// SUCCESS is waived follows from the packet before the belief update (D22), so an envelope that no packet
/// was sent in yet can take the waiver away, and not give it. What has been sent since, `complete()` knows.
pub trait ToolsThen<Before> {
    /// What counts.
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

/// What a state is under an envelope that says `T` of the tools. A verification loop keeps it in mind,
/// for degraded tools waive its SUCCESS (D22).
pub trait Under<T>: Typestate {
    /// The state then.
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
    /// Sends the packets to come in another envelope: with other evidence, say, or another state of the
    /// tools. Nothing is sent. A decision brings its own envelope, which holds until the next one.
    pub fn under<L, Q, T>(mut self, envelope: &Envelope<L, Q, T>) -> Episode<S::Then>
    where
        S: Under<T>,
    {
        self.core.under(envelope);
        self.at()
    }
}
