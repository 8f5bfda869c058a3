//! What a client reads of a refusal.

use omen_gate::arguments::Recordable;
use omen_gate::order::Refusal as Refused;
use omen_gate::{Blocked, CallHash, GateCode, Ran, Stopped, TurnId, bounded};
use serde_json::{Map, Value, json};

use omen_mcp::frame::Malformed;
use omen_mcp::handshake::Era;

/// Why a call was refused, or why its answer is withheld.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) code: GateCode,
    pub(crate) reason: String,
    /// The reason without what it quotes of the call or its answer.
    pub(crate) unquoted: String,
    pub(crate) help: String,
    pub(crate) ran: Ran,
    /// The answer, where it is shown as text although it is not as its tool promises (PG-4).
    pub(crate) untyped: Option<String>,
    /// What the rules on order say of it, as members of the decision.
    pub(crate) order: Map<String, Value>,
}

impl From<Blocked> for Refusal {
    fn from(why: Blocked) -> Self {
        let unquoted = why.unquoted().to_owned();
        let order = why.order().map(Refused::data).unwrap_or_default();
        Self { code: why.code, reason: why.message, unquoted, help: why.help, ran: Ran::No, untyped: None, order }
    }
}

impl From<Stopped> for Refusal {
    fn from(stopped: Stopped) -> Self {
        let (code, ran, help) = (stopped.code(), stopped.ran(), stopped.help().to_owned());
        match stopped {
            Stopped::Blocked(why) => why.into(),
            Stopped::BrokenOff(why) | Stopped::Unrecorded { why, .. } => Self { ran, ..why.into() },
            Stopped::Failed(fault) => {
                let unquoted = fault.unquoted();
                // Of a server that has answered there is a response, which is read elsewhere: these are the proxy's own words.
                Self::with(code, fault.to_string(), unquoted, help, ran)
            }
            Stopped::Aborted { why, .. } => Self::with(code, why.to_string(), why.to_string(), help, ran),
            other => {
                let unquoted = other.unquoted();
                Self::with(code, other.to_string(), unquoted, help, ran)
            }
        }
    }
}

impl Refusal {
    fn with(code: GateCode, reason: String, unquoted: String, help: String, ran: Ran) -> Self {
        Self { code, reason, unquoted, help, ran, untyped: None, order: Map::new() }
    }

    /// The reason as it is written down of a call.
    pub(crate) fn noted(&self, recordable: &Recordable) -> &str {
        if recordable.may_quote(&self.reason) { &self.reason } else { &self.unquoted }
    }

    /// A result of `tools/call` that says so, in words for the model and as a decision for programs. Structured content has to
    /// be what the tool promises, and a decision is not: where a tool promises something, the decision is in `_meta` alone.
    pub(crate) fn result(&self, at: &Place<'_>) -> Vec<u8> {
        let ran = match self.ran {
            Ran::No => "The tool was not called.",
            Ran::Unknown => "The tool may have run.",
            Ran::Yes if self.untyped.is_some() => {
                "The tool ran; its answer follows as text, and nothing was read from it."
            }
            Ran::Yes => "The tool ran; its answer is withheld.",
        };
        let text = format!("Refused by the gate ({}): {}. {ran} What to do: {}.", self.code, self.reason, self.help);
        let mut decision = json!({
            "call": at.call, "code": self.code.as_str(), "help": self.help, "ran": self.ran, "reason": self.reason,
            "turn": at.turn,
        });
        if let Value::Object(members) = &mut decision {
            members.extend(self.order.clone());
        }
        let mut result = json!({
            "content": [{ "type": "text", "text": text }], "isError": true, "_meta": { DECISION: decision },
        });
        if let (Some(untyped), Some(Value::Array(content))) = (&self.untyped, result.get_mut("content")) {
            content.push(json!({ "type": "text", "text": untyped }));
        }
        if let Value::Object(members) = &mut result {
            if !at.promises && self.untyped.is_none() {
                members.insert("structuredContent".to_owned(), decision);
            }
            if at.era == Era::Stateless {
                members.insert("resultType".to_owned(), "complete".into());
            }
        }
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{result}}}", at.id).into_bytes()
    }
}

/// What a refusal belongs to.
#[derive(Debug)]
pub(crate) struct Place<'p> {
    /// The id of the request, as it was written.
    pub(crate) id: &'p str,
    pub(crate) turn: &'p TurnId,
    pub(crate) call: Option<CallHash>,
    pub(crate) era: Era,
    /// Whether the tool promises structured answers.
    pub(crate) promises: bool,
}

/// An error of the protocol.
pub(crate) fn error(raw_id: &str, code: i64, message: &str) -> Vec<u8> {
    let error = json!({ "code": code, "message": bounded(message) });
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{raw_id},\"error\":{error}}}").into_bytes()
}

/// The error for a line that is not a message. Whom it answers is not known.
pub(crate) fn malformed(why: &Malformed) -> Vec<u8> {
    error("null", why.code, &why.why)
}

/// The error for what the policy does not let pass.
pub(crate) fn not_passed(raw_id: &str, why: &Blocked) -> Vec<u8> {
    let error = json!({
        "code": NOT_PASSED, "message": format!("{why}; {}", why.help),
        "data": { DECISION: { "code": why.code.as_str(), "help": why.help, "reason": why.message } },
    });
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{raw_id},\"error\":{error}}}").into_bytes()
}

/// Where the decision stands in `_meta` and in the data of errors.
const DECISION: &str = "omen/decision";

pub(crate) const METHOD_NOT_FOUND: i64 = -32_601;
pub(crate) const INVALID_PARAMS: i64 = -32_602;
pub(crate) const INTERNAL_ERROR: i64 = -32_603;

/// Outside of the codes that JSON-RPC and the protocol keep for themselves.
pub(crate) const NOT_PASSED: i64 = 403;
