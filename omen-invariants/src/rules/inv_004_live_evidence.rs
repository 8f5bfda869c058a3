//! INV-004, as `rules.json` states it, with D31, D66 and D79.

use omen_types::{
    Code, DecisionOutcome, Diagnostic, EpistemicStatus, FreshnessClass, Instant, McpEnvelope, PacketFacts, PacketType,
    PayloadFacts, Severity, ToolSafetyClass,
};

use crate::context::Context;
use crate::derived;
use crate::help::inv_004 as help;
use crate::ledger::Ledger;

pub(super) fn check(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    check_as(context, || asks(context.facts, can_ask(context.facts.payload.packet_type(), context.ledger)), findings);
}

/// Checks a packet on its own. Any directive that reads may belong to a verification loop.
pub(super) fn check_alone(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let packet_type = context.facts.payload.packet_type();
    let can_ask = packet_type == PacketType::TaskDirectivePacket || can_ask(packet_type, context.ledger);
    check_as(context, || asks(context.facts, can_ask), findings);
}

fn check_as(context: &Context<'_>, asks: impl FnOnce() -> bool, findings: &mut Vec<Diagnostic>) {
    if !claim(context, asks, findings) {
        findings.extend(own_limit(context));
    }
}

/// Warns about evidence that is older than the packet itself permits, whatever its status (D79).
fn own_limit(context: &Context<'_>) -> Option<Diagnostic> {
    let mcp = &context.facts.mcp;
    let limit = mcp.epistemics.stale_if_older_than_seconds?.get();
    let newest = mcp.evidence.evidence_refs.newest_of_all()?;
    let created_at = context.facts.header.created_at;
    (created_at > newest.plus_seconds(limit)).then(|| too_old(newest, created_at, limit, "newest", OWN_LIMIT))
}

/// Checks a claim about the present, and returns whether its evidence is stale.
fn claim(context: &Context<'_>, asks: impl FnOnce() -> bool, findings: &mut Vec<Diagnostic>) -> bool {
    let epistemics = &context.facts.mcp.epistemics;
    if !is_claim(epistemics.status, epistemics.freshness_class) {
        return false;
    }
    let Some(newest) = context.facts.mcp.evidence.evidence_refs.newest() else {
        let mut finding = unsupported(epistemics.status, epistemics.freshness_class);
        if asks() {
            // The rule's general help would suggest a step that has already been taken.
            finding = finding.help(help::WHILE_ASKING);
            finding.severity = Severity::Warning;
        }
        findings.push(finding);
        return false;
    };
    let stated = epistemics.stale_if_older_than_seconds.map(omen_types::Count::get);
    let stale = stale(newest, context.now, stated, epistemics.freshness_class);
    let is_stale = stale.is_some();
    findings.extend(stale);
    let created_at = context.facts.header.created_at;
    if newest > created_at {
        let problem = format!(
            "the newest live evidence has `timestamp` {newest}, later than `created_at` {created_at} of the packet"
        );
        findings.push(
            Diagnostic::warning(Code::Inv004, problem)
                .at("/mcp/evidence/evidence_refs")
                .label("in the future")
                .help(help::FROM_THE_FUTURE),
        );
    }
    is_stale
}

/// Returns whether packets of a type can seek certainty or request help, rather than claim or commit to anything (D31).
/// Missing evidence is then only a warning: the rule itself demands verification, and an emergency halt is never
/// refused for lack of evidence.
#[must_use]
pub fn can_ask(packet_type: PacketType, ledger: &Ledger) -> bool {
    match packet_type {
        PacketType::DecisionPacket
        | PacketType::VerificationPlanPacket
        | PacketType::EscalationPacket
        | PacketType::IntegrityAlertPacket => true,
        // A directive that the state machine accepts after VERIFY_FIRST belongs to the loop, in S4.
        PacketType::TaskDirectivePacket => ledger.decision() == Some(DecisionOutcome::VerifyFirst),
        _ => false,
    }
}

/// Returns whether a packet seeks certainty or requests help; a decision or directive does so if it neither acts nor writes.
fn asks(facts: &PacketFacts<'_>, can_ask: bool) -> bool {
    can_ask
        && match &facts.payload {
            PayloadFacts::Decision(decision) => decision.decision_outcome != DecisionOutcome::Act,
            PayloadFacts::TaskDirective(directive) => {
                derived::safety_class(&facts.header, directive) == ToolSafetyClass::Read
            }
            _ => true,
        }
}

/// Warns about evidence that is too old, by the packet's own limit or otherwise by that of its freshness class (D66).
fn stale(newest: Instant, now: Instant, stated: Option<u64>, freshness: FreshnessClass) -> Option<Diagnostic> {
    let limit = stated.or(freshness.stale_after_seconds())?;
    (now > newest.plus_seconds(limit)).then(|| {
        let whose = if stated.is_some() { OWN_LIMIT.to_owned() } else { format!("`{freshness}`") };
        too_old(newest, now, limit, "newest live", &whose)
    })
}

/// Name of the limit that the packet itself sets.
const OWN_LIMIT: &str = "`stale_if_older_than_seconds`";

fn too_old(newest: Instant, now: Instant, limit: u64, which: &str, whose: &str) -> Diagnostic {
    let age = now.since(newest);
    let problem = format!("the {which} evidence is {age} s old; it is stale after {limit} s ({whose})");
    Diagnostic::warning(Code::Inv004, problem)
        .at("/mcp/evidence/evidence_refs")
        .label(format!("newest at {newest}"))
        .help(help::stale(limit))
}

/// Returns the error of a claim without live evidence.
pub(crate) fn unsupported(status: EpistemicStatus, freshness: FreshnessClass) -> Diagnostic {
    let problem = format!(
        "`status` `{status}` with `freshness_class` `{freshness}` is a claim about the present; `evidence_refs` must contain \
         a `tool_output` or a `user_observation`"
    );
    Diagnostic::error(Code::Inv004, problem)
        .at("/mcp/evidence/evidence_refs")
        .label("no live evidence")
        .help(help::CITE)
}

/// Returns whether an envelope has the live evidence that its claim requires.
#[must_use]
pub fn is_borne_out(mcp: &McpEnvelope) -> bool {
    let is_live = || mcp.evidence.evidence_refs.iter().any(|reference| reference.ref_type.is_live());
    !is_claim(mcp.epistemics.status, mcp.epistemics.freshness_class) || is_live()
}

/// Returns whether status and freshness together claim knowledge of the present without observation.
#[must_use]
pub fn is_claim(status: EpistemicStatus, freshness: FreshnessClass) -> bool {
    matches!(status, EpistemicStatus::Inferred | EpistemicStatus::Hypothesized | EpistemicStatus::Unknown)
        && matches!(freshness, FreshnessClass::Realtime | FreshnessClass::Operational)
}

#[cfg(test)]
mod tests {
    use omen_types::{PacketType, Severity};
    use serde_json::{Value, json};

    use super::super::fixture::{Episode, packet, set};
    use super::check;

    fn claim(packet_type: PacketType, evidence: &Value) -> Value {
        packet(
            packet_type,
            &[
                ("/header/created_at", "2026-03-01T10:00:00Z".into()),
                ("/mcp/epistemics/status", "INFERRED".into()),
                ("/mcp/epistemics/freshness_class", "REALTIME".into()),
                ("/mcp/epistemics/stale_if_older_than_seconds", 60.into()),
                ("/mcp/evidence", json!({"evidence_refs": evidence, "evidence_absent_reason": "none"})),
            ],
        )
    }

    fn taken(timestamp: &str) -> Value {
        json!([{"ref_type": "tool_output", "ref_id": "t", "timestamp": timestamp}])
    }

    fn found(packet_type: PacketType, evidence: &Value) -> Vec<Severity> {
        let found = Episode::default().check(check, &claim(packet_type, evidence));
        assert!(found.iter().all(|(_, place)| place == "/mcp/evidence/evidence_refs"), "{found:?}");
        found.into_iter().map(|(severity, _)| severity).collect()
    }

    #[test]
    fn recent_live_evidence_passes() {
        assert_eq!(found(PacketType::BeliefUpdatePacket, &taken("2026-03-01T09:59:30Z")), []);
    }

    #[test]
    fn a_claim_without_live_evidence_is_refused() {
        assert_eq!(found(PacketType::BeliefUpdatePacket, &json!([])), [Severity::Error]);
    }

    #[test]
    fn evidence_older_than_the_packet_allows_is_a_warning_whatever_its_status() {
        let of = |ref_type: &str, status: &str, limit: Value| {
            let reference = json!([{"ref_type": ref_type, "ref_id": "t", "timestamp": "2026-03-01T09:58:30Z"}]);
            let mut packet = claim(PacketType::BeliefUpdatePacket, &reference);
            set(&mut packet, "/mcp/epistemics/status", &status.into());
            set(&mut packet, "/mcp/epistemics/stale_if_older_than_seconds", &limit);
            Episode::default().check(check, &packet).len()
        };
        for ref_type in ["tool_output", "memory_item"] {
            assert_eq!(of(ref_type, "OBSERVED", 89.into()), 1, "{ref_type}");
            assert_eq!(of(ref_type, "OBSERVED", 90.into()), 0, "{ref_type}");
        }
        // A single warning for both limits.
        assert_eq!(of("tool_output", "INFERRED", 89.into()), 1);
    }

    #[test]
    fn stale_evidence_and_what_asks_for_help_are_warnings() {
        assert_eq!(found(PacketType::BeliefUpdatePacket, &taken("2026-03-01T09:58:30Z")), [Severity::Warning]);
        assert_eq!(found(PacketType::EscalationPacket, &json!([])), [Severity::Warning]);
    }
}
