//! INV-012, as `rules.json` states it (D36).

use omen_types::{
    Adversariality, Code, Diagnostic, Impact, Irreversibility, Stakes, StakesFacts, StakesLevel, Uncertainty,
};

use crate::context::Context;
use crate::help::inv_012 as help;

pub(super) fn check(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let stakes = &context.facts.mcp.stakes;
    let axes = Axes::from_facts(stakes);
    let stated = stakes.stakes_level;
    let understated = matches!(stated, StakesLevel::Low | StakesLevel::Medium)
        && (axes.line_holds(StakesLevel::High) || axes.line_holds(StakesLevel::Critical));
    if axes.line_holds(stated) && !understated {
        return;
    }
    let justified = axes.level();
    let how = if understated || justified > stated { "understated" } else { "overstated" };
    findings.push(
        Diagnostic::warning(
            Code::Inv012,
            format!("`stakes_level` `{stated}` is {how}; the axes justify `{justified}`"),
        )
        .at("/mcp/stakes/stakes_level")
        .label(format!(
            "impact {}, irreversibility {}, uncertainty {}, adversariality {}",
            stakes.impact, stakes.irreversibility, stakes.uncertainty, stakes.adversariality
        ))
        .help(help::state(justified)),
    );
}

/// Returns the error of a stakes level that is below the one that the axes justify. In a log, this is only a
/// warning (D36), but an envelope that is still being written can be corrected.
#[must_use]
pub fn understated(stakes: &Stakes) -> Option<Diagnostic> {
    let (axes, stated) = (Axes::stated(stakes), stakes.stakes_level);
    let justified = axes.level();
    // One medium axis with the rest low justifies both LOW and MEDIUM.
    let is_low = stated == StakesLevel::Low && axes.line_holds(StakesLevel::Low);
    (stated < justified && !is_low).then(|| {
        Diagnostic::error(
            Code::Inv012,
            format!("`stakes_level` `{stated}` is understated; the axes justify `{justified}`"),
        )
        .at("/mcp/stakes/stakes_level")
        .help(help::state(justified))
    })
}

/// Rank of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// LOW, REVERSIBLE, BENIGN.
    Low,
    /// MEDIUM, PARTIAL, CONTESTED.
    Medium,
    /// HIGH, IRREVERSIBLE, HOSTILE.
    High,
    /// CRITICAL, which only impact has.
    Critical,
}

impl Rank {
    /// Returns the rank of a value by its index; the schema lists the values of each axis from low to high (D36).
    fn of_place(place: usize) -> Self {
        match place {
            0 => Self::Low,
            1 => Self::Medium,
            2 => Self::High,
            _ => Self::Critical,
        }
    }
}

/// The four axes of stakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axes {
    /// Potential damage.
    pub impact: Impact,
    /// Degree to which the effect can be undone.
    pub irreversibility: Irreversibility,
    /// Degree of uncertainty.
    pub uncertainty: Uncertainty,
    /// Presence of adversaries.
    pub adversariality: Adversariality,
}

impl Axes {
    fn from_facts(stakes: &StakesFacts) -> Self {
        Self {
            impact: stakes.impact,
            irreversibility: stakes.irreversibility,
            uncertainty: stakes.uncertainty,
            adversariality: stakes.adversariality,
        }
    }

    fn stated(stakes: &Stakes) -> Self {
        Self {
            impact: stakes.impact,
            irreversibility: stakes.irreversibility,
            uncertainty: stakes.uncertainty,
            adversariality: stakes.adversariality,
        }
    }

    /// Returns the ranks, impact first.
    #[must_use]
    pub fn ranks(self) -> [Rank; 4] {
        // Each cast yields the index of a value in the schema, which the type-level facts are also derived from.
        [self.impact as usize, self.irreversibility as usize, self.uncertainty as usize, self.adversariality as usize]
            .map(Rank::of_place)
    }

    /// Returns whether the condition of a level holds (D36). It may hold for several levels, or for none.
    #[must_use]
    pub fn line_holds(self, level: StakesLevel) -> bool {
        let ranks = self.ranks();
        let count = |least: Rank| ranks.iter().filter(|rank| **rank >= least).count();
        let critical = self.impact == Impact::Critical;
        match level {
            StakesLevel::Critical => {
                critical
                    || (self.impact == Impact::High
                        && self.irreversibility == Irreversibility::Irreversible
                        && self.uncertainty == Uncertainty::High)
            }
            StakesLevel::High => critical || count(Rank::High) >= 2,
            StakesLevel::Medium => count(Rank::Medium) >= 1,
            StakesLevel::Low => count(Rank::High) == 0 && count(Rank::Medium) <= 1,
        }
    }

    /// Returns the level that the axes justify: the first of CRITICAL, HIGH, MEDIUM, LOW whose condition holds.
    #[must_use]
    pub fn level(self) -> StakesLevel {
        [StakesLevel::Critical, StakesLevel::High, StakesLevel::Medium]
            .into_iter()
            .find(|level| self.line_holds(*level))
            .unwrap_or(StakesLevel::Low)
    }
}

#[cfg(test)]
mod tests {
    use omen_types::{PacketType, Severity};
    use serde_json::{Value, json};

    use super::super::fixture::{Episode, packet};
    use super::check;

    fn stated(level: &str) -> Value {
        let stakes = json!({
            "stakes_level": level, "impact": "HIGH", "irreversibility": "IRREVERSIBLE", "uncertainty": "LOW",
            "adversariality": "BENIGN",
        });
        packet(PacketType::BeliefUpdatePacket, &[("/mcp/stakes", stakes)])
    }

    #[test]
    fn the_level_that_the_axes_justify_passes() {
        assert_eq!(Episode::default().check(check, &stated("HIGH")), []);
    }

    #[test]
    fn understated_and_overstated_levels_are_warnings() {
        for level in ["LOW", "MEDIUM", "CRITICAL"] {
            let found = Episode::default().check(check, &stated(level));
            assert_eq!(found, [(Severity::Warning, "/mcp/stakes/stakes_level".to_owned())], "{level}");
        }
    }
}
