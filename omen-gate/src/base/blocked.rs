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
    /// What is wrong without what was quoted, if that is known.
    pub(crate) unquoted: Option<String>,
}

impl Blocked {
    /// A refusal by a rule.
    pub fn new(code: GateCode, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { code, message: message.into(), help: help.into(), unquoted: None }
    }

    /// The same refusal, with the reason that is recorded where the values of a call must not be: what is wrong, and nothing that
    /// a client, a model or a tool has written.
    #[must_use]
    pub fn unquoted_as(self, reason: impl Into<String>) -> Self {
        Self { unquoted: Some(reason.into()), ..self }
    }

    /// The same refusal by a rule that reads foreign text, whose reason quotes nothing of it.
    pub(crate) fn quoting_nothing(self) -> Self {
        let reason = self.message.clone();
        self.unquoted_as(reason)
    }

    /// The reason without what it quotes. Of a rule that reads what somebody else has written, a reason is taken to quote it
    /// unless [`unquoted_as`](Self::unquoted_as) says otherwise: all that is left is the title of the rule.
    #[must_use]
    pub fn unquoted(&self) -> &str {
        match &self.unquoted {
            Some(reason) => reason,
            None if reads_foreign_text(self.code) => self.code.title(),
            None => &self.message,
        }
    }
}

/// Whether a rule reads what a planner, a client or a tool has written, so that its reasons may quote it. The reasons of the
/// others name tools, permissions, limits and what the operator has configured.
fn reads_foreign_text(code: GateCode) -> bool {
    match code {
        GateCode::Pg1 | GateCode::Pg2 | GateCode::Pg4 | GateCode::Pg5 | GateCode::A4 | GateCode::R3 => true,
        GateCode::Pg0 | GateCode::Pg3 | GateCode::Pg6 | GateCode::PgT => false,
        GateCode::G1 | GateCode::G2 | GateCode::G3 | GateCode::G4 => false,
        GateCode::A1 | GateCode::A2 | GateCode::A3 => false,
        GateCode::R1 | GateCode::R2 | GateCode::R4 | GateCode::R5 => false,
        GateCode::C1 | GateCode::T1 | GateCode::V1 => false,
    }
}
