//! Client input for the server, in the members that carry rounds.

use omen_gate::{Blocked, GateCode};

use omen_mcp::frame::Frame;

/// Members of a request that the client had for the server when it was asked for a confirmation: a server has its own rounds.
/// They are restored for the server, which thus sees no answer to the gate, and whose own input cannot change meanwhile.
#[derive(Clone, Debug, Default)]
pub(super) struct ServerInput(Vec<(&'static str, Box<str>)>);

/// Members that carry rounds.
const ROUNDS: [&str; 2] = ["inputResponses", "requestState"];

impl ServerInput {
    pub(super) fn from_request(request: &Frame) -> Self {
        let members = request.members().unwrap_or_default();
        let raw = |key: &'static str| {
            let member = members.iter().find(|member| member.key == key)?;
            Some((key, request.raw(member.span.clone()).into()))
        };
        Self(ROUNDS.into_iter().filter_map(raw).collect())
    }

    /// Returns the request with these members instead of its own. All other members keep their bytes.
    pub(super) fn restored(&self, request: &Frame) -> Result<Frame, Blocked> {
        let unread = |why: String| Blocked::new(GateCode::R3, why, "this is a bug in the gate; please report it");
        let members = request.members().map_err(|flaw| unread(flaw.to_string()))?;
        let others = members.iter().filter(|member| !ROUNDS.contains(&member.key.as_ref()));
        let others = others.map(|member| (member.key.as_ref(), request.raw(member.span.clone())));
        let kept = self.0.iter().map(|(key, raw)| (*key, raw.as_ref()));
        let written = others.chain(kept).map(|(key, raw)| format!("{}:{raw}", serde_json::Value::from(key)));
        let params = written.collect::<Vec<_>>().join(",");
        let body = request.body().unwrap_or_default();
        let before = request.raw(0..body.start);
        let after = request.raw(body.end..request.text().len());
        let line = format!("{before}{{{params}}}{after}");
        Frame::read(line.into_bytes()).map_err(|malformed| unread(malformed.why))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::ServerInput;
    use omen_mcp::frame::Frame;

    fn frame(params: &str) -> Frame {
        let line = format!(r#"{{"id":1, "jsonrpc":"2.0","params":{params},"method":"m" }}"#);
        Frame::read(line.into_bytes()).unwrap()
    }

    #[test]
    fn what_was_there_before_is_there_again_and_nothing_else() {
        let first = frame(r#"{"name":"a","requestState":"theirs","inputResponses":{"x":{"n":1.50}}}"#);
        let second = frame(
            r#"{"inputResponses":{"ours":1},"name" : "a","arguments":{"big":123456789012345678901},"requestState":"ours"}"#,
        );
        let restored = ServerInput::from_request(&first).restored(&second).unwrap();
        assert_eq!(
            restored.text(),
            r#"{"id":1, "jsonrpc":"2.0","params":{"name":"a","arguments":{"big":123456789012345678901},"inputResponses":{"x":{"n":1.50}},"requestState":"theirs"},"method":"m" }"#
        );
        let without = ServerInput::from_request(&frame(r#"{"name":"a"}"#)).restored(&second).unwrap();
        assert!(!without.text().contains("ours") && without.text().contains("1234567890"), "{}", without.text());
    }
}
