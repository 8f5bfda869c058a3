//! Stakes, and the level derived from them (INV-012).
//!
//! The compiler computes the level: the four axes pass one by one through a small state machine, whose input is the rank of
//! each value in the schema, lowest first. The run-time rule uses the same ranks; a test compares both on all combinations.

use super::markers::{
    AdversarialityFact, CriticalStakes, HighStakes, ImpactFact, IrreversibilityFact, LowStakes, MediumStakes,
    StakesLevelFact, UncertaintyFact,
};
use super::rank::Place;
use super::sealed::FactSealed;

/// Stakes along four axes. The level is derived from them, not stated (INV-012).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stakes<I, R, U, A> {
    /// Potential damage of a mistake, such as [`impact::High`](super::impact::High).
    pub impact: I,
    /// Degree to which the effect can be undone, such as [`irreversibility::Partial`](super::irreversibility::Partial).
    pub irreversibility: R,
    /// Degree of uncertainty, such as [`uncertainty::Low`](super::uncertainty::Low).
    pub uncertainty: U,
    /// Presence of adversaries, such as [`adversariality::Benign`](super::adversariality::Benign).
    pub adversariality: A,
}

/// Level that stakes justify: the first of CRITICAL, HIGH, MEDIUM, LOW whose condition holds (D36).
#[diagnostic::on_unimplemented(
    message = "INV-012: no level of stakes follows from `{Self}`",
    label = "not the four axes of `Stakes`",
    note = "write `stakes: Stakes {{ impact, irreversibility, uncertainty, adversariality }}`; the level is derived"
)]
pub trait StakesLevelOf: FactSealed {
    /// Level that the axes justify.
    type Level: StakesLevelFact;

    /// Returns the axes and the level as run-time values.
    #[doc(hidden)]
    fn stakes() -> omen_types::Stakes;
}

impl<I, R, U, A> FactSealed for Stakes<I, R, U, A> {}

impl<I, R, U, A> StakesLevelOf for Stakes<I, R, U, A>
where
    I: ImpactFact,
    R: IrreversibilityFact,
    U: UncertaintyFact,
    A: AdversarialityFact,
    Calm: Then<I::Place>,
    After<Calm, I::Place>: Then<R::Place>,
    After<After<Calm, I::Place>, R::Place>: Then<U::Place>,
    After<After<After<Calm, I::Place>, R::Place>, U::Place>: Finally<A::Place>,
{
    type Level = <After<After<After<Calm, I::Place>, R::Place>, U::Place> as Finally<A::Place>>::Level;

    fn stakes() -> omen_types::Stakes {
        omen_types::Stakes::builder()
            .impact(I::VALUE)
            .irreversibility(R::VALUE)
            .uncertainty(U::VALUE)
            .adversariality(A::VALUE)
            .stakes_level(Self::Level::VALUE)
            .build()
    }
}

/// State: no axis is above low.
#[derive(Debug)]
pub struct Calm;
/// State: some axis is medium, none is high.
#[derive(Debug)]
pub struct Raised;
/// State: one axis is high.
#[derive(Debug)]
pub struct OneHigh;
/// State: two axes are high.
#[derive(Debug)]
pub struct TwoHigh;
/// State: impact is critical, or impact, irreversibility and uncertainty are all high.
#[derive(Debug)]
pub struct Grave;

/// Transition by the rank of impact, irreversibility or uncertainty.
pub trait Then<Place> {
    /// State after the transition.
    type Next;
}

/// Transition by the rank of adversariality, the only axis that cannot make stakes critical.
pub trait Finally<Place> {
    /// Resulting level.
    type Level: StakesLevelFact;
}

type After<State, Place> = <State as Then<Place>>::Next;

macro_rules! table {
    ($trait:ident, $out:ident: $($state:ident [$($to:ident)+];)+) => {
        $(table!(@row $trait, $out, $state, 0 1 2 3, $($to)+);)+
    };
    // A row omits the ranks that its axis does not have.
    (@row $trait:ident, $out:ident, $state:ident, $place:literal $($places:literal)*, $to:ident $($more:ident)*) => {
        #[diagnostic::do_not_recommend]
        impl $trait<Place<$place>> for $state {
            type $out = $to;
        }
        table!(@row $trait, $out, $state, $($places)*, $($more)*);
    };
    (@row $trait:ident, $out:ident, $state:ident, $($places:literal)*,) => {};
}

// Before the third axis, two axes are high only if they are impact and irreversibility; high uncertainty then makes the
// stakes critical. Only impact, which comes first, has a fourth value.
table! { Then, Next:
    // low    medium  high    critical
    Calm    [Calm    Raised  OneHigh Grave];
    Raised  [Raised  Raised  OneHigh];
    OneHigh [OneHigh OneHigh TwoHigh];
    TwoHigh [TwoHigh TwoHigh Grave];
    Grave   [Grave   Grave   Grave];
}

table! { Finally, Level:
    // low           medium         high
    Calm    [LowStakes      MediumStakes   MediumStakes];
    Raised  [MediumStakes   MediumStakes   MediumStakes];
    OneHigh [MediumStakes   MediumStakes   HighStakes];
    TwoHigh [HighStakes     HighStakes     HighStakes];
    Grave   [CriticalStakes CriticalStakes CriticalStakes];
}
