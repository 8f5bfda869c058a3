//! Result of a log that was checked ahead.

use omen::Summary;
use omen::finding::Finding;

/// Result of a log that was checked ahead.
#[derive(Debug)]
pub(crate) struct Recorded {
    pub(crate) summary: Summary,
    /// Findings, each with the text of its line.
    pub(crate) findings: Vec<(Finding, Option<String>)>,
}
