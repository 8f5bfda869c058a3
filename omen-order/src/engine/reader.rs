//! Reading of arguments and answers beside the state machine: a test may query the file system, for which nothing else
//! may wait.

use std::sync::Arc;

use serde_json::Value;

use super::Engine;
use crate::history::Reading;
use crate::rules::{RuleSet, Tool};
use crate::values::Secret;

/// Reader of calls by the rules that are in force at its creation.
#[derive(Clone, Debug)]
pub struct Reader {
    rules: Arc<RuleSet>,
    secret: Secret,
}

/// What rules read of the arguments or the answer of a call.
#[derive(Clone, Debug)]
pub struct CallReading {
    pub(super) rules: Arc<RuleSet>,
    pub(super) reading: Reading,
}

impl Engine {
    /// Creates a reader by the rules in force.
    #[must_use]
    pub fn reader(&self) -> Reader {
        self.reader_by(&self.rules)
    }

    /// Creates a reader by other rules, which come into force later.
    #[must_use]
    pub fn reader_by(&self, rules: &Arc<RuleSet>) -> Reader {
        Reader { rules: Arc::clone(rules), secret: self.secret.clone() }
    }
}

impl Reader {
    /// Whether a test of a tool's calls may query the file system.
    #[must_use]
    pub fn may_block(&self, tool: &Tool) -> bool {
        self.rules.tools.get(tool).is_some_and(|rules| rules.tests.iter().any(|(_, _, test)| test.may_block()))
    }

    /// Reads the arguments of a call where nothing may block: what would take a query of the file system is not known.
    pub(super) fn at_once(&self, tool: &Tool, args: Option<&Value>) -> Reading {
        self.args(tool, args.filter(|_| !self.may_block(tool))).reading
    }

    /// Reads the arguments of a call; nothing if they are not known.
    #[must_use]
    pub fn args(&self, tool: &Tool, args: Option<&Value>) -> CallReading {
        let reading = self.rules.tools.get(tool).map(|rules| Reading::of_args(rules, &self.secret, args));
        CallReading { rules: Arc::clone(&self.rules), reading: reading.unwrap_or_default() }
    }

    /// Reads the answer of a call; nothing if it is not known.
    #[must_use]
    pub fn answer(&self, tool: &Tool, answer: Option<&Value>) -> CallReading {
        let reading = self.rules.tools.get(tool).map(|rules| Reading::of_answer(rules, &self.secret, answer));
        CallReading { rules: Arc::clone(&self.rules), reading: reading.unwrap_or_default() }
    }
}
