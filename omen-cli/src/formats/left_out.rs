//! The counts of findings that are not reported, because they are known or ignored.

use std::fmt;

use omen::Summary;
use serde::Serialize;

use crate::statistics::Counts;

/// The findings that were left out.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LeftOut {
    /// Those that the baseline lists, and what follows from them.
    pub(crate) baseline: Counts,
    /// Those that the configuration ignores, and what follows from them.
    pub(crate) ignored: Counts,
}

/// The same in the summary of `--format json`.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct LeftOutCounts {
    baseline: u64,
    ignored: u64,
}

impl LeftOut {
    /// The counts of what is reported.
    pub(crate) fn without(&self, mut summary: Summary) -> Summary {
        for counts in [self.baseline, self.ignored] {
            summary.errors = summary.errors.saturating_sub(counts.errors);
            summary.warnings = summary.warnings.saturating_sub(counts.warnings);
            summary.consequences = summary.consequences.saturating_sub(counts.consequences);
        }
        summary
    }

    /// Whether there are none.
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
