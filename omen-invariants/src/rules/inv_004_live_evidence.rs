//! INV-004: who infers how things are now must show live evidence.

use omen_types::{
    Code, DecisionOutcome, Diagnostic, EpistemicStatus, FreshnessClass, Instant, McpEnvelope, PacketFacts,
    PayloadFacts, Severity, ToolSafetyClass,
};

use crate::{Context, Ledger, derived};

pub(super) fn check(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let epistemics = &context.facts.mcp.epistemics;
    if !is_claim(epistemics.status, epistemics.freshness_class) {
        return;
    }
    let Some(newest) = context.facts.mcp.evidence.evidence_refs.newest() else {
        let mut finding = unsupported(epistemics.status, epistemics.freshness_class);
        if asks(context.facts, context.ledger) {
            // What the rule asks for is under way, so its own way out would be none.
            finding = finding
                .help("cite a tool output or user observation as soon as there is one, and act on none of this before");
            finding.severity = Severity::Warning;
        }
        findings.push(finding);
        return;
    };
    let stated = epistemics.stale_if_older_than_seconds.map(omen_types::Count::get);
    findings.extend(stale(newest, context.now, stated, epistemics.freshness_class));
    let created_at = context.facts.header.created_at;
    if newest > created_at {
        findings.push(
            Diagnostic::warning(
                Code::Inv004,
                format!("the newest live evidence was taken at {newest}, after the packet (`created_at` {created_at})"),
            )
            .at("/mcp/evidence/evidence_refs")
            .label("from the future")
            .help("cite evidence with the `timestamp` at which it was taken, and check the clock of its source"),
        );
    }
}

/// Whether a packet asks for certainty, or calls for help, rather than claim or commit anything (D31). What it lacks is then
/// a warning: to verify is what the rule itself demands, and an emergency halt is never refused for want of evidence.
fn asks(facts: &PacketFacts<'_>, ledger: &Ledger) -> bool {
    match &facts.payload {
        PayloadFacts::IntegrityAlert(_) | PayloadFacts::VerificationPlan { .. } | PayloadFacts::Escalation(_) => true,
        PayloadFacts::Decision(decision) => decision.decision_outcome != DecisionOutcome::Act,
        // A directive that the state machine lets pass after VERIFY_FIRST is one of the loop, in S4.
        PayloadFacts::TaskDirective(directive) => {
            ledger.decision() == Some(DecisionOutcome::VerifyFirst)
                && derived::safety_class(&facts.header, directive) == ToolSafetyClass::Read
        }
        _ => false,
    }
}

/// Warns of evidence that is too old, by the limit that the packet states or else that of its freshness class (D66).
fn stale(newest: Instant, now: Instant, stated: Option<u64>, freshness: FreshnessClass) -> Option<Diagnostic> {
    let limit = stated.or(freshness.stale_after_seconds())?;
    let age = now.since(newest);
    let whose = if stated.is_some() { "`stale_if_older_than_seconds`".to_owned() } else { format!("`{freshness}`") };
    age.exceeds_seconds(limit).then(|| {
        Diagnostic::warning(
            Code::Inv004,
            format!("the newest live evidence is {age} s old, and stale after {limit} s (by {whose})"),
        )
        .at("/mcp/evidence/evidence_refs")
        .label(format!("newest at {newest}"))
        .help("observe again before you rely on it")
    })
}

/// What is wrong with a claim without live evidence.
pub(crate) fn unsupported(status: EpistemicStatus, freshness: FreshnessClass) -> Diagnostic {
    Diagnostic::error(
        Code::Inv004,
        format!(
            "status `{status}` with freshness `{freshness}` claims how things are now, and that needs a `tool_output` \
             or `user_observation` among the evidence"
        ),
    )
    .at("/mcp/evidence/evidence_refs")
    .label("no live evidence")
    .help(Code::Inv004.info().help)
}

/// Whether an envelope has the live evidence that what it claims needs.
#[must_use]
pub fn is_borne_out(mcp: &McpEnvelope) -> bool {
    let is_live = || mcp.evidence.evidence_refs.iter().any(|reference| reference.ref_type.is_live());
    !is_claim(mcp.epistemics.status, mcp.epistemics.freshness_class) || is_live()
}

/// Whether status and freshness together claim to know how things are now without having seen it.
#[must_use]
pub fn is_claim(status: EpistemicStatus, freshness: FreshnessClass) -> bool {
    matches!(status, EpistemicStatus::Inferred | EpistemicStatus::Hypothesized | EpistemicStatus::Unknown)
        && matches!(freshness, FreshnessClass::Realtime | FreshnessClass::Operational)
}
