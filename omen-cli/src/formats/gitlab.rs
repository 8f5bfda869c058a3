//! Code quality report for GitLab: a JSON array of issues.
//!
//! <https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format>

use std::io::{self, Write as _};
use std::path::Path;

use omen::finding::Severity;
use omen::render::human::clean;
use serde::Serialize;

use super::fingerprint::Fingerprints;
use super::format::{Report, ReportFormat, Totals};
use super::shown::AnyFinding;
use super::{place, prose};
use crate::output::Output;

pub(super) const FORMAT: ReportFormat = ReportFormat {
    name: "gitlab",
    about: "JSON, for GitLab's code quality reports",
    is_for_people: false,
    start: || Box::new(Gitlab { fingerprints: Fingerprints::new(), is_first: true }),
};

struct Gitlab {
    fingerprints: Fingerprints,
    is_first: bool,
}

#[derive(Serialize)]
struct Issue<'a> {
    description: &'a str,
    check_name: &'a str,
    fingerprint: &'a str,
    severity: &'a str,
    location: IssueLocation,
}

#[derive(Serialize)]
struct IssueLocation {
    path: String,
    lines: IssueLines,
}

/// Line of an issue, which GitLab requires. A finding without a line is shown at line 1.
#[derive(Serialize)]
struct IssueLines {
    begin: u64,
}

impl Gitlab {
    /// Writes an issue in a single call, with a separator after the previous one.
    fn issue(&mut self, out: &mut Output, issue: &Issue<'_>) -> io::Result<()> {
        let mut text = if std::mem::take(&mut self.is_first) { b"\n".to_vec() } else { b",\n".to_vec() };
        serde_json::to_writer(&mut text, issue)?;
        out.write_all(&text)
    }
}

impl Report for Gitlab {
    fn begin(&mut self, out: &mut Output) -> io::Result<()> {
        out.write_all(b"[")
    }

    fn finding(&mut self, out: &mut Output, path: &Path, found: AnyFinding<'_>, line: Option<&str>) -> io::Result<()> {
        let severity = match found.severity() {
            // Consequences are informational, so that one mistake shows as one issue in a merge request.
            _ if found.follows_from().is_some() => "info",
            Severity::Error => "major",
            Severity::Warning => "minor",
        };
        let issue = Issue {
            description: &prose::message_and_help(found, "; "),
            check_name: found.code().as_str(),
            fingerprint: &self.fingerprints.fingerprint(path, found, line),
            severity,
            location: IssueLocation { path: name(path), lines: IssueLines { begin: place::line(found).unwrap_or(1) } },
        };
        self.issue(out, &issue)
    }

    fn unreadable(&mut self, out: &mut Output, path: &Path, reason: &str) -> io::Result<()> {
        let description = format!("cannot read the log: {}", clean(reason));
        let issue = Issue {
            description: &description,
            check_name: "unreadable",
            fingerprint: &self.fingerprints.of_input(path),
            severity: "blocker",
            location: IssueLocation { path: name(path), lines: IssueLines { begin: 1 } },
        };
        self.issue(out, &issue)
    }

    fn totals(&mut self, out: &mut Output, _: &Totals<'_>) -> io::Result<()> {
        out.write_all(b"\n]\n")
    }
}

fn name(path: &Path) -> String {
    if place::is_stdin(path) { "stdin".to_owned() } else { place::portable(path) }
}
