//! Types that satisfy the conditions of rules on moves. Each condition is a sealed trait, generated with its texts
//! from the `predicates` of the rules.

use omen_invariants::facts::{Degraded, EpistemicStatusFact, Judged, Observed, ToolsOk};

use super::state::sealed::EpisodeSealed;
use super::state::{Attempted, Complete, Planned, Proven, Seen, Unplanned, Unseen};
use super::values::{AnyClass, ReadOnly, ReadWrite, Settled};
use super::{Evidenced, HasPlan, ReadsAtOnce, Settles, SomeOrders, SomeUses, Succeeded, VerifyOnlyReads, WritesFirst};

impl EpisodeSealed for Judged {}
impl EpisodeSealed for Unplanned {}
impl EpisodeSealed for Planned {}
impl EpisodeSealed for Attempted {}
impl EpisodeSealed for Proven {}
impl EpisodeSealed for Complete {}
impl EpisodeSealed for Unseen {}
impl EpisodeSealed for Seen {}
impl<const N: usize> EpisodeSealed for [Settled; N] {}
impl EpisodeSealed for ReadOnly {}
impl EpisodeSealed for ReadWrite {}
impl EpisodeSealed for AnyClass {}

/// Progress of a verification loop.
pub trait Progress: EpisodeSealed + 'static {
    /// Progress after a plan.
    type Planned: Progress;
    /// Progress after a directive.
    type Sent: Progress;
    /// Progress in another envelope.
    type Elsewhere: Progress;
}

impl Progress for Judged {
    type Planned = Self;
    type Sent = Self;
    type Elsewhere = Self;
}
impl Progress for Unplanned {
    type Planned = Planned;
    type Sent = Attempted;
    type Elsewhere = Self;
}
impl Progress for Planned {
    type Planned = Self;
    type Sent = Attempted;
    type Elsewhere = Self;
}
impl Progress for Attempted {
    type Planned = Self;
    type Sent = Self;
    type Elsewhere = Self;
}
impl Progress for Proven {
    type Planned = Self;
    type Sent = Self;
    type Elsewhere = Self;
}
impl Progress for Complete {
    type Planned = Self;
    type Sent = Self;
    // The loop may be complete only because of a waiver, which another envelope removes.
    type Elsewhere = Judged;
}

#[diagnostic::do_not_recommend]
impl<C> HasPlan<C> for Planned {}
#[diagnostic::do_not_recommend]
impl<C> HasPlan<C> for Attempted {}
#[diagnostic::do_not_recommend]
impl<C> HasPlan<C> for Proven {}
#[diagnostic::do_not_recommend]
impl<C> HasPlan<C> for Complete {}
// The machine checks this at run time.
#[diagnostic::do_not_recommend]
impl<C> HasPlan<C> for Judged {}
// `VerifyOnlyReads` already reports such an order.
#[diagnostic::do_not_recommend]
impl HasPlan<ReadWrite> for Unplanned {}
#[diagnostic::do_not_recommend]
impl HasPlan<AnyClass> for Unplanned {}

#[diagnostic::do_not_recommend]
impl<T> Succeeded<T> for Proven {}
#[diagnostic::do_not_recommend]
impl<T> Succeeded<T> for Complete {}
#[diagnostic::do_not_recommend]
impl<T: Degraded> Succeeded<T> for Attempted {}

#[diagnostic::do_not_recommend]
impl<P, T> Evidenced<P, T> for Seen {}
#[diagnostic::do_not_recommend]
impl<T> Evidenced<Unplanned, T> for Unseen {}
#[diagnostic::do_not_recommend]
impl<T> Evidenced<Planned, T> for Unseen {}
#[diagnostic::do_not_recommend]
impl Evidenced<Attempted, ToolsOk> for Unseen {}
#[diagnostic::do_not_recommend]
impl<T> Evidenced<Judged, T> for Judged {}

/// Effect of an observation on whether a loop has one with status OBSERVED.
pub trait After<O>: EpistemicStatusFact {
    /// `Seen` or `Unseen`.
    type Then: EpisodeSealed + 'static;
}

impl<O> After<O> for Observed {
    type Then = Seen;
}

macro_rules! not_observed {
    ($($status:ident),*) => {
        $(impl<O: EpisodeSealed + 'static> After<O> for omen_invariants::facts::$status { type Then = O; })*
    };
}
not_observed!(Derived, Remembered, Inferred, Hypothesized, Unknown);

/// Results that one move records together.
pub trait Results: EpisodeSealed {
    /// Returns the results.
    #[doc(hidden)]
    fn all(self) -> Vec<Settled>;
}

impl<const N: usize> Results for [Settled; N] {
    fn all(self) -> Vec<Settled> {
        self.into()
    }
}

#[diagnostic::do_not_recommend]
impl<const N: usize> Settles<N> for [Settled; N] {}

#[diagnostic::do_not_recommend]
impl VerifyOnlyReads for ReadOnly {}

#[diagnostic::do_not_recommend]
impl ReadsAtOnce for ReadOnly {}

#[diagnostic::do_not_recommend]
impl WritesFirst for ReadWrite {}

impl<const N: usize> EpisodeSealed for [(); N] {}

macro_rules! lengths {
    ($($length:literal)*) => {
        $(
            #[diagnostic::do_not_recommend]
            impl SomeUses for [(); $length] {}
            #[diagnostic::do_not_recommend]
            impl SomeOrders for [(); $length] {}
        )*
    };
}
lengths! {
    1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
    33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64
}
