//! What the sequence rules ask of types: one trait a demand. All are sealed.

use omen_invariants::facts::{
    Degraded, EpistemicStatusFact, Judged, MixedClass, Observed, ToolSafetyClassFact, ToolsOk, WriteClass,
};

use super::state::sealed::EpisodeSealed;
use super::state::{Attempted, Planned, Proven, Seen, Unplanned, Unseen};
use super::values::{AnyClass, Authorized, ReadOnly, Settled};

impl EpisodeSealed for Judged {}
impl EpisodeSealed for Unplanned {}
impl EpisodeSealed for Planned {}
impl EpisodeSealed for Attempted {}
impl EpisodeSealed for Proven {}
impl EpisodeSealed for Unseen {}
impl EpisodeSealed for Seen {}
impl<const N: usize> EpisodeSealed for [Settled; N] {}
impl EpisodeSealed for ReadOnly {}
impl EpisodeSealed for Authorized {}
impl EpisodeSealed for AnyClass {}

/// Progress of a verification loop, and what it becomes.
pub trait Progress: EpisodeSealed + 'static {
    /// Once a plan was sent.
    type Planned: Progress;
    /// Once a directive was sent.
    type Sent: Progress;
}

impl Progress for Judged {
    type Planned = Self;
    type Sent = Self;
}
impl Progress for Unplanned {
    type Planned = Planned;
    type Sent = Attempted;
}
impl Progress for Planned {
    type Planned = Self;
    type Sent = Attempted;
}
impl Progress for Attempted {
    type Planned = Self;
    type Sent = Self;
}
impl Progress for Proven {
    type Planned = Self;
    type Sent = Self;
}

/// E3: a loop's plan comes before its first directive (D22).
#[diagnostic::on_unimplemented(
    message = "E3 (INV-008): the verification loop has no plan yet, and a plan comes before the first directive",
    label = "the loop is `{Self}`",
    note = "send one first: `let (plan, ..) = Plan::of([..]);` and `ep.verify(plan)`"
)]
pub trait HasPlan<C>: Progress {}
#[diagnostic::do_not_recommend]
impl<C> HasPlan<C> for Planned {}
#[diagnostic::do_not_recommend]
impl<C> HasPlan<C> for Attempted {}
#[diagnostic::do_not_recommend]
impl<C> HasPlan<C> for Proven {}
// The machine looks, then.
#[diagnostic::do_not_recommend]
impl<C> HasPlan<C> for Judged {}
// What such an order lacks is said by `VerifyOnlyReads` already.
#[diagnostic::do_not_recommend]
impl HasPlan<Authorized> for Unplanned {}
#[diagnostic::do_not_recommend]
impl HasPlan<AnyClass> for Unplanned {}

/// E3, INV-008: a loop closes after a plan, a READ directive and a SUCCESS, which is waived only if the
/// tools are degraded (D22).
#[diagnostic::on_unimplemented(
    message = "E3 (INV-008): the verification loop needs a READ directive that ends with SUCCESS before its belief update",
    label = "the loop is `{Self}`, and its last packet says `{T}`",
    note = "go on: `.verify(plan)`, then `.check(order, ..)`; only `ToolsPartial` and `ToolsDown` waive the SUCCESS",
    note = "how far a loop is that was taken up again, or has had another envelope, `.complete()` finds out"
)]
pub trait Succeeded<T>: Progress {}
#[diagnostic::do_not_recommend]
impl<T> Succeeded<T> for Proven {}
#[diagnostic::do_not_recommend]
impl<T: Degraded> Succeeded<T> for Attempted {}

/// E3, INV-008: a loop closes after an observation with status OBSERVED (D22). What else is missing is
/// said first.
#[diagnostic::on_unimplemented(
    message = "E3 (INV-008): the verification loop needs an observation with status OBSERVED before its belief update",
    label = "nothing was observed in this loop: it is `{Self}`",
    note = "take in what is really so: `ep.observe(Observation::tool_output(Observed, ..))`",
    note = "how far a loop is that was taken up again, or has had another envelope, `.complete()` finds out"
)]
pub trait Evidenced<P, T>: EpisodeSealed {}
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

/// Whether something was observed in a loop, after one more observation.
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

/// E6: as many results as directives.
#[diagnostic::on_unimplemented(
    message = "E6: every open directive needs exactly one result, so `settle` takes {N} here; it got `{Self}`",
    label = "wrong number of results",
    note = "tasks that did not succeed are settled, too: `.failure(..)` or `.cancelled()`"
)]
pub trait Settles<const N: usize>: EpisodeSealed {
    /// The results.
    #[doc(hidden)]
    fn all(self) -> Vec<Settled>;
    /// From the results.
    #[doc(hidden)]
    fn back(all: Vec<Settled>) -> Option<Self>
    where
        Self: Sized;
}
#[diagnostic::do_not_recommend]
impl<const N: usize> Settles<N> for [Settled; N] {
    fn all(self) -> Vec<Settled> {
        self.into()
    }

    fn back(all: Vec<Settled>) -> Option<Self> {
        all.try_into().ok()
    }
}

/// E3, INV-008: a verification loop only reads (D10).
#[diagnostic::on_unimplemented(
    message = "E3 (INV-008): a verification loop runs READ directives only",
    label = "this order is `{Self}`",
    note = "finish the loop and decide `.act(..)`; then `.authorize::<Scope, N>(..)` and `.execute([..])`"
)]
pub trait VerifyOnlyReads: EpisodeSealed {}
#[diagnostic::do_not_recommend]
impl VerifyOnlyReads for ReadOnly {}

/// D18: with an ACT decision resting, and before a token of its own, only READ directives go out.
#[diagnostic::on_unimplemented(
    message = "FSM: from `Decide<Act>` only READ directives go out at once (D18)",
    label = "this order is `{Self}`",
    note = "to write, issue a token for this decision first: `ep.authorize::<Scope, N>(..)`"
)]
pub trait ReadsAtOnce: EpisodeSealed {}
#[diagnostic::do_not_recommend]
impl ReadsAtOnce for ReadOnly {}

/// D18: after a token, the first directive is one that writes.
#[diagnostic::on_unimplemented(
    message = "FSM: from `Authorize` the first directives are those that write (D18)",
    label = "this order is `{Self}`",
    note = "send a directive `.with(permit)` first; once it is out, READ directives may follow"
)]
pub trait WritesFirst: EpisodeSealed {}
#[diagnostic::do_not_recommend]
impl WritesFirst for Authorized {}

/// INV-007, E4: a token is good for something.
#[diagnostic::on_unimplemented(
    message = "INV-007 (E4): a token is issued for at least one use, and at most 64",
    label = "wrong number of uses",
    note = "name how many directives it is for: `ep.authorize::<Scope, 1>(..)`"
)]
pub trait SomeUses: EpisodeSealed {}

/// E6: a step that sends directives sends some.
#[diagnostic::on_unimplemented(
    message = "E6: a step sends at least one directive, and at most 64, for each needs its result",
    label = "wrong number of orders",
    note = "give it the orders: `ep.execute([order])`; more may follow from `Execute`"
)]
pub trait SomeOrders: EpisodeSealed {}

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

/// INV-007: a permit is for what may write (D17).
#[diagnostic::on_unimplemented(
    message = "INV-007 (E4): a tool of `{Self}` takes no permit",
    label = "this tool only reads",
    note = "make an order of it without one: `.ready()`"
)]
pub trait TakesToken: ToolSafetyClassFact {}
#[diagnostic::do_not_recommend]
impl TakesToken for WriteClass {}
#[diagnostic::do_not_recommend]
impl TakesToken for MixedClass {}
