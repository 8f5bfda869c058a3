//! Refusals as shown to a client.

use omen_gate::{Blocked, CallHash, CallRefusal, TurnId};
use serde_json::{Value, json};

use omen_mcp::frame::Malformed;
pub(crate) use omen_mcp::frame::{INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, error_response as error};
use omen_mcp::handshake::Era;

/// Returns a result of `tools/call` with a refusal, in words for the model and as a decision for programs. Structured content has
/// to be what the tool promises, and a decision is not: where a tool promises something, the decision is in `_meta` alone.
pub(crate) fn result(refusal: &CallRefusal, at: &RefusalContext<'_>) -> Vec<u8> {
    let decision = refusal.decision(at.turn, at.call);
    let mut result = json!({
        "content": [{ "type": "text", "text": refusal.text() }], "isError": true, "_meta": { DECISION: decision },
    });
    if let (Some(untyped), Some(Value::Array(content))) = (&refusal.untyped, result.get_mut("content")) {
        content.push(json!({ "type": "text", "text": untyped }));
    }
    if let Value::Object(members) = &mut result {
        if !at.promises && refusal.untyped.is_none() {
            members.insert("structuredContent".to_owned(), decision);
        }
        if at.era == Era::Stateless {
            members.insert("resultType".to_owned(), "complete".into());
        }
    }
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{result}}}", at.id).into_bytes()
}

/// Context of a refused call.
#[derive(Debug)]
pub(crate) struct RefusalContext<'p> {
    /// Request id as written.
    pub(crate) id: &'p str,
    pub(crate) turn: &'p TurnId,
    pub(crate) call: Option<CallHash>,
    pub(crate) era: Era,
    /// Whether the tool promises structured answers.
    pub(crate) promises: bool,
}

/// Returns the error for a line that is not a message. The request that it answers is unknown.
pub(crate) fn malformed(why: &Malformed) -> Vec<u8> {
    error("null", why.code, &why.why)
}

/// Returns the error for a message that the policy does not let pass.
pub(crate) fn not_passed(raw_id: &str, why: &Blocked) -> Vec<u8> {
    let error = json!({
        "code": NOT_PASSED, "message": format!("{why}; {}", why.help),
        "data": { DECISION: { "code": why.code.as_str(), "help": why.help, "reason": why.message } },
    });
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{raw_id},\"error\":{error}}}").into_bytes()
}

/// Member of `_meta`, and of the data of errors, with the decision.
const DECISION: &str = "omen/decision";

/// Outside the codes that JSON-RPC and the protocol reserve.
pub(crate) const NOT_PASSED: i64 = 403;
