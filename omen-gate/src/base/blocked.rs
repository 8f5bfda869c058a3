//! A refusal.

use crate::base::code::GateCode;

/// The gate does not let something through: which rule says so, what is wrong, and how to fix it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct Blocked {
    /// The rule.
    pub code: GateCode,
    /// What is wrong, in lower case, with input in backticks.
    pub message: String,
    /// How to fix it.
    pub help: String,
}

impl Blocked {
    /// A refusal by a rule.
    pub fn new(code: GateCode, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { code, message: message.into(), help: help.into() }
    }
}
