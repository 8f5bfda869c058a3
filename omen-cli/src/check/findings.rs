//! Filtering and reporting of findings.

use std::io;
use std::path::Path;

use omen::finding::Finding;
use omen::validator::{Sink, Summary};

use super::continued_episodes::ContinuedEpisodes;
use super::filter::Filter;
use crate::formats::{Reports, Statistics};
use crate::input::Reporter;
use crate::output::Output;

/// Totals of a run.
#[derive(Debug, Default)]
pub(crate) struct Total {
    /// Number of logs that were read to their end.
    pub(crate) files: u64,
    pub(crate) summary: Summary,
    /// Whether all logs were read to their end.
    pub(crate) is_complete: bool,
}

/// Sink that filters findings, and passes the remaining ones on to the reports.
pub(crate) struct Findings<'r, 'o, 'c> {
    pub(crate) path: &'r Path,
    pub(super) reports: &'r mut Reports<'o>,
    /// Decides which findings are reported.
    pub(super) filter: &'r mut Filter<'c>,
    pub(super) statistics: &'r mut Statistics,
    /// Whether findings are only counted.
    pub(super) is_silent: bool,
    pub(super) quiet: bool,
    pub(super) halves: ContinuedEpisodes<'r>,
}

impl Sink for Findings<'_, '_, '_> {
    type Error = io::Error;

    fn finding(&mut self, finding: Finding, line: Option<&str>) -> io::Result<()> {
        self.halves.add(self.path, &finding);
        if !self.filter.reports(self.path, &finding, line) {
            return Ok(());
        }
        self.statistics.add(&finding);
        if self.is_silent { Ok(()) } else { self.reports.finding(self.path, &finding, line) }
    }

    fn wants_packets(&self) -> bool {
        false
    }

    fn caught_up(&mut self) -> io::Result<()> {
        self.reports.caught_up()
    }
}

impl Reporter for Findings<'_, '_, '_> {
    fn out(&mut self) -> &mut Output {
        self.reports.stdout()
    }

    fn unreadable(&mut self, reason: &str) -> io::Result<()> {
        self.reports.unreadable(self.path, reason)
    }

    fn is_quiet(&self) -> bool {
        self.quiet
    }
}
