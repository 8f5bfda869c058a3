//! INV-010: with degraded tools, high stakes are escalated or cancelled.

use omen_types::{Code, DecisionOutcome, Diagnostic, PayloadFacts, StakesLevel, ToolsState, Uncertainty};

use super::inv_003_high_stakes_verified::is_high;
use crate::Context;

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
                    "with tools partly down at `MEDIUM` stakes the uncertainty should be `HIGH`, not `{}`",
                    stakes.uncertainty
                ),
            )
            .at("/mcp/stakes/uncertainty")
            .label("tools_state is `tools_partial`")
            .help("state the uncertainty that the missing tools leave"),
        );
    }
}

/// What speaks against an outcome at a level of stakes in a state of the tools.
pub(crate) fn decides_at(level: StakesLevel, tools: ToolsState, outcome: DecisionOutcome) -> Option<Diagnostic> {
    let hands_over = matches!(outcome, DecisionOutcome::Escalate | DecisionOutcome::Cancel);
    (tools == ToolsState::ToolsDown && is_high(level) && !hands_over).then(|| {
        Diagnostic::error(
            Code::Inv010,
            format!("with tools down at `{level}` stakes the outcome must be `ESCALATE` or `CANCEL`, not `{outcome}`"),
        )
        .at("/payload/decision_outcome")
        .label("tools_state is `tools_down`")
        .help(Code::Inv010.info().help)
    })
}
