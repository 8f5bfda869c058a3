//! Counts of findings that are omitted because they are known or ignored.

use std::fmt;

use omen::Summary;
use serde::Serialize;

use super::statistics::FindingCounts;

/// Counts of omitted findings, by reason.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LeftOut {
    /// Findings in the baseline, and their consequences.
    pub(crate) baseline: FindingCounts,
    /// Findings that the configuration ignores, and their consequences.
    pub(crate) ignored: FindingCounts,
}

/// Counts of omitted findings in the summary of `--format json`.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct LeftOutCounts {
    baseline: u64,
    ignored: u64,
}

impl LeftOut {
    /// Subtracts the omitted findings from the counts of a summary.
    pub(crate) fn without(&self, mut summary: Summary) -> Summary {
        for counts in [self.baseline, self.ignored] {
            summary.errors = summary.errors.saturating_sub(counts.errors);
            summary.warnings = summary.warnings.saturating_sub(counts.warnings);
            summary.consequences = summary.consequences.saturating_sub(counts.consequences);
        }
        summary
    }

    /// Returns whether no finding was omitted.
    pub(crate) fn is_empty(&self) -> bool {
        let LeftOutCounts { baseline, ignored } = self.counts();
        baseline + ignored == 0
    }

    pub(super) fn counts(&self) -> LeftOutCounts {
        LeftOutCounts {
            baseline: self.baseline.errors + self.baseline.warnings,
            ignored: self.ignored.errors + self.ignored.warnings,
        }
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LeftOutCounts { baseline, ignored } = self.counts();
        f.write_str("left out: ")?;
        match (baseline, ignored) {
            (baseline, 0) => write!(f, "{baseline} in the baseline"),
            (0, ignored) => write!(f, "{ignored} ignored"),
            (baseline, ignored) => write!(f, "{baseline} in the baseline, {ignored} ignored"),
        }
    }
}
