//! Responses of servers, as far as the gate judges them.

use omen_mcp::CallToolRequest;
use omen_mcp::frame::{Frame, Kind, similar};
use omen_mcp::handshake::Era;
use omen_mcp::json;
use serde_json::{Map, Value};

use crate::base::bounded;
use crate::call::{Answer, Fault};

/// Reads the answer in a response to `tools/call`.
///
/// The server may request input first (2026-07-28), after which the client calls again. Such a result contains nothing that could
/// be taken for an answer. The result of a task is fetched later; whether a call may become a task is judged before it is sent.
///
/// # Errors
/// If the response violates the protocol or is an error.
pub(crate) fn answer_of(response: &Frame, request: Option<&CallToolRequest>) -> Result<Answer, Fault> {
    if response.kind != Kind::Result {
        return Err(fault_of(response));
    }
    let interim = Answer { more: result_of(response)?, ..Answer::default() };
    let may_ask = request.is_some_and(|request| request.era() == Era::Stateless);
    let may_start_task = request.is_some_and(CallToolRequest::is_task);
    if (may_ask && interim.asks_for_input()) || (may_start_task && interim.starts_task()) {
        return Ok(interim);
    }
    read(interim.more)
}

/// Reads the result of a response.
///
/// # Errors
/// If readers may interpret the result differently.
pub fn result_of(response: &Frame) -> Result<Map<String, Value>, Fault> {
    let members = response.members().map_err(|flaw| Fault::malformed(&flaw.to_string()))?;
    if let Some(why) = members.iter().find_map(|member| similar(&member.key, &RESULT)) {
        return Err(Fault::malformed(&why));
    }
    json::object(response.text(), response.body().unwrap_or_default()).map_err(|why| Fault::malformed(&why))
}

/// Returns the fault that a response without a result represents.
#[must_use]
pub fn fault_of(response: &Frame) -> Fault {
    if let Kind::Unsure(why) = &response.kind {
        return Fault::malformed(why);
    }
    let error = response.body().and_then(|body| json::object(response.text(), body).ok()).unwrap_or_default();
    match (error.get("code").and_then(Value::as_i64), error.get("message").and_then(Value::as_str)) {
        (Some(code), Some(message)) => Fault::refused(code, message),
        _ => Fault::malformed("an error without `code` and `message`"),
    }
}

/// Result keys that are judged.
const RESULT: [&str; 8] =
    ["content", "structuredContent", "isError", "resultType", "inputRequests", "tools", "nextCursor", "task"];

/// Reads the result of `tools/call`.
///
/// # Errors
/// If the result violates the protocol. Whether the structured content matches the tool's schema is checked later.
pub(super) fn read(result: Map<String, Value>) -> Result<Answer, Fault> {
    // Newer versions of the protocol have results that are not final.
    if let Some(kind) = result.get("resultType").filter(|kind| *kind != "complete") {
        return malformed(&format!("unsupported result type `{kind}`"));
    }
    if !result.contains_key("content") && !result.contains_key("structuredContent") {
        return malformed("it has neither `content` nor `structuredContent`");
    }
    match serde_json::from_value::<Answer>(Value::Object(result)) {
        Ok(answer) if !answer.content.iter().all(|block| block.get("type").is_some_and(Value::is_string)) => {
            malformed("a block of its `content` has no `type`")
        }
        Ok(answer) => Ok(answer),
        Err(error) => malformed(&error.to_string()),
    }
}

fn malformed<T>(why: &str) -> Result<T, Fault> {
    Err(Fault::Malformed { why: bounded(why) })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
mod tests {
    use omen_mcp::CallToolRequest;
    use omen_mcp::frame::Frame;
    use omen_mcp::handshake::Era;
    use serde_json::{Value, json};

    use super::{answer_of, read};
    use crate::call::{Answer, Fault};

    fn frame(rest: &str) -> Frame {
        Frame::read(format!(r#"{{"jsonrpc":"2.0","id":1,{rest}}}"#).into_bytes()).unwrap()
    }

    fn answer_to(params: &str, era: Era, rest: &str) -> Result<Answer, Fault> {
        let request = frame(&format!(r#""method":"tools/call","params":{params}"#));
        answer_of(&frame(rest), Some(&CallToolRequest::read(request, era).unwrap()))
    }

    fn answer(era: Era, rest: &str) -> Result<Answer, Fault> {
        answer_to(r#"{"name":"t"}"#, era, rest)
    }

    #[test]
    fn an_interim_result_is_one_that_cannot_be_taken_for_an_answer() {
        let input = r#""result":{"resultType":"input_required","inputRequests":{},"requestState":"x"}"#;
        assert!(answer(Era::Stateless, input).unwrap().is_interim());
        assert!(answer(Era::Handshake, input).is_err());
        let mixed = r#""result":{"resultType":"input_required","content":[],"structuredContent":{}}"#;
        assert!(answer(Era::Stateless, mixed).is_err());
        let task = r#""result":{"task":{"taskId":"1"}}"#;
        assert!(answer_to(r#"{"name":"t","task":{}}"#, Era::Handshake, task).unwrap().is_interim());
        assert!(answer(Era::Handshake, task).is_err(), "nobody has asked for a task");
    }

    #[test]
    fn a_result_that_readers_read_in_different_ways_is_malformed() {
        for (rest, why) in [
            (r#""result":{"content":[],"Content":[{"type":"text","text":"x"}]}"#, "differs from `content`"),
            (r#""result":{"content":[],"iſError":true}"#, "differs from `isError`"),
            (r#""result":{"content":[],"content":[]}"#, "duplicate field `content`"),
            (r#""result":{"content":[1e999]}"#, "number out of range"),
            (r#""error":{"code":"x"}"#, "an error without"),
            (r#""error":{"code":-1,"message":"no"}"#, "no"),
        ] {
            let fault = answer(Era::Handshake, rest).unwrap_err().to_string();
            assert!(fault.contains(why), "{rest}: {fault}");
        }
    }

    #[track_caller]
    fn refused(result: Value, why: &str) {
        match read(serde_json::from_value(result).unwrap()) {
            Err(Fault::Malformed { why: said }) => assert!(said.contains(why), "{said}"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_no_answer_is_malformed() {
        refused(json!({}), "neither");
        refused(json!({"content": "text"}), "expected a sequence");
        refused(json!({"content": [{"text": "untyped"}]}), "no `type`");
        refused(json!({"content": ["text"]}), "no `type`");
        refused(json!({"content": [], "isError": "no"}), "expected a boolean");
        refused(json!({"resultType": "input_required", "content": []}), "input_required");
    }

    #[test]
    fn an_answer_keeps_every_member() {
        let result = json!({
            "content": [{"type": "text", "text": "1", "annotations": {"audience": ["user"]}}],
            "structuredContent": {"n": 1.5, "big": u64::MAX},
            "isError": false,
            "_meta": {"k": "v"},
            "resultType": "complete",
        });
        let answer = read(serde_json::from_value(result.clone()).unwrap()).unwrap();
        assert_eq!(serde_json::to_value(answer).unwrap(), result);
    }
}
