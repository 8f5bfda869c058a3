//! One finding for all rules that a packet breaks (D37).

use omen_types::{Code, Diagnostic};

/// Adds what another rule reports to the finding of the first.
pub(super) fn merge(mut first: Diagnostic, other: Diagnostic) -> Diagnostic {
    first.notes.push(format!("{}: {}", other.code, other.message));
    first.notes.extend(other.notes);
    for code in std::iter::once(other.code).chain(other.also) {
        if code != first.code && !first.also.contains(&code) {
            first.also.push(code);
        }
    }
    first
}

/// Adds the codes of the invariants that are shared with the E rules that are broken.
pub(super) fn share(mut finding: Diagnostic) -> Diagnostic {
    let codes: Vec<Code> = std::iter::once(finding.code).chain(finding.also.iter().copied()).collect();
    for shared in codes.into_iter().filter_map(|code| code.info().shared_with) {
        if !finding.also.contains(&shared) {
            finding.also.push(shared);
        }
    }
    finding
}
