//! Whether what is said to have verified an assumption is in the log (D62).

use omen_types::{Code, DecisionPayloadFacts, Diagnostic};

use super::{is_high, shorten};
use crate::Context;

/// `overridden` says whether layer 1 waives INV-003 (D30).
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
            "`verification_packet_id` of the verified assumption `{}` names no packet that verified it: {}",
            shorten(&assumption.assumption),
            what_it_names(context, id)
        );
        let finding =
            if refuses { Diagnostic::error(Code::Inv003, problem) } else { Diagnostic::warning(Code::Inv003, problem) };
        findings.push(
            finding
                .at(format!("/payload/load_bearing_assumptions/{at}/verification_packet_id"))
                .label("no such evidence in this episode")
                .help(
                    "name an earlier VerificationPlanPacket, ObservationPacket, BeliefUpdatePacket or TaskResultPacket with \
                     SUCCESS of this episode; if there is none, write `\"verified\": false` and decide VERIFY_FIRST",
                ),
        );
    }
}

fn what_it_names(context: &Context<'_>, id: &str) -> String {
    use crate::ledger::{Fingerprint, Kind};
    if id.is_empty() {
        "it is empty".to_owned()
    } else if context.ledger.has_seen(Fingerprint::of(Kind::Packet, id)) {
        format!("`{}` is of another type, or a result without SUCCESS", shorten(id))
    } else {
        format!("no packet `{}` was accepted before", shorten(id))
    }
}
