//! Refusals by the gate.

use omen_order::Refusal;

use crate::base::code::GateCode;

/// Refusal by the gate: the refusing rule, what is wrong, and how to fix it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct Blocked {
    /// Rule that refuses the call.
    pub code: GateCode,
    /// Message in lower case, with input in backticks.
    pub message: String,
    /// Help: how to fix the error.
    pub help: String,
    /// `message` without quoted input, if the caller knows it.
    pub(crate) unquoted: Option<String>,
    /// Refusal by the order rules, as data.
    pub(crate) order: Option<Box<Refusal>>,
}

impl Blocked {
    /// Creates a refusal by a rule.
    pub fn new(code: GateCode, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { code, message: message.into(), help: help.into(), unquoted: None, order: None }
    }

    /// Attaches the details of a refusal by the order rules.
    pub(crate) fn of_order(self, refusal: Box<Refusal>) -> Self {
        Self { order: Some(refusal), ..self }
    }

    /// Returns the refusal by the order rules (O-1 to O-3, O-5, O-6): the rule, what it requires, and the closest earlier call.
    #[must_use]
    pub fn order(&self) -> Option<&Refusal> {
        self.order.as_deref()
    }

    /// Sets the reason to record in places where the call's values must not appear. It must quote nothing written by a
    /// client, a model or a tool.
    #[must_use]
    pub fn unquoted_as(self, reason: impl Into<String>) -> Self {
        Self { unquoted: Some(reason.into()), ..self }
    }

    /// Marks a refusal as quoting none of the foreign text that its rule reads.
    pub(crate) fn quoting_nothing(self) -> Self {
        let reason = self.message.clone();
        self.unquoted_as(reason)
    }

    /// Returns the reason without quoted input. A rule that reads foreign text is assumed to quote it, which leaves
    /// only the rule's title, unless [`unquoted_as`](Self::unquoted_as) sets a reason.
    #[must_use]
    pub fn unquoted(&self) -> &str {
        match &self.unquoted {
            Some(reason) => reason,
            None if reads_foreign_text(self.code) => self.code.title(),
            None => &self.message,
        }
    }
}

/// Returns whether a rule reads text from a planner, a client or a tool, so its reasons may quote that text. Reasons of
/// the other rules name only tools, permissions, limits and the operator's configuration.
fn reads_foreign_text(code: GateCode) -> bool {
    match code {
        GateCode::Pg1 | GateCode::Pg2 | GateCode::Pg4 | GateCode::Pg5 | GateCode::A4 | GateCode::R3 => true,
        GateCode::Pg0 | GateCode::Pg3 | GateCode::Pg6 | GateCode::PgT => false,
        GateCode::G1 | GateCode::G2 | GateCode::G3 | GateCode::G4 => false,
        GateCode::A1 | GateCode::A2 | GateCode::A3 => false,
        GateCode::R1 | GateCode::R2 | GateCode::R4 | GateCode::R5 => false,
        GateCode::C1 | GateCode::T1 | GateCode::V1 => false,
        GateCode::O1 | GateCode::O2 | GateCode::O3 | GateCode::O4 | GateCode::O5 | GateCode::O6 => false,
    }
}
