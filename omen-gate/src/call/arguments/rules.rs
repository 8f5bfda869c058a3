//! Argument rules of one tool.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use omen_order::Fit;
use omen_types::pointer::steps;
use serde_json::{Map, Value};

use super::pointer::RulePointer;
use super::rule::{ArgumentTest, Rule};
use super::schema::{self, Misfit};
use crate::base::{Blocked, GateCode, ToolId};

/// Result of checking recorded arguments.
#[derive(Debug)]
pub(crate) enum RecordedVerdict {
    Passes,
    Breaks(Blocked),
    /// A rule applies to a hidden value.
    Unknown,
}

/// Rules on one tool's arguments, from the configuration; empty if it has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArgumentRules {
    rules: Vec<Rule>,
    /// Directory against which relative paths are resolved; the working directory if empty.
    folder: PathBuf,
}

impl ArgumentRules {
    pub(crate) fn new(rules: Vec<Rule>) -> Self {
        Self { rules, folder: PathBuf::new() }
    }

    /// Sets the directory against which relative paths are resolved.
    pub(crate) fn start_from(&mut self, folder: &Path) {
        folder.clone_into(&mut self.folder);
    }

    /// Returns whether the tool has no rules.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Accepts arguments that satisfy every rule. Symbolic links are followed in their current state.
    ///
    /// # Errors
    /// PG-3, with the first rule that a value violates or that cannot be decided. The message does not quote the value,
    /// which may be a secret.
    pub fn judge(&self, tool: &ToolId, args: &Map<String, Value>) -> Result<(), Blocked> {
        self.rules.iter().try_for_each(|rule| rule.judge(args, &self.folder)).map_err(|broken| {
            let message = match broken.rule {
                Some(rule) => {
                    format!("`{}` of `{tool}` breaks the operator's rule `{rule}`: {}", broken.at, broken.why)
                }
                None => format!("`{}` of `{tool}` cannot be judged by the operator's rules: {}", broken.at, broken.why),
            };
            Blocked::new(GateCode::Pg3, message, broken.help)
        })
    }

    /// Returns whether arguments or an answer fit all rules. Relative paths are resolved against a folder.
    pub(crate) fn fit(&self, value: &Map<String, Value>, folder: &Path) -> Fit {
        self.rules.iter().map(|rule| rule.fit(value, folder)).fold(Fit::Yes, Fit::and)
    }

    /// Returns whether recorded arguments, which may be partly hidden, fit all rules.
    pub(crate) fn fit_recorded(&self, args: &Map<String, Value>, folder: &Path) -> Fit {
        let rules = self.rules.iter().map(|rule| match rule.place.meets_masked(args) {
            true => Fit::Unknown,
            false => rule.fit(args, folder),
        });
        rules.fold(Fit::Yes, Fit::and)
    }

    /// Checks recorded arguments, which may be partly hidden. A visible value that violates a rule counts.
    pub(crate) fn judge_recorded(&self, tool: &ToolId, args: &Map<String, Value>) -> RecordedVerdict {
        let (known, hidden): (Vec<_>, Vec<_>) = self.rules.iter().partition(|rule| !rule.place.meets_masked(args));
        let known = Self { rules: known.into_iter().cloned().collect(), folder: self.folder.clone() };
        match known.judge(tool, args) {
            Err(blocked) => RecordedVerdict::Breaks(blocked),
            Ok(()) if hidden.is_empty() => RecordedVerdict::Passes,
            Ok(()) => RecordedVerdict::Unknown,
        }
    }

    /// Returns whether a rule queries the file system, which may block.
    pub(crate) fn asks_files(&self) -> bool {
        self.rules.iter().any(|rule| rule.tests.iter().any(|test| test.folders().is_some()))
    }

    pub(super) fn all(&self) -> &[Rule] {
        &self.rules
    }

    pub(super) fn places(&self) -> Vec<&RulePointer> {
        self.rules.iter().map(|rule| &rule.place).collect()
    }

    /// Names of the arguments that the rules are about.
    pub(crate) fn names(&self) -> impl Iterator<Item = String> {
        self.rules.iter().filter_map(|rule| steps(rule.place.as_str()).next()).map(Cow::into_owned)
    }

    /// Pointers of members of which the rules list texts.
    pub(crate) fn listed_texts(&self) -> impl Iterator<Item = &str> {
        let is_listed = |test: &ArgumentTest| match test {
            ArgumentTest::In(values) => values.iter().any(Value::is_string),
            ArgumentTest::Equals(value) => value.is_string(),
            _ => false,
        };
        self.rules.iter().filter(move |rule| rule.tests.iter().any(is_listed)).map(|rule| rule.place.as_str())
    }

    /// Returns whether a rule determines a member's spelling and not only its length.
    pub(crate) fn fixes_spelling(&self, pointer: &str) -> bool {
        let fixes = |test: &ArgumentTest| !matches!(test, ArgumentTest::Length(_));
        self.rules.iter().any(|rule| rule.place.as_str() == pointer && rule.tests.iter().any(fixes))
    }

    /// Returns the rules' folders that do not exist now, with the pointers of the rules.
    pub(crate) fn missing_folders(&self) -> Vec<(&str, &str)> {
        let mut missing = Vec::new();
        for rule in &self.rules {
            for test in &rule.tests {
                if let Some(folders) = test.folders() {
                    missing.extend(folders.missing(&self.folder).map(|folder| (rule.place.as_str(), folder)));
                }
            }
        }
        missing
    }

    /// Returns the rules that contradict the schema of the arguments: those for a member that the schema does not have,
    /// or with no value that both accept.
    #[must_use]
    pub fn misfits(&self, schema: &Map<String, Value>) -> Vec<Misfit> {
        self.rules.iter().filter_map(|rule| schema::misfit(rule, schema)).collect()
    }
}
