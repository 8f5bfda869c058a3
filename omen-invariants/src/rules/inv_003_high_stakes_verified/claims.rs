//! Existence of the packet that is claimed to have verified an assumption (D62).

use omen_types::{Code, DecisionPayloadFacts, Diagnostic};

use super::super::wording::shorten;
use crate::context::Context;
use crate::derived::is_high;
use crate::help::inv_003 as help;

/// Checks the verification claims. `overridden` states whether layer 1 waives INV-003 (D30).
pub(super) fn check(
    context: &Context<'_>,
    decision: &DecisionPayloadFacts<'_>,
    overridden: bool,
    findings: &mut Vec<Diagnostic>,
) {
    let refuses = is_high(context.facts.mcp.stakes.stakes_level) && !overridden;
    for (at, assumption) in decision.load_bearing_assumptions.iter().flatten().enumerate() {
        let Some(id) = assumption.verification_packet_id.as_deref().filter(|_| assumption.verified) else { continue };
        if context.ledger.has_verifier(id) {
            continue;
        }
        let problem = format!(
            "`verification_packet_id` of the assumption `{}` names no packet that verified it: {}",
            shorten(&assumption.assumption, 80),
            what_it_names(context, id)
        );
        let finding =
            if refuses { Diagnostic::error(Code::Inv003, problem) } else { Diagnostic::warning(Code::Inv003, problem) };
        findings.push(
            finding
                .at(format!("/payload/load_bearing_assumptions/{at}/verification_packet_id"))
                .label("no such evidence in this episode")
                .help(help::NAME_VERIFIER),
        );
    }
}

fn what_it_names(context: &Context<'_>, id: &str) -> String {
    if id.is_empty() {
        "it is empty".to_owned()
    } else if context.ledger.has_accepted(id) {
        format!("`{}` is of another type, or a result without SUCCESS", shorten(id, 80))
    } else {
        format!("no packet `{}` was accepted before", shorten(id, 80))
    }
}
