//! The rules of one tool.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::place::Place;
use super::rule::{Rule, Test};
use super::schema::{self, Misfit};
use crate::base::{Blocked, GateCode, ToolId};

/// What is known of recorded arguments.
#[derive(Debug)]
pub(crate) enum Judged {
    Passes,
    Breaks(Blocked),
    /// A rule is about what was hidden.
    Unknown,
}

/// The rules on the arguments of one tool. They come from a configuration; without one, there are none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArgumentRules {
    rules: Vec<Rule>,
    /// From where relative paths start; the working directory if it is empty.
    folder: PathBuf,
}

impl ArgumentRules {
    pub(crate) fn new(rules: Vec<Rule>) -> Self {
        Self { rules, folder: PathBuf::new() }
    }

    /// Has relative paths start from a folder.
    pub(crate) fn start_from(&mut self, folder: &Path) {
        folder.clone_into(&mut self.folder);
    }

    /// Whether there is no rule.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Lets arguments pass that satisfy every rule. Links of the file system are followed as they are at this moment.
    ///
    /// # Errors
    /// PG-3, with the first rule that a value breaks, or that cannot be decided. The value itself is not repeated: it may
    /// be a secret.
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

    /// The same for arguments that were recorded, of which some may be hidden: what is known to break a rule breaks it.
    pub(crate) fn judge_recorded(&self, tool: &ToolId, args: &Map<String, Value>) -> Judged {
        let (known, hidden): (Vec<_>, Vec<_>) = self.rules.iter().partition(|rule| !rule.place.meets_masked(args));
        let known = Self { rules: known.into_iter().cloned().collect(), folder: self.folder.clone() };
        match known.judge(tool, args) {
            Err(blocked) => Judged::Breaks(blocked),
            Ok(()) if hidden.is_empty() => Judged::Passes,
            Ok(()) => Judged::Unknown,
        }
    }

    /// Whether a rule asks the file system, which may take its time to answer.
    pub(crate) fn asks_files(&self) -> bool {
        self.rules.iter().any(|rule| rule.tests.iter().any(|test| matches!(test, Test::Under(_))))
    }

    pub(super) fn places(&self) -> Vec<&Place> {
        self.rules.iter().map(|rule| &rule.place).collect()
    }

    /// The folders of rules that do not exist now, with the pointers of the rules.
    pub(crate) fn missing_folders(&self) -> Vec<(&str, &str)> {
        let mut missing = Vec::new();
        for rule in &self.rules {
            for test in &rule.tests {
                if let Test::Under(under) = test {
                    missing.extend(under.missing(&self.folder).map(|folder| (rule.place.as_str(), folder)));
                }
            }
        }
        missing
    }

    /// What does not fit the schema of the arguments: a rule for a member that the schema does not have, or one that no value
    /// can satisfy that the schema accepts.
    #[must_use]
    pub fn misfits(&self, schema: &Map<String, Value>) -> Vec<Misfit> {
        self.rules.iter().filter_map(|rule| schema::misfit(rule, schema)).collect()
    }
}
