//! A log that was checked before its turn.

use omen::Summary;
use omen::finding::Finding;

/// A log that was checked ahead.
#[derive(Debug)]
pub(crate) struct Recorded {
    pub(crate) summary: Summary,
    /// The findings, each with the text of its line.
    pub(crate) findings: Vec<(Finding, Option<String>)>,
}
