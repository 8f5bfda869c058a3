//! INV-012 on all 108 combinations of axes and all four levels, against a second implementation of D36.

use omen_invariants::rules::inv_012_stakes_consistent::{Axes, Rank};
use omen_invariants::{Context, Ledger, rules};
use omen_types::{Adversariality, Code, Impact, Irreversibility, PacketFacts, StakesLevel, Uncertainty};

/// Returns whether a stated level has a warning: it must meet its own condition, and a low one must not hide a high axis (D36).
fn warns(level: StakesLevel, ranks: [u8; 4]) -> bool {
    let [impact, irreversibility, uncertainty, _] = ranks;
    let high = ranks.iter().filter(|rank| **rank >= 2).count();
    let medium = ranks.iter().filter(|rank| **rank == 1).count();
    let critical_line = impact == 3 || (impact == 2 && irreversibility == 2 && uncertainty == 2);
    let high_line = impact == 3 || high >= 2;
    match level {
        StakesLevel::Critical => !critical_line,
        StakesLevel::High => !high_line,
        StakesLevel::Medium => high + medium == 0 || critical_line || high_line,
        StakesLevel::Low => high > 0 || medium > 1,
    }
}

#[test]
fn all_combinations_of_axes_and_levels() {
    let line = crate::log("valid/read-only.jsonl")[0].to_string();
    let mut facts = PacketFacts::parse(&line).expect("a packet");
    let ledger = Ledger::default();
    let mut warned = 0;
    for (i, impact) in Impact::ALL.iter().enumerate() {
        for (r, irreversibility) in Irreversibility::ALL.iter().enumerate() {
            for (u, uncertainty) in Uncertainty::ALL.iter().enumerate() {
                for (a, adversariality) in Adversariality::ALL.iter().enumerate() {
                    for level in StakesLevel::ALL {
                        let stakes = &mut facts.mcp.stakes;
                        stakes.impact = *impact;
                        stakes.irreversibility = *irreversibility;
                        stakes.uncertainty = *uncertainty;
                        stakes.adversariality = *adversariality;
                        stakes.stakes_level = *level;
                        let mut findings = Vec::new();
                        rules::check(&Context::new(&facts, &ledger, None), &mut findings);
                        let found = findings.iter().any(|finding| finding.code == Code::Inv012);
                        let ranks = [i, r, u, a].map(|rank| u8::try_from(rank).expect("a rank"));
                        assert_eq!(found, warns(*level, ranks), "{level} with {ranks:?}");
                        warned += usize::from(found);
                    }
                }
            }
        }
    }
    assert!(warned > 100 && warned < 432, "{warned} of 432 warn");
}

#[test]
fn the_justified_level_is_never_warned_of() {
    for impact in Impact::ALL {
        for irreversibility in Irreversibility::ALL {
            for uncertainty in Uncertainty::ALL {
                for adversariality in Adversariality::ALL {
                    let axes = Axes {
                        impact: *impact,
                        irreversibility: *irreversibility,
                        uncertainty: *uncertainty,
                        adversariality: *adversariality,
                    };
                    let ranks = axes.ranks().map(|rank| match rank {
                        Rank::Low => 0,
                        Rank::Medium => 1,
                        Rank::High => 2,
                        Rank::Critical => 3,
                    });
                    assert!(!warns(axes.level(), ranks), "{axes:?}");
                }
            }
        }
    }
}
