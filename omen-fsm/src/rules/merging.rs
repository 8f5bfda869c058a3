//! Merging the findings on a packet into one that names all violated rules (D37).

use omen_types::{Code, Diagnostic};

/// Merges the finding of another rule into the first finding.
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

/// Adds the codes of the invariants that share a requirement with the violated E rules.
pub(super) fn share(mut finding: Diagnostic) -> Diagnostic {
    let codes: Vec<Code> = std::iter::once(finding.code).chain(finding.also.iter().copied()).collect();
    for shared in codes.into_iter().filter_map(|code| code.info().shared_with) {
        if !finding.also.contains(&shared) {
            finding.also.push(shared);
        }
    }
    finding
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(code: Code, also: &[Code]) -> Diagnostic {
        Diagnostic { also: also.to_vec(), ..Diagnostic::error(code, code.as_str()) }
    }

    #[test]
    fn the_first_code_stays_and_every_other_one_follows_once() {
        let merged = merge(found(Code::E4, &[Code::Fsm]), found(Code::E6, &[Code::E4, Code::Fsm, Code::E2]));
        assert_eq!((merged.code, merged.also), (Code::E4, vec![Code::Fsm, Code::E6, Code::E2]));
        assert_eq!(merged.notes.len(), 1, "what the other finding says is a note of the first");
    }

    #[test]
    fn a_shared_code_is_added_once() {
        let shared = Code::E3.info().shared_with.unwrap_or(Code::E3);
        let once = share(found(Code::E3, &[]));
        assert_eq!(once.also, [shared]);
        assert_eq!(share(once).also, [shared]);
    }
}
