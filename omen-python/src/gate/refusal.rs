//! Refusals and errors as Python reads them.

use omen_gate::order::Refusal as OrderRefusal;
use omen_gate::{Blocked, CallHash, GateCode, Ran, Stopped, TurnId};
use pyo3::prelude::*;
use serde_json::{Map, Value, json};

use crate::errors::ErrorClass;

/// Reason why a call was not made, or why its answer is withheld.
#[derive(Debug)]
pub(super) struct Refused {
    code: GateCode,
    reason: String,
    help: String,
    ran: Ran,
    /// Whether the tool failed, in place of a rule that refused.
    failed: bool,
    /// What the rules on order say of it: rule, premise, nearest earlier call.
    order: Map<String, Value>,
}

impl From<Blocked> for Refused {
    fn from(why: Blocked) -> Self {
        let order = why.order().map(OrderRefusal::data).unwrap_or_default();
        Self { code: why.code, reason: why.message, help: why.help, ran: Ran::No, failed: false, order }
    }
}

impl From<Stopped> for Refused {
    fn from(stopped: Stopped) -> Self {
        let (code, ran) = (stopped.code(), stopped.ran());
        let help = stopped.help().to_owned();
        let with = |reason: String, failed: bool| Self { code, reason, help, ran, failed, order: Map::new() };
        match stopped {
            Stopped::Blocked(why) => why.into(),
            Stopped::BrokenOff(why) | Stopped::Unrecorded { why, .. } => Self { ran, ..why.into() },
            Stopped::Failed(fault) => with(fault.to_string(), true),
            Stopped::Aborted { why, .. } => with(why.to_string(), false),
            other => with(other.to_string(), false),
        }
    }
}

impl Refused {
    /// Refusal by a rule about the answer: the tool ran.
    pub(super) fn withheld(why: Blocked) -> Self {
        Self { ran: Ran::Yes, ..why.into() }
    }

    /// Failure that the tool reports of itself.
    pub(super) fn reported(reason: String) -> Self {
        Self {
            code: GateCode::R3,
            reason,
            help: "call it with other arguments, or do without it".to_owned(),
            ran: Ran::Yes,
            failed: true,
            order: Map::new(),
        }
    }

    /// Refusal as JSON: the decision, and a text on which a model can act.
    pub(super) fn to_json(&self, turn: &TurnId, call: Option<CallHash>) -> String {
        let ran = match (self.ran, self.failed) {
            (Ran::No, _) => "The tool was not called.",
            (Ran::Unknown, _) => "The tool may have run.",
            (Ran::Yes, true) => "The tool ran and failed.",
            (Ran::Yes, false) => "The tool ran; its answer is withheld.",
        };
        let begin = if self.failed { "The call failed" } else { "Refused by the gate" };
        let mut text = format!("{begin} ({}): {}. {ran}", self.code, self.reason);
        if !self.help.is_empty() {
            text.push_str(&format!(" What to do: {}.", self.help));
        }
        let mut decision = json!({
            "call": call, "code": self.code.as_str(), "help": self.help, "ran": self.ran, "reason": self.reason,
            "turn": turn,
        });
        if let Value::Object(members) = &mut decision {
            members.extend(self.order.clone());
        }
        json!({ "decision": decision, "failed": self.failed, "text": text }).to_string()
    }
}

/// Error of a configuration, or of a program that uses a gate wrongly. An empty help is none.
pub(super) fn gate_error(message: &str, help: &str) -> PyErr {
    Python::attach(|py| ErrorClass::Gate.error(py, message, Some(help).filter(|help| !help.is_empty())))
}
