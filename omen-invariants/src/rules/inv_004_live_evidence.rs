//! INV-004: who infers how things are now must show live evidence.

use omen_types::{Code, Diagnostic, EpistemicStatus, FreshnessClass, PayloadFacts};

use crate::Context;

pub(super) fn check(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let epistemics = &context.facts.mcp.epistemics;
    if !is_claim(epistemics.status, epistemics.freshness_class) {
        return;
    }
    let Some(newest) = context.facts.mcp.evidence.evidence_refs.newest() else {
        let message = format!(
            "status `{}` with freshness `{}` claims how things are now, and that needs a `tool_output` or \
             `user_observation` among the evidence",
            epistemics.status, epistemics.freshness_class
        );
        // An emergency halt is never refused for want of evidence (D31).
        let finding = match context.facts.payload {
            PayloadFacts::IntegrityAlert(_) => Diagnostic::warning(Code::Inv004, message),
            _ => Diagnostic::error(Code::Inv004, message),
        };
        findings
            .push(finding.at("/mcp/evidence/evidence_refs").label("no live evidence").help(Code::Inv004.info().mend));
        return;
    };
    if let Some(limit) = epistemics.stale_if_older_than_seconds {
        let age = context.now.since(newest);
        if age.exceeds_seconds(limit.get()) {
            findings.push(
                Diagnostic::warning(
                    Code::Inv004,
                    format!("the newest live evidence is {age} s old, and stale after {limit} s"),
                )
                .at("/mcp/evidence/evidence_refs")
                .label(format!("newest at {newest}"))
                .help("observe again before you rely on it"),
            );
        }
    }
}

/// Whether status and freshness together claim to know how things are now without having seen it.
#[must_use]
pub fn is_claim(status: EpistemicStatus, freshness: FreshnessClass) -> bool {
    matches!(status, EpistemicStatus::Inferred | EpistemicStatus::Hypothesized | EpistemicStatus::Unknown)
        && matches!(freshness, FreshnessClass::Realtime | FreshnessClass::Operational)
}
