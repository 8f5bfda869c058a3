//! JSON Lines for programs, with a summary at the end. The fields of a finding are those of the library.

use std::io;
use std::path::Path;

use omen::Summary;
use serde::{Deserialize, Serialize};

use super::format::{Report, ReportFormat, Totals};
use super::left_out::{LeftOut, LeftOutCounts};
use super::shown::AnyFinding;
use crate::output::Output;

pub(super) const FORMAT: ReportFormat = ReportFormat {
    name: "json",
    about: "JSON Lines, with a summary at the end",
    is_for_people: false,
    start: || Box::new(JsonReport::default()),
};

#[derive(Default)]
struct JsonReport {
    /// Number of inputs that were not read to their end.
    unreadable: u64,
}

impl Report for JsonReport {
    fn finding(&mut self, out: &mut Output, path: &Path, finding: AnyFinding<'_>, _: Option<&str>) -> io::Result<()> {
        finding.json(out, &path.to_string_lossy())
    }

    fn unreadable(&mut self, _: &mut Output, _: &Path, _: &str) -> io::Result<()> {
        self.unreadable += 1;
        Ok(())
    }

    fn totals(&mut self, out: &mut Output, totals: &Totals<'_>) -> io::Result<()> {
        let Totals { files, summary, is_about_calls, left_out, .. } = totals;
        let left_out = left_out.as_ref().map(LeftOut::counts);
        let calls = is_about_calls.then_some(summary.packets);
        let summary = SummaryCounts { files: *files, unreadable: self.unreadable, calls, summary, left_out };
        out.json(&SummaryLine { summary })
    }
}

/// Last line of the output.
#[derive(Deserialize, Serialize)]
pub(crate) struct SummaryLine<S> {
    pub(crate) summary: S,
}

/// The library's counts, and those of omitted findings.
#[derive(Serialize)]
struct SummaryCounts<'t> {
    files: u64,
    #[serde(skip_serializing_if = "is_zero")]
    unreadable: u64,
    /// Number of checked calls, if the summary's packets are calls in audit logs.
    #[serde(skip_serializing_if = "Option::is_none")]
    calls: Option<u64>,
    #[serde(flatten)]
    summary: &'t Summary,
    #[serde(flatten)]
    left_out: Option<LeftOutCounts>,
}

/// Takes a reference because `skip_serializing_if` passes one.
fn is_zero(count: &u64) -> bool {
    *count == 0
}
