//! INV-010, as `rules.json` states it (D34).

use omen_types::{Code, DecisionOutcome, Diagnostic, PayloadFacts, StakesLevel, ToolsState, Uncertainty};

use crate::context::Context;
use crate::derived::is_high;
use crate::help::inv_010 as help;

pub(super) fn check(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let PayloadFacts::Decision(decision) = &context.facts.payload else { return };
    let stakes = &context.facts.mcp.stakes;
    let (level, outcome) = (stakes.stakes_level, decision.decision_outcome);
    let tools = context.facts.mcp.routing.tools_state;
    findings.extend(decides_at(level, tools, outcome));
    if tools == ToolsState::ToolsPartial && level == StakesLevel::Medium && stakes.uncertainty != Uncertainty::High {
        findings.push(
            Diagnostic::warning(
                Code::Inv010,
                format!(
                    "expected `uncertainty` `HIGH` with `{tools}` at `{level}` stakes, found `{}`",
                    stakes.uncertainty
                ),
            )
            .at("/mcp/stakes/uncertainty")
            .label("tools_state is `tools_partial`")
            .help(help::UNCERTAINTY),
        );
    }
}

/// Returns the error of an outcome at a stakes level and in a tools state.
pub(crate) fn decides_at(level: StakesLevel, tools: ToolsState, outcome: DecisionOutcome) -> Option<Diagnostic> {
    let hands_over = matches!(outcome, DecisionOutcome::Escalate | DecisionOutcome::Cancel);
    (tools == ToolsState::ToolsDown && is_high(level) && !hands_over).then(|| {
        Diagnostic::error(
            Code::Inv010,
            format!("expected `decision_outcome` `ESCALATE` or `CANCEL` with `{tools}` at `{level}` stakes, found `{outcome}`"),
        )
        .at("/payload/decision_outcome")
        .label("tools_state is `tools_down`")
        .help(help::HAND_OVER)
    })
}

#[cfg(test)]
mod tests {
    use omen_types::{PacketType, Severity};
    use serde_json::Value;

    use super::super::fixture::{Episode, packet};
    use super::check;

    fn decision(outcome: &str, level: &str, tools: &str) -> Value {
        packet(
            PacketType::DecisionPacket,
            &[
                ("/payload/decision_outcome", outcome.into()),
                ("/mcp/stakes/stakes_level", level.into()),
                ("/mcp/stakes/uncertainty", "LOW".into()),
                ("/mcp/routing/tools_state", tools.into()),
            ],
        )
    }

    #[test]
    fn an_escalation_and_an_act_with_working_tools_pass() {
        assert_eq!(Episode::default().check(check, &decision("ESCALATE", "HIGH", "tools_down")), []);
        assert_eq!(Episode::default().check(check, &decision("ACT", "HIGH", "tools_ok")), []);
    }

    #[test]
    fn an_act_at_high_stakes_without_tools_is_refused() {
        let found = Episode::default().check(check, &decision("ACT", "HIGH", "tools_down"));
        assert_eq!(found, [(Severity::Error, "/payload/decision_outcome".to_owned())]);
    }

    #[test]
    fn little_uncertainty_with_some_tools_missing_is_a_warning() {
        let found = Episode::default().check(check, &decision("ACT", "MEDIUM", "tools_partial"));
        assert_eq!(found, [(Severity::Warning, "/mcp/stakes/uncertainty".to_owned())]);
    }
}
