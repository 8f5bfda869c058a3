//! Fingerprints, by which other programs recognize a finding in the next run even if lines were inserted before it.

use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::place;
use super::shown::AnyFinding;

/// Unique fingerprints of the findings of one run.
///
/// A fingerprint is a hash of file, code, packet and pointer, and the number of earlier findings with the same hash. There may be
/// millions of findings, so they are counted in a table of fixed size: findings that share a table entry still get different
/// fingerprints, but their numbers depend on each other.
pub(super) struct Fingerprints(Vec<u32>);

impl Fingerprints {
    pub(super) fn new() -> Self {
        Self(vec![0; ENTRIES])
    }

    /// Returns the fingerprint of the next finding. `line` is the text of its line, which identifies a packet that has no id.
    pub(super) fn fingerprint(&mut self, path: &Path, finding: AnyFinding<'_>, line: Option<&str>) -> String {
        self.number(fingerprint(&place::portable(path), finding, line))
    }

    /// Returns the fingerprint of an input that cannot be read.
    pub(super) fn of_input(&mut self, path: &Path) -> String {
        self.number(hash([Some(place::portable(path).as_str()), None]))
    }

    fn number(&mut self, hash: String) -> String {
        let entry = usize::from_str_radix(hash.get(..ENTRY_DIGITS).unwrap_or_default(), 16).unwrap_or_default();
        let Some(count) = self.0.get_mut(entry) else { return hash };
        let number = *count;
        *count = count.wrapping_add(1);
        format!("{hash}:{number}")
    }
}

/// Returns the hash of a finding: of the log's name, the code, the episode, the packet and the pointer. It does not depend on
/// other findings, so several findings may have the same hash.
pub(crate) fn fingerprint<'f>(log: &str, finding: impl Into<AnyFinding<'f>>, line: Option<&str>) -> String {
    let finding = finding.into();
    hash([
        Some(log),
        Some(finding.code().as_str()),
        finding.correlation_id(),
        finding.packet_id().or(line),
        finding.pointer(),
    ])
}

fn hash<'p>(parts: impl IntoIterator<Item = Option<&'p str>>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        // Length prefixes keep different lists of parts from hashing the same bytes.
        hash.update(part.map_or(u64::MAX, |part| part.len() as u64).to_le_bytes());
        hash.update(part.unwrap_or_default());
    }
    base16ct::lower::encode_string(hash.finalize().get(..BYTES).unwrap_or_default())
}

/// Length in bytes of the truncated hash.
pub(crate) const BYTES: usize = 16;

/// Number of hexadecimal digits of the hash that select a table entry.
const ENTRY_DIGITS: usize = 5;

/// Number of table entries, which take 4 MiB.
const ENTRIES: usize = 1 << (4 * ENTRY_DIGITS);

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_are_the_same() {
        let mut fingerprints = Fingerprints::new();
        let mut all = BTreeSet::new();
        let findings = 10_000;
        for number in 0..findings {
            let text = (number % 100).to_string();
            all.insert(fingerprints.number(hash([Some("a"), Some(text.as_str()), None])));
        }
        assert_eq!(all.len(), findings);
    }

    #[test]
    fn parts_do_not_run_into_each_other() {
        let all: BTreeSet<_> = [
            hash([Some("ab"), Some("c")]),
            hash([Some("a"), Some("bc")]),
            hash([Some("abc"), None]),
            hash([Some("abc"), Some("")]),
            hash([None, Some("abc")]),
        ]
        .into();
        assert_eq!(all.len(), 5);
        assert_eq!(hash([Some("a"), None]), hash([Some("a"), None]));
    }
}
