//! INV-002, INV-003 and INV-010 on every outcome at every level, tier and state of the tools, against a second implementation of
//! the decisions.

use omen_invariants::{Context, Ledger, rules};
use omen_types::{
    Code, DecisionOutcome, PacketFacts, PacketType, PayloadFacts, QualityTier, Severity, StakesLevel, ToolsState,
    Uncertainty,
};
use serde_json::json;

/// Outcome of a decision, and its circumstances.
struct Case {
    outcome: DecisionOutcome,
    level: StakesLevel,
    tier: QualityTier,
    tools: ToolsState,
    verified: bool,
    overridden: bool,
    uncertainty: Uncertainty,
}

impl Case {
    fn acts(&self) -> bool {
        self.outcome == DecisionOutcome::Act
    }

    fn is_high(&self) -> bool {
        matches!(self.level, StakesLevel::High | StakesLevel::Critical)
    }

    fn subpar_acts(&self) -> bool {
        self.acts() && self.tier == QualityTier::Subpar
    }

    /// Only ACT requires verification, and an override of layer 1 waives it (D30).
    fn unverified(&self) -> bool {
        self.acts() && self.is_high() && !(self.tier == QualityTier::Superb && self.verified) && !self.overridden
    }

    /// Without working tools, only escalation and cancellation remain (D34).
    fn without_tools(&self) -> bool {
        let stops = matches!(self.outcome, DecisionOutcome::Escalate | DecisionOutcome::Cancel);
        self.is_high() && self.tools == ToolsState::ToolsDown && !stops
    }

    /// With some tools missing, a decision with medium stakes must admit it (D34).
    fn too_sure(&self) -> bool {
        let partial = self.tools == ToolsState::ToolsPartial && self.level == StakesLevel::Medium;
        partial && self.uncertainty != Uncertainty::High
    }
}

/// Returns the case as a packet.
fn facts<'p>(line: &'p str, case: &Case) -> PacketFacts<'p> {
    let mut facts = PacketFacts::parse(line).unwrap_or_else(|rejected| panic!("{rejected}"));
    facts.mcp.stakes.stakes_level = case.level;
    facts.mcp.stakes.uncertainty = case.uncertainty;
    facts.mcp.quality.quality_tier = case.tier;
    facts.mcp.routing.tools_state = case.tools;
    let PayloadFacts::Decision(decision) = &mut facts.payload else { panic!("a decision") };
    decision.decision_outcome = case.outcome;
    facts
}

/// Returns the line of a decision; the rest of the case is set in the parsed facts.
fn line(verified: bool, overridden: bool) -> String {
    let mut packet = crate::packet(PacketType::DecisionPacket);
    packet["payload"]["load_bearing_assumptions"] = json!([{"assumption": "a", "verified": verified}]);
    packet["payload"]["decision_summary"] = "safety".into();
    if overridden {
        packet["header"]["layer_source"] = 1.into();
        packet["payload"]["decision_summary"] = "safety: Emergency Override".into();
    }
    packet.to_string()
}

fn check(line: &str, case: &Case) -> [bool; 4] {
    let facts = facts(line, case);
    let ledger = Ledger::default();
    let mut findings = Vec::new();
    rules::check(&Context::new(&facts, &ledger, None), &mut findings);
    let has = |code, severity| findings.iter().any(|finding| (finding.code, finding.severity) == (code, severity));
    [
        has(Code::Inv002, Severity::Error),
        has(Code::Inv003, Severity::Error),
        has(Code::Inv010, Severity::Error),
        has(Code::Inv010, Severity::Warning),
    ]
}

#[test]
fn all_outcomes_at_all_levels_tiers_and_tools() {
    let (mut refused, mut passed) = (0, 0);
    for (verified, overridden) in [(false, false), (false, true), (true, false), (true, true)] {
        let line = line(verified, overridden);
        for outcome in DecisionOutcome::ALL {
            for level in StakesLevel::ALL {
                for tier in QualityTier::ALL {
                    for tools in ToolsState::ALL {
                        for uncertainty in Uncertainty::ALL {
                            let (outcome, level, tier) = (*outcome, *level, *tier);
                            let (tools, uncertainty) = (*tools, *uncertainty);
                            let case = Case { outcome, level, tier, tools, verified, overridden, uncertainty };
                            let expected =
                                [case.subpar_acts(), case.unverified(), case.without_tools(), case.too_sure()];
                            let case_name = format!("{outcome} at {level}, {tier}, {tools}, {verified}, {overridden}");
                            assert_eq!(check(&line, &case), expected, "{case_name}");
                            if expected[..3].contains(&true) { refused += 1 } else { passed += 1 }
                        }
                    }
                }
            }
        }
    }
    assert!(refused > 300 && passed > 1000, "{refused} of {}", refused + passed);
}
