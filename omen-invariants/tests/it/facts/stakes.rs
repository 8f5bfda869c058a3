//! The level that the compiler derives is the one that the run-time rule justifies (INV-012).

use omen_invariants::facts::{
    AdversarialityFact, ImpactFact, IrreversibilityFact, Stakes, StakesLevelFact, StakesLevelOf, UncertaintyFact,
    adversariality, impact, irreversibility, uncertainty,
};
use omen_invariants::rules::inv_012_stakes_consistent::Axes;
use omen_types::{Adversariality, Impact, Irreversibility, Uncertainty};

/// Calls `$each!(impact, irreversibility, uncertainty, adversariality)` for all combinations.
macro_rules! all_combinations {
    ($each:ident) => {
        all_combinations!(@1 $each [Low Medium High Critical]);
    };
    (@1 $each:ident [$($i:ident)+]) => {
        $(all_combinations!(@2 $each $i [Reversible Partial Irreversible]);)+
    };
    (@2 $each:ident $i:ident [$($r:ident)+]) => {
        $(all_combinations!(@3 $each $i $r [Low Medium High]);)+
    };
    (@3 $each:ident $i:ident $r:ident [$($u:ident)+]) => {
        $(all_combinations!(@4 $each $i $r $u [Benign Contested Hostile]);)+
    };
    (@4 $each:ident $i:ident $r:ident $u:ident [$($a:ident)+]) => {
        $($each!($i $r $u $a);)+
    };
}

#[test]
fn the_compiler_derives_the_justified_level() {
    let mut compared = Vec::new();
    macro_rules! compare {
        ($i:ident $r:ident $u:ident $a:ident) => {
            let axes = Axes {
                impact: <impact::$i>::VALUE,
                irreversibility: <irreversibility::$r>::VALUE,
                uncertainty: <uncertainty::$u>::VALUE,
                adversariality: <adversariality::$a>::VALUE,
            };
            type Level =
                <Stakes<impact::$i, irreversibility::$r, uncertainty::$u, adversariality::$a> as StakesLevelOf>::Level;
            assert_eq!(Level::VALUE, axes.level(), "{axes:?}");
            compared.push((
                axes.impact as u8,
                axes.irreversibility as u8,
                axes.uncertainty as u8,
                axes.adversariality as u8,
            ));
        };
    }
    macro_rules! each {
        ($i:ident $r:ident $u:ident $a:ident) => {{ compare!($i $r $u $a); }};
    }
    all_combinations!(each);
    compared.sort_unstable();
    compared.dedup();
    let all = Impact::ALL.len() * Irreversibility::ALL.len() * Uncertainty::ALL.len() * Adversariality::ALL.len();
    assert_eq!((compared.len(), all), (108, 108), "every value of the schema is covered");
}

/// Rule and compiler take the rank from the position in the schema's list; the descriptions there agree.
#[test]
fn the_schema_lists_axes_from_low_to_high() {
    let words = ["Ranks low", "Ranks medium", "Ranks high"];
    let impact: Vec<_> = Impact::ALL.iter().map(|value| value.description()).collect();
    let irreversibility: Vec<_> = Irreversibility::ALL.iter().map(|value| value.description()).collect();
    let uncertainty: Vec<_> = Uncertainty::ALL.iter().map(|value| value.description()).collect();
    let adversariality: Vec<_> = Adversariality::ALL.iter().map(|value| value.description()).collect();
    for axis in [&impact[..3], &irreversibility, &uncertainty, &adversariality] {
        assert_eq!(axis.len(), words.len());
        for (description, words) in axis.iter().zip(words) {
            assert!(description.contains(words), "{description}");
        }
    }
    assert!(impact[3].contains("`CRITICAL`"), "{}", impact[3]);
}
