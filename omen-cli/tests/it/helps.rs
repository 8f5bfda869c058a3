//! Every help that names a value, a field or a packet is legal when applied: the finding is gone. Helps are applied to the
//! rejected examples, and to valid logs with one mistake of each of twenty kinds. A finding that follows from a wrong time may
//! remain until the help for the time has removed both.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::num::NonZeroUsize;

use omen::input::{Layout, judge_whole};
use omen::validator::ValidatorOptions;
use omen::{Code, Finding};

use super::*;

mod followed;
mod held_back;
pub(super) mod mistakes;
mod planted;
mod remedy;

/// Returns the findings on a log that is known to its end.
fn findings(log: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let source = Box::new(Cursor::new(log.as_bytes().to_vec()));
    let checked = judge_whole(source, Layout::Lines, ValidatorOptions::default(), NonZeroUsize::MIN, &mut findings);
    assert!(checked.is_ok());
    findings
}

/// Returns whether a log has a similar finding: the same code at the same position of the same packet.
fn has_like(log: &str, finding: &Finding) -> bool {
    findings(log).iter().any(|other| {
        let same_packet = match (&other.packet_id, &finding.packet_id) {
            (Some(a), Some(b)) => a == b,
            _ => other.line == finding.line,
        };
        same_packet
            && other.correlation_id == finding.correlation_id
            && other.stage == finding.stage
            && other.diagnostic.code == finding.diagnostic.code
            && other.diagnostic.pointer == finding.diagnostic.pointer
            && other.diagnostic.message == finding.diagnostic.message
    })
}

/// Returns whether a finding follows from a wrong time (D83), and both are gone after the help for that time.
fn goes_with_a_wrong_time(log: &str, finding: &Finding) -> bool {
    let Some(cause) = &finding.follows_from else { return false };
    let is_cause = |other: &&Finding| other.line == Some(cause.line) && other.diagnostic.code == Code::Time;
    let all = findings(log);
    let fixed = all.iter().find(is_cause).and_then(|cause| {
        let fixed = remedy::applied(log, cause, cause.diagnostic.help.as_deref()?)?;
        (!has_like(&fixed, cause)).then_some(fixed)
    });
    fixed.is_some_and(|fixed| !has_like(&fixed, finding))
}

/// Counts of the findings of some logs.
#[derive(Default)]
struct Tally {
    applied: usize,
    /// Findings whose help has nothing to apply, by code.
    in_words: BTreeMap<Code, usize>,
    failed: Vec<String>,
}

impl Tally {
    fn apply(&mut self, name: &str, log: &str, finding: &Finding) {
        let diagnostic = &finding.diagnostic;
        let Some(help) = &diagnostic.help else {
            self.failed.push(format!("{name}: {diagnostic}: there is no help"));
            return;
        };
        // The packet that exceeds a budget is true, and stays: the packet to send comes after it.
        let comes_after = diagnostic.code == Code::Inv005 && diagnostic.severity == omen::Severity::Warning;
        match remedy::applied(log, finding, help).filter(|_| !comes_after) {
            None => *self.in_words.entry(diagnostic.code).or_default() += 1,
            Some(fixed) if has_like(&fixed, finding) && !goes_with_a_wrong_time(log, finding) => {
                let left: Vec<_> = findings(&fixed).iter().map(|left| left.diagnostic.to_string()).collect();
                self.failed.push(format!(
                    "{name}:{:?}: {diagnostic}\n    applied, it is still there: {left:#?}",
                    finding.line
                ));
            }
            Some(_) => self.applied += 1,
        }
    }

    #[track_caller]
    fn check(self, what: &str, least: usize) {
        assert!(self.failed.is_empty(), "{} of {what}:\n{}", self.failed.len(), self.failed.join("\n"));
        let Self { applied, in_words, .. } = self;
        assert!(
            applied >= least,
            "{applied} helps of {what} can be applied, fewer than {least}; in words: {in_words:?}"
        );
    }
}

#[test]
fn helps_of_the_rejected_examples_can_be_applied() {
    let mut tally = Tally::default();
    for (path, log) in omen_schema::EXAMPLES.iter().filter(|(path, _)| path.ends_with(".jsonl")) {
        for finding in findings(log) {
            tally.apply(path, log, &finding);
        }
    }
    tally.check("the examples", 120);
}

#[test]
fn helps_for_single_mistakes_can_be_applied() {
    let mut tally = Tally::default();
    let mut kinds = BTreeMap::new();
    for (kind, log) in mistakes::all() {
        let found = findings(&log);
        *kinds.entry(kind).or_insert(0) += usize::from(!found.is_empty());
        // Later findings may follow from the first.
        if let Some(first) = found.iter().find(|finding| finding.diagnostic.severity == omen::Severity::Error) {
            tally.apply(kind, &log, first);
        }
    }
    assert!(kinds.len() >= 20 && kinds.values().all(|found| *found > 0), "{kinds:?}");
    tally.check("single mistakes", 60);
}
