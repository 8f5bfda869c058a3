//! Example of a code: a log that breaks its rule, and the fixed log.

use std::convert::Infallible;
use std::io::Write as _;

use clap::ValueEnum;
use omen::finding::Finding;
use omen::validator::{Sink, Validator, ValidatorOptions};
use omen_types::{Code, Severity};

use super::fixed;
use super::text::section;
use crate::exit::Failure;
use crate::output::Output;

/// One of the two logs of an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum WhichExample {
    /// The log that breaks the rule
    Rejected,
    /// The log without the error
    Fixed,
}

include!(concat!(env!("OUT_DIR"), "/examples.rs"));

/// Returns the example that the build script selected for a code.
pub(super) fn find(code: Code) -> Option<&'static Example> {
    EXAMPLES.iter().find(|example| example.code == code.as_str())
}

/// A log that breaks a rule.
pub(super) struct Example {
    code: &'static str,
    about: &'static str,
    pub(super) log: &'static str,
    /// The same log without the error, if there is one.
    pub(super) fixed: Option<&'static str>,
}

impl Example {
    pub(super) fn print(&self, code: Code, out: &mut Output) -> Result<(), Failure> {
        let mut found = ExampleFinding { code, best: None };
        let mut validator = Validator::new(ValidatorOptions::default());
        let Ok(()) = validator.feed(self.log.as_bytes(), &mut found);
        let Ok(_) = validator.finish(&mut found);
        let Some((finding, line)) = found.best else {
            return Err(Failure::Internal(format!("the example of {code} has no finding with that code")));
        };
        // A finding about an earlier packet comes without the line's text, which the validator does not keep.
        let nth = || self.log.lines().nth(usize::try_from(finding.line?.checked_sub(1)?).ok()?);
        let whole = line.as_deref().or_else(nth);
        let heading = match finding.diagnostic.severity {
            Severity::Error => "Rejected",
            Severity::Warning => "Accepted with a warning",
        };
        section(out, heading, &format!("{} (`omen explain {code} --example rejected` prints the log)", self.about))?;
        let text = out.human().finding("rejected example", &finding, line.as_deref());
        write!(out, "\n{text}")?;

        let Some(log) = self.fixed else { return Ok(()) };
        section(out, "Fixed", &format!("`omen explain {code} --example fixed` prints the log"))?;
        if let Some(place) = fixed::place(self.log, &finding, whole, log) {
            let origin = format!("fixed example:{}", place.number);
            let text = out.human().place(&origin, place.number, place.line, &place.span, place.label);
            write!(out, "\n{text}")?;
        }
        Ok(())
    }
}

/// Sink that keeps the finding that best shows a code.
struct ExampleFinding {
    code: Code,
    /// First error, or else the first warning: some rules warn of an overrun before they report an error.
    best: Option<(Finding, Option<String>)>,
}

impl Sink for ExampleFinding {
    type Error = Infallible;

    fn finding(&mut self, finding: Finding, line: Option<&str>) -> Result<(), Infallible> {
        let diagnostic = &finding.diagnostic;
        let is_better = match &self.best {
            None => true,
            Some((best, _)) => best.diagnostic.severity == Severity::Warning && diagnostic.severity == Severity::Error,
        };
        if is_better && (diagnostic.code == self.code || diagnostic.also.contains(&self.code)) {
            self.best = Some((finding, line.map(str::to_owned)));
        }
        Ok(())
    }
}
