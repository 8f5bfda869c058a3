//! Refusals and errors as Python reads them.

use omen_gate::{Blocked, CallHash, CallRefusal, GateCode, Ran, Stopped, TurnId};
use pyo3::prelude::*;
use serde_json::json;

use crate::errors::ErrorClass;

/// Returns the refusal of a stopped call; of a tool that failed, it says so.
pub(super) fn stopped(stopped: Stopped) -> CallRefusal {
    let failed = matches!(stopped, Stopped::Failed(_));
    CallRefusal { failed, ..stopped.into() }
}

/// Returns the refusal by a rule about the answer: the tool ran.
pub(super) fn withheld(why: Blocked) -> CallRefusal {
    CallRefusal { ran: Ran::Yes, ..why.into() }
}

/// Returns the failure that a tool reports of itself.
pub(super) fn reported(reason: String) -> CallRefusal {
    let help = "call it with other arguments, or do without it";
    CallRefusal { ran: Ran::Yes, failed: true, ..Blocked::new(GateCode::R3, reason, help).into() }
}

/// Returns a refusal as JSON: the decision, and a text on which a model can act.
pub(super) fn to_json(refusal: &CallRefusal, turn: &TurnId, call: Option<CallHash>) -> String {
    json!({ "decision": refusal.decision(turn, call), "failed": refusal.failed, "text": refusal.text() }).to_string()
}

/// Error of a configuration, or of a program that uses a gate wrongly. An empty help is none.
pub(super) fn gate_error(message: &str, help: &str) -> PyErr {
    Python::attach(|py| ErrorClass::Gate.error(py, message, Some(help).filter(|help| !help.is_empty())))
}
