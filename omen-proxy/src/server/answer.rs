//! A server's response, as far as the gate judges it.

use omen_gate::Fault;
use omen_gate::mcp::read_answer;
use omen_gate::tool::Answer;
use serde_json::{Map, Value};

use super::expected::Call;
use omen_mcp::frame::{Frame, Kind};
use omen_mcp::handshake::Era;
use omen_mcp::json;

/// What a response to `tools/call` is to the gate.
pub(crate) fn read(response: &Frame, call: &Call) -> Result<Answer, Fault> {
    match &response.kind {
        Kind::Result => {
            let result = result(response)?;
            // The server wants to know more first (2026-07-28), and the client calls again. Nothing in such a result can be
            // taken for an answer. The result of a task is fetched later; whether a call may be one is judged before it is
            // sent.
            let interim = Answer { more: result, ..Answer::default() };
            let is_input = call.era == Era::Stateless && interim.asks_for_input();
            if is_input || (call.is_task && interim.starts_task()) {
                return Ok(interim);
            }
            read_answer(interim.more)
        }
        _ => Err(fault(response)),
    }
}

/// The result of a response.
pub(crate) fn result(response: &Frame) -> Result<Map<String, Value>, Fault> {
    let members = response.members().map_err(|flaw| Fault::malformed(&flaw.to_string()))?;
    if let Some(why) = members.iter().find_map(|member| omen_mcp::frame::similar(&member.key, &RESULT)) {
        return Err(Fault::malformed(&why));
    }
    let body = response.body().unwrap_or_default();
    json::object(response.text(), body).map_err(|why| Fault::malformed(&why))
}

/// What a result that is passed on asks of the client, if it asks something (2026-07-28). The rest of it is not read.
pub(crate) fn input_requests(response: &Frame) -> Result<Option<Value>, String> {
    let members = response.members().map_err(|flaw| flaw.to_string())?;
    if let Some(why) = members.iter().find_map(|member| omen_mcp::frame::similar(&member.key, &["inputRequests"])) {
        return Err(why);
    }
    let Some(requests) = members.iter().find(|member| member.key == "inputRequests") else { return Ok(None) };
    serde_json::from_str(response.raw(requests.span.clone())).map(Some).map_err(|error| error.to_string())
}

/// What a response is that has no result.
pub(crate) fn fault(response: &Frame) -> Fault {
    if let Kind::Unsure(why) = &response.kind {
        return Fault::malformed(why);
    }
    let error = response.body().and_then(|body| json::object(response.text(), body).ok()).unwrap_or_default();
    match (error.get("code").and_then(Value::as_i64), error.get("message").and_then(Value::as_str)) {
        (Some(code), Some(message)) => Fault::refused(code, message),
        _ => Fault::malformed("an error without `code` and `message`"),
    }
}

/// The keys of results that are judged.
const RESULT: [&str; 8] =
    ["content", "structuredContent", "isError", "resultType", "inputRequests", "tools", "nextCursor", "task"];

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use serde_json::Map;

    use super::read;
    use crate::server::expected::Call;
    use omen_mcp::frame::Frame;
    use omen_mcp::handshake::Era;

    fn frame(rest: &str) -> Frame {
        Frame::read(format!(r#"{{"jsonrpc":"2.0","id":1,{rest}}}"#).into_bytes()).unwrap()
    }

    fn answer_to(is_task: bool, era: Era, rest: &str) -> Result<omen_gate::tool::Answer, omen_gate::Fault> {
        let call = Call::new(frame(r#""method":"tools/call""#), era, is_task, "t".parse().unwrap(), Map::new());
        read(&frame(rest), &call)
    }

    fn answer(era: Era, rest: &str) -> Result<omen_gate::tool::Answer, omen_gate::Fault> {
        answer_to(false, era, rest)
    }

    #[test]
    fn an_interim_result_is_one_that_cannot_be_taken_for_an_answer() {
        let input = r#""result":{"resultType":"input_required","inputRequests":{},"requestState":"x"}"#;
        assert!(answer(Era::Stateless, input).unwrap().is_interim());
        assert!(answer(Era::Handshake, input).is_err());
        let mixed = r#""result":{"resultType":"input_required","content":[],"structuredContent":{}}"#;
        assert!(answer(Era::Stateless, mixed).is_err());
        let task = r#""result":{"task":{"taskId":"1"}}"#;
        assert!(answer_to(true, Era::Handshake, task).unwrap().is_interim());
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
}
