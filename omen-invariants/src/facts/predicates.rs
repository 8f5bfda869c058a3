//! Facts that satisfy each predicate. The predicates and their compile errors are generated from `rules.json`, as are
//! the implementations that depend only on enum values (`holds`).
//!
//! Every implementation is hidden from the compiler's list of other implementations, because the predicate's note
//! states the alternatives.

use super::assumptions::{AllVerified, Overridden};
use super::dynamic::Judged;
use super::epistemics::Claim;
use super::evidence::Live;
use super::markers::{
    Archival, CountsAsEvidence, CriticalStakes, Degraded, Derived, Grounded, HighStakes, Hypothesized, Inferred,
    LowStakes, MediumStakes, NeedsNoEvidence, Observed, Operational, Par, Realtime, Remembered, StakesAllowAct,
    Strategic, Superb, TierMayAct, ToolsAllowAct, ToolsDown, ToolsOk, ToolsPartial, Unknown,
};
use super::sealed::FactSealed;

/// Implements predicates for the facts on the right-hand side: `[parameters] Predicate => Fact, Fact;`
macro_rules! holds {
    ($($parameters:tt $predicate:path => $($fact:ty),+;)+) => {
        $($(holds!(@one $parameters $predicate => $fact);)+)+
    };
    (@one [$($parameter:ident),*] $predicate:path => $fact:ty) => {
        #[diagnostic::do_not_recommend]
        impl<$($parameter),*> $predicate for $fact {}
    };
}

impl<const N: usize> FactSealed for [(); N] {}

// INV-002
holds! {
    [] TierMayAct => Par, Superb, Judged;
}

// INV-003, D30: an override waives this rule for every tier.
holds! {
    [Q, A] StakesAllowAct<Q, A> => LowStakes, MediumStakes, Judged;
    [] StakesAllowAct<Superb, AllVerified> => HighStakes, CriticalStakes;
    [Q] StakesAllowAct<Q, Overridden> => HighStakes, CriticalStakes;
}

// INV-004, D31
holds! {
    [] NeedsNoEvidence => Observed, Derived, Remembered;
    [F, B] Grounded => Claim<Observed, F, B>, Claim<Derived, F, B>, Claim<Remembered, F, B>;
    [B] Grounded => Claim<Inferred, Strategic, B>, Claim<Inferred, Archival, B>;
    [B] Grounded => Claim<Hypothesized, Strategic, B>, Claim<Hypothesized, Archival, B>;
    [B] Grounded => Claim<Unknown, Strategic, B>, Claim<Unknown, Archival, B>;
    [] Grounded => Claim<Inferred, Realtime, Live>, Claim<Inferred, Operational, Live>;
    [] Grounded => Claim<Hypothesized, Realtime, Live>, Claim<Hypothesized, Operational, Live>;
    [] Grounded => Claim<Unknown, Realtime, Live>, Claim<Unknown, Operational, Live>;
}

// INV-008, D22
holds! {
    [] Degraded => ToolsPartial, ToolsDown;
    [] CountsAsEvidence => Observed;
}

// INV-010, D34
holds! {
    [L] ToolsAllowAct<L> => ToolsOk, ToolsPartial, Judged;
    [] ToolsAllowAct<LowStakes> => ToolsDown;
    [] ToolsAllowAct<MediumStakes> => ToolsDown;
}
