//! What is at stake, and the level that follows (INV-012).
//!
//! The level is computed by the compiler: the four axes pass one after another through a small
//! machine, whose input is the place of each value in the schema, lowest first. The run-time rule
//! reads the same places; a test compares the two on all combinations.

use super::markers::{
    AdversarialityFact, CriticalStakes, HighStakes, ImpactFact, IrreversibilityFact, LowStakes, MediumStakes,
    StakesLevelFact, UncertaintyFact,
};
use super::place::Place;
use super::sealed::FactSealed;

/// What is at stake, along four axes. The level follows from them and is not stated (INV-012).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stakes<I, R, U, A> {
    /// How much damage a mistake would do, such as [`impact::High`](super::impact::High).
    pub impact: I,
    /// How far the effect can be undone, such as [`irreversibility::Partial`](super::irreversibility::Partial).
    pub irreversibility: R,
    /// How much is unknown, such as [`uncertainty::Low`](super::uncertainty::Low).
    pub uncertainty: U,
    /// Whether others work against the agent, such as [`adversariality::Benign`](super::adversariality::Benign).
    pub adversariality: A,
}

/// The level that stakes justify: the first of CRITICAL, HIGH, MEDIUM, LOW whose line holds (D36).
#[diagnostic::on_unimplemented(
    message = "INV-012: no level of stakes follows from `{Self}`",
    label = "not the four axes of `Stakes`",
    note = "write `stakes: Stakes {{ impact, irreversibility, uncertainty, adversariality }}`; the level is derived"
)]
pub trait StakesLevelOf: FactSealed {
    /// The level.
    type Level: StakesLevelFact;

    /// Axes and level at run time.
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

/// No axis is above low.
#[derive(Debug)]
pub struct Calm;
/// Some axis is medium, none is high.
#[derive(Debug)]
pub struct Raised;
/// One axis is high.
#[derive(Debug)]
pub struct OneHigh;
/// Two axes are high.
#[derive(Debug)]
pub struct TwoHigh;
/// Impact is critical, or impact, irreversibility and uncertainty are all high.
#[derive(Debug)]
pub struct Grave;

/// Takes the next of impact, irreversibility, uncertainty.
pub trait Then<Place> {
    /// What is known after it.
    type Next;
}

/// Takes adversariality, the one axis that cannot make stakes critical.
pub trait Finally<Place> {
    /// The level that follows.
    type Level: StakesLevelFact;
}

type After<State, Place> = <State as Then<Place>>::Next;

macro_rules! table {
    ($trait:ident, $out:ident: $($state:ident [$($to:ident)+];)+) => {
        $(table!(@row $trait, $out, $state, 0 1 2 3, $($to)+);)+
    };
    // The places that the row does not name, an axis does not have.
    (@row $trait:ident, $out:ident, $state:ident, $place:literal $($places:literal)*, $to:ident $($more:ident)*) => {
        #[diagnostic::do_not_recommend]
        impl $trait<Place<$place>> for $state {
            type $out = $to;
        }
        table!(@row $trait, $out, $state, $($places)*, $($more)*);
    };
    (@row $trait:ident, $out:ident, $state:ident, $($places:literal)*,) => {};
}

// Two axes are high before the third only if they are impact and irreversibility; a high uncertainty
// then makes the stakes critical. Only impact has a fourth value, and it comes first.
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
