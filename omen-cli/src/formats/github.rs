//! Annotations of a GitHub Actions job, as workflow commands, one per line.
//!
//! <https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands>

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::Path;

use omen::finding::Severity;
use omen::render::human::clean;

use super::concise;
use super::format::{Report, ReportFormat, Totals};
use super::shown::AnyFinding;
use super::{place, prose};
use crate::output::Output;

pub(super) const FORMAT: ReportFormat = ReportFormat {
    name: "github",
    about: "Annotations, for GitHub Actions",
    is_for_people: false,
    start: || Box::new(Github { errors: AnnotationQuota::default(), warnings: AnnotationQuota::default() }),
};

/// Annotations within GitHub's limits. GitHub shows a limited number of errors and of warnings per step, and silently drops the
/// rest. Root causes are written first; consequences take the remaining places at the end.
struct Github {
    errors: AnnotationQuota,
    warnings: AnnotationQuota,
}

/// Quota for annotations of one severity.
#[derive(Default)]
struct AnnotationQuota {
    written: usize,
    later: VecDeque<String>,
    left_out: u64,
}

impl AnnotationQuota {
    /// Writes an annotation, or counts it if the limit is reached.
    fn add(&mut self, out: &mut Output, text: String) -> io::Result<()> {
        if self.written == MOST {
            self.left_out += 1;
            return Ok(());
        }
        self.written += 1;
        out.write_all(text.as_bytes())
    }

    /// Keeps an annotation for the end, or counts it if there will be no room.
    fn keep(&mut self, text: impl FnOnce() -> String) {
        if self.written + self.later.len() < MOST {
            self.later.push_back(text());
        } else {
            self.left_out += 1;
        }
    }

    /// Writes the kept annotations up to the limit.
    fn end(&mut self, out: &mut Output) -> io::Result<()> {
        std::mem::take(&mut self.later).into_iter().try_for_each(|text| self.add(out, text))
    }
}

impl Report for Github {
    fn finding(&mut self, out: &mut Output, path: &Path, finding: AnyFinding<'_>, _: Option<&str>) -> io::Result<()> {
        let shown = match finding.severity() {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
        };
        if finding.follows_from().is_some() {
            shown.keep(|| annotation(path, finding));
            Ok(())
        } else {
            shown.add(out, annotation(path, finding))
        }
    }

    fn unreadable(&mut self, out: &mut Output, path: &Path, reason: &str) -> io::Result<()> {
        let mut text = String::from("::error ");
        if !place::is_stdin(path) {
            let _ = write!(text, "file={},", property(&clean(&place::portable(path))));
        }
        let message = format!("cannot read {}: {reason}", path.display());
        let _ = writeln!(text, "title=unreadable::{}", data(&clean(&message)));
        self.errors.add(out, text)
    }

    fn totals(&mut self, out: &mut Output, _: &Totals<'_>) -> io::Result<()> {
        self.errors.end(out)?;
        self.warnings.end(out)?;
        let (errors, warnings) = (self.errors.left_out, self.warnings.left_out);
        if errors + warnings > 0 {
            writeln!(
                out,
                "::notice title=omen::not shown here: {errors} more errors and {warnings} more warnings; GitHub shows {MOST} \
                 of each"
            )?;
        }
        Ok(())
    }
}

fn annotation(path: &Path, finding: AnyFinding<'_>) -> String {
    let mut text = format!("::{} ", finding.severity());
    let mut message = prose::message_and_help(finding, "\n");
    if place::is_stdin(path) {
        // The checkout has no such file, so the message carries the position.
        message = format!("{}: {message}", concise::place(path, finding));
    } else {
        let _ = write!(text, "file={},", property(&clean(&place::portable(path))));
        if let Some(line) = place::line(finding) {
            let _ = write!(text, "line={line},");
            if let Some(column) = finding.column() {
                let _ = write!(text, "col={column},");
            }
        }
    }
    let title = format!("{}: {}", prose::codes(finding), finding.code().title());
    let _ = writeln!(text, "title={}::{}", property(&title), data(&prose::cut(&message, MOST_CHARACTERS)));
    text
}

/// Escapes text for the message of a workflow command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes the value of a workflow command's property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// Maximum number of errors, and of warnings, that GitHub shows per step.
const MOST: usize = 10;

/// Maximum length of a message in characters; GitHub accepts 64 KiB.
const MOST_CHARACTERS: usize = 4000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_escaped() {
        assert_eq!(data("100%\r\n::error::"), "100%25%0D%0A::error::");
        assert_eq!(property("a:b,c%\n"), "a%3Ab%2Cc%25%0A");
    }
}
