//! Refusals.

use omen_order::Refusal;

use crate::base::code::GateCode;

/// Refusal by the gate: the rule that forbids something, what is wrong, and how to fix it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct Blocked {
    /// Rule that refuses.
    pub code: GateCode,
    /// Message in lower case, with input in backticks.
    pub message: String,
    /// Help: how to fix the error.
    pub help: String,
    /// `message` without quoted input, where the caller knows it.
    pub(crate) unquoted: Option<String>,
    /// Refusal by the rules on order, as data.
    pub(crate) order: Option<Box<Refusal>>,
}

impl Blocked {
    /// Creates a refusal by a rule.
    pub fn new(code: GateCode, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { code, message: message.into(), help: help.into(), unquoted: None, order: None }
    }

    /// Adds what the rules on order say.
    pub(crate) fn of_order(self, refusal: Box<Refusal>) -> Self {
        Self { order: Some(refusal), ..self }
    }

    /// Refusal by the rules on order (O-1 to O-3, O-5, O-6): the rule, what it needs, and the earlier call that comes
    /// nearest.
    #[must_use]
    pub fn order(&self) -> Option<&Refusal> {
        self.order.as_deref()
    }

    /// Sets the reason that is recorded where the values of a call must not be. It must quote nothing that a client, a
    /// model or a tool has written.
    #[must_use]
    pub fn unquoted_as(self, reason: impl Into<String>) -> Self {
        Self { unquoted: Some(reason.into()), ..self }
    }

    /// Marks a refusal by a rule that reads foreign text as quoting none of it.
    pub(crate) fn quoting_nothing(self) -> Self {
        let reason = self.message.clone();
        self.unquoted_as(reason)
    }

    /// Reason without quoted input. A rule that reads foreign text is assumed to quote it unless
    /// [`unquoted_as`](Self::unquoted_as) says otherwise: then the reason is only the rule's title.
    #[must_use]
    pub fn unquoted(&self) -> &str {
        match &self.unquoted {
            Some(reason) => reason,
            None if reads_foreign_text(self.code) => self.code.title(),
            None => &self.message,
        }
    }
}

/// Whether a rule reads text by a planner, a client or a tool, so that its reasons may quote it. Reasons of the other
/// rules name only tools, permissions, limits and the operator's configuration.
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
