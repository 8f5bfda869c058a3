//! Tokens that no directive can ever use (D64).

use omen_types::{Code, Count, Diagnostic, Instant, ToolAuthorizationPayloadFacts};

use crate::help::inv_007 as help;

/// Checks only the fields of this packet: earlier issues of the token (D24) and a revocation do not show the
/// issuer's intent here.
pub(super) fn check(token: &ToolAuthorizationPayloadFacts<'_>, now: Instant, findings: &mut Vec<Diagnostic>) {
    let (used, most) = (token.usage_count.map_or(0, Count::get), token.max_usage_count.get());
    let expired = token.expiry <= now;
    let used_up = used >= most;
    let mut why = Vec::new();
    if expired {
        why.push(format!("`expiry` {} is not after the clock of the episode, {now}", token.expiry));
    }
    if used_up {
        why.push(format!("`usage_count` is {used} of {most}"));
    }
    if why.is_empty() {
        return;
    }
    findings.push(
        Diagnostic::warning(Code::Inv007, format!("`{}` cannot be used: {}", token.token_id, why.join(", and ")))
            .at(if expired { "/payload/expiry" } else { "/payload/usage_count" })
            .label(if expired { "not after the episode's clock" } else { "no use is left" })
            .help(help::REISSUE),
    );
}
