//! Violations of argument rules.

use serde_json::Value;

use super::types::ValueTypes;
use crate::base::bounded;

/// Reason why a value is refused.
#[derive(Debug)]
pub(super) struct RefusalReason {
    pub(super) why: String,
    pub(super) help: String,
}

/// Violation of a rule: pointer to the refused value, the rule, the reason, and how to fix it.
#[derive(Debug)]
pub(super) struct RuleViolation {
    pub(super) at: String,
    /// `None` if the refused value is an ancestor of the one that the rule tests.
    pub(super) rule: Option<String>,
    pub(super) why: String,
    pub(super) help: String,
}

impl RefusalReason {
    pub(super) fn new(why: impl Into<String>, help: impl Into<String>) -> Self {
        Self { why: why.into(), help: help.into() }
    }

    pub(super) fn other_type(expected: ValueTypes, found: &Value) -> Self {
        Self::new(format!("expected {expected}, found {}", ValueTypes::from_value(found)), format!("pass {expected}"))
    }
}

impl RuleViolation {
    /// Refuses an ancestor of the value because its type has no such members.
    pub(super) fn undecided(at: &str, expected: &str, found: &Value) -> Self {
        let why = format!("expected {expected}, found {}", ValueTypes::from_value(found));
        Self { at: bounded(at), rule: None, why, help: format!("pass {expected}") }
    }
}
