//! INV-004: who infers how things are now must show live evidence.

use omen_types::{Code, Diagnostic, EpistemicStatus, FreshnessClass, Mcp, PayloadFacts, Severity};

use crate::Context;

pub(super) fn check(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let epistemics = &context.facts.mcp.epistemics;
    if !is_claim(epistemics.status, epistemics.freshness_class) {
        return;
    }
    let Some(newest) = context.facts.mcp.evidence.evidence_refs.newest() else {
        let mut finding = unsupported(epistemics.status, epistemics.freshness_class);
        // An emergency halt is never refused for want of evidence (D31).
        if let PayloadFacts::IntegrityAlert(_) = context.facts.payload {
            finding.severity = Severity::Warning;
        }
        findings.push(finding);
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
    .help(Code::Inv004.info().mend)
}

/// Whether an envelope has the live evidence that what it claims needs.
#[must_use]
pub fn is_borne_out(mcp: &Mcp) -> bool {
    let is_live = || mcp.evidence.evidence_refs.iter().any(|reference| reference.ref_type.is_live());
    !is_claim(mcp.epistemics.status, mcp.epistemics.freshness_class) || is_live()
}

/// Whether status and freshness together claim to know how things are now without having seen it.
#[must_use]
pub fn is_claim(status: EpistemicStatus, freshness: FreshnessClass) -> bool {
    matches!(status, EpistemicStatus::Inferred | EpistemicStatus::Hypothesized | EpistemicStatus::Unknown)
        && matches!(freshness, FreshnessClass::Realtime | FreshnessClass::Operational)
}
