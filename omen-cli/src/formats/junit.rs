//! JUnit XML, for Jenkins, GitLab and other programs that show test results.
//!
//! A log is a test suite, an episode a class, and each packet with findings a test case; the names come from the log and stay the
//! same when lines are inserted. A log without errors has one passing test case. Written by hand, since only two kinds of escapes
//! are needed.

use std::fmt::Write as _;
use std::io::{self, Seek as _, Write as _};
use std::path::Path;

use omen::Summary;
use omen::finding::{Code, Severity};
use omen::render::human::clean;
use tempfile::SpooledTempFile;

use super::format::{Report, ReportFormat, Totals};
use super::shown::{AnyFinding, ShownCode};
use super::{concise, place, prose};
use crate::input;
use crate::output::Output;

pub(super) const FORMAT: ReportFormat = ReportFormat {
    name: "junit",
    about: "JUnit XML, for Jenkins, GitLab and other readers of test results",
    is_for_people: false,
    start: || Box::new(Junit { suite: Suite::new(), case: None }),
};

struct Junit {
    suite: Suite,
    /// Packet whose findings are being collected.
    case: Option<TestCase>,
}

/// Test cases of a log. They are kept, in memory or in an unnamed temporary file if there are many, because their number is
/// written before them.
struct Suite {
    cases: SpooledTempFile,
    tests: u64,
    failures: u64,
    errors: u64,
}

/// Findings of one packet, or of an episode at the end of the stream.
struct TestCase {
    line: Option<u64>,
    class: String,
    name: String,
    /// Message and code of the first error.
    error: Option<(String, ShownCode)>,
    errors: u64,
    text: String,
}

impl Suite {
    fn new() -> Self {
        Self { cases: SpooledTempFile::new(MOST_IN_MEMORY), tests: 0, failures: 0, errors: 0 }
    }

    fn case(&mut self, xml: &str) -> io::Result<()> {
        self.tests += 1;
        self.cases.write_all(xml.as_bytes())
    }
}

impl TestCase {
    fn new(path: &Path, finding: AnyFinding<'_>) -> Self {
        let line = finding.own_line();
        let class = class(path, finding.correlation_id().unwrap_or("log"));
        let mut name = match (finding.packet_id(), line) {
            (Some(id), _) => id.to_owned(),
            (None, Some(line)) => format!("line {line}"),
            (None, None) => "episode".to_owned(),
        };
        match line {
            None if finding.is_at_end() => name.push_str(", at the end"),
            None => {}
            // Several packets share this id, so the line number makes the name unique.
            Some(line) if finding.code() == ShownCode::Packet(Code::Id) => drop(write!(name, ", line {line}")),
            Some(_) => {}
        }
        Self { line, class, name, error: None, errors: 0, text: String::new() }
    }

    /// Returns whether a finding belongs to the same packet.
    fn has(&self, finding: AnyFinding<'_>) -> bool {
        self.line.is_some() && self.line == finding.own_line()
    }

    fn add(&mut self, path: &Path, finding: AnyFinding<'_>) {
        if finding.severity() == Severity::Error {
            self.errors += 1;
            self.error.get_or_insert_with(|| (prose::message(finding).into_owned(), finding.code()));
        }
        let (place, codes) = (concise::place(path, finding), prose::codes(finding));
        let message = prose::message_and_help(finding, "\n  ");
        let _ = writeln!(self.text, "{place}: {}[{codes}] {message}", finding.severity());
    }

    fn xml(&self, path: &Path) -> String {
        let name = escape(&self.name);
        // In an attribute, readers would normalize a line feed to a space.
        let text = escape(&self.text).replace("&#10;", "\n");
        let mut xml = format!("<testcase name=\"{name}\" classname=\"{}\"{}>", escape(&self.class), file(path));
        match &self.error {
            Some((message, code)) => {
                let more = if self.errors > 1 { format!(" (and {} more)", self.errors - 1) } else { String::new() };
                let message = escape(message);
                let _ = write!(xml, "<failure message=\"{message}{more}\" type=\"{}\">{text}</failure>", code.as_str());
            }
            None => drop(write!(xml, "<system-out>{text}</system-out>")),
        }
        xml.push_str("</testcase>\n");
        xml
    }
}

impl Junit {
    /// Ends the current test case.
    fn end_case(&mut self, path: &Path) -> io::Result<()> {
        let Some(case) = self.case.take() else { return Ok(()) };
        self.suite.failures += u64::from(case.error.is_some());
        self.suite.case(&case.xml(path))
    }
}

impl Report for Junit {
    fn begin(&mut self, out: &mut Output) -> io::Result<()> {
        out.write_all(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"omen\">\n")
    }

    fn finding(&mut self, _: &mut Output, path: &Path, finding: AnyFinding<'_>, _: Option<&str>) -> io::Result<()> {
        if !self.case.as_ref().is_some_and(|case| case.has(finding)) {
            self.end_case(path)?;
        }
        self.case.get_or_insert_with(|| TestCase::new(path, finding)).add(path, finding);
        Ok(())
    }

    fn unreadable(&mut self, _: &mut Output, path: &Path, reason: &str) -> io::Result<()> {
        self.end_case(path)?;
        self.suite.errors += 1;
        let (class, file, reason) = (class(path, "log"), file(path), escape(reason));
        self.suite.case(&format!(
            "<testcase name=\"is readable\" classname=\"{}\"{file}><error message=\"cannot read the log: {reason}\" \
             type=\"unreadable\"/></testcase>\n",
            escape(&class)
        ))
    }

    fn file_end(&mut self, out: &mut Output, path: &Path, _: &Summary) -> io::Result<()> {
        self.end_case(path)?;
        let mut suite = std::mem::replace(&mut self.suite, Suite::new());
        if suite.failures + suite.errors == 0 {
            let (class, file) = (class(path, "log"), file(path));
            suite.case(&format!("<testcase name=\"has no errors\" classname=\"{}\"{file}/>\n", escape(&class)))?;
        }
        let Suite { mut cases, tests, failures, errors } = suite;
        let name = escape(&input::name(path));
        writeln!(out, "<testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\">")?;
        cases.rewind()?;
        io::copy(&mut cases, out)?;
        out.write_all(b"</testsuite>\n")
    }

    fn totals(&mut self, out: &mut Output, _: &Totals<'_>) -> io::Result<()> {
        out.write_all(b"</testsuites>\n")
    }
}

/// Returns `FOLDER/LOG.EPISODE`. Readers take everything before the last dot as the package, so there is only one dot.
fn class(path: &Path, episode: &str) -> String {
    let log = if place::is_stdin(path) { "stdin".to_owned() } else { place::portable(&path.with_extension("")) };
    format!("{}.{}", log.replace('.', "_"), episode.replace('.', "_"))
}

/// Returns the `file` attribute with the path of the log; empty for standard input.
fn file(path: &Path) -> String {
    if place::is_stdin(path) {
        return String::new();
    }
    format!(" file=\"{}\"", escape(&place::portable(path)))
}

/// Escapes text for an attribute or element. XML cannot represent most control characters, so they are made visible.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for (at, line) in text.split('\n').enumerate() {
        if at > 0 {
            escaped.push_str("&#10;");
        }
        for c in clean(line).chars() {
            match c {
                '&' => escaped.push_str("&amp;"),
                '<' => escaped.push_str("&lt;"),
                '>' => escaped.push_str("&gt;"),
                '"' => escaped.push_str("&quot;"),
                '\u{fffe}' | '\u{ffff}' => escaped.extend(c.escape_unicode()),
                c => escaped.push(c),
            }
        }
    }
    escaped
}

/// Maximum size of a suite in memory, in bytes.
const MOST_IN_MEMORY: usize = 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_is_valid_in_xml() {
        assert_eq!(escape("a<b>&\"c\"]]>\nd"), "a&lt;b&gt;&amp;&quot;c&quot;]]&gt;&#10;d");
        assert_eq!(escape("\u{0}\u{1b}\r\t\u{fffe}\u{85}"), "␀␛␍␉\\u{fffe}\\u{85}");
    }

    #[test]
    fn a_class_has_one_dot() {
        assert_eq!(class(Path::new("logs/a.b.jsonl"), "corr.1"), "logs/a_b.corr_1");
        assert_eq!(class(Path::new("-"), "log"), "stdin.log");
    }
}
