//! Session state that a proxy observes in passing messages: the protocol era, and the client's capabilities.

use std::time::Duration;

use omen_base::Mutex;
use tokio::sync::Notify;

use crate::frame::Frame;
use crate::json;

/// Session between one client and one server.
#[derive(Debug, Default)]
pub struct Session {
    state: Mutex<State>,
    /// Notifies waiters that a handshake has begun.
    begun: Notify,
}

#[derive(Debug, Default)]
struct State {
    handshake: Handshake,
    /// Number of handshakes begun.
    count: u64,
    /// Whether the client has declared that it can show its user a form.
    elicitation: bool,
    /// Members of `_meta` that every request has in the era without a handshake, as last written by the client.
    meta: Option<String>,
}

/// Progress of the handshake, in the era that has one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Handshake {
    #[default]
    Absent,
    Asked,
    Made,
}

/// Era of the protocol that a request belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// The session began with a handshake, up to 2025-11-25.
    Handshake,
    /// Each request states what a handshake would, since 2026-07-28.
    Stateless,
}

/// Prefix of the members in which a request states what a handshake would.
const META: &str = "io.modelcontextprotocol/";
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

impl Session {
    /// Observes a client's request. Returns its era if it may be judged: a handshake was made, or the request states
    /// what a handshake would.
    pub fn sees(&self, request: &Frame) -> Option<Era> {
        let meta = own_meta(request);
        let mut state = self.state.lock();
        if meta.is_some() {
            state.meta = meta;
            return Some(Era::Stateless);
        }
        (state.handshake == Handshake::Made).then_some(Era::Handshake)
    }

    /// Records that the client begins a handshake. Returns whether it may: a session has only one.
    pub fn begins(&self, initialize: &Frame) -> bool {
        let declared = declares_form(initialize);
        let mut state = self.state.lock();
        if state.handshake != Handshake::Absent {
            return false;
        }
        (state.handshake, state.elicitation) = (Handshake::Asked, declared);
        state.count += 1;
        self.begun.notify_one();
        true
    }

    /// Returns once a handshake has had no answer for this long.
    pub async fn unanswered(&self, limit: Duration) {
        loop {
            let Some(asked) = self.asked() else {
                self.begun.notified().await;
                continue;
            };
            tokio::time::sleep(limit).await;
            if self.asked() == Some(asked) {
                return;
            }
        }
    }

    /// Returns the number of the handshake that awaits its answer.
    fn asked(&self) -> Option<u64> {
        let state = self.state.lock();
        (state.handshake == Handshake::Asked).then_some(state.count)
    }

    /// Records that the server has answered the handshake.
    pub fn answered(&self, agreed: bool) {
        let mut state = self.state.lock();
        state.handshake = if agreed { Handshake::Made } else { Handshake::Absent };
        // A client may have tried without a handshake first.
        state.meta = None;
    }

    /// Returns whether a handshake was made.
    pub fn has_handshake(&self) -> bool {
        self.state.lock().handshake == Handshake::Made
    }

    /// Returns whether the client can show its user a form. In the stateless era, a server cannot send unsolicited requests.
    pub fn can_elicit(&self) -> bool {
        let state = self.state.lock();
        state.handshake == Handshake::Made && state.elicitation && state.meta.is_none()
    }

    /// Returns the members for `params` of one of a proxy's own requests; `None` if none may be sent yet.
    pub fn own_params(&self) -> Option<String> {
        let state = self.state.lock();
        match &state.meta {
            Some(meta) => Some(format!("\"_meta\":{{{meta}}}")),
            None => (state.handshake == Handshake::Made).then(String::new),
        }
    }
}

/// Returns the members of a request's `_meta` that state what a handshake would.
fn own_meta(request: &Frame) -> Option<String> {
    let params = request.members().ok()?;
    let meta = params.iter().find(|member| member.key == "_meta")?;
    let members = json::members(request.text(), meta.span.clone()).ok()?;
    if !members.iter().any(|member| member.key == VERSION && request.raw(member.span.clone()).starts_with('"')) {
        return None;
    }
    let ours = members.iter().filter(|member| member.key.starts_with(META));
    let written: Vec<_> = ours
        .filter_map(|member| {
            Some(format!("{}:{}", serde_json::to_string(&member.key).ok()?, request.raw(member.span.clone())))
        })
        .collect();
    Some(written.join(","))
}

/// Returns whether the client can show a form. An empty capability also stands for forms.
fn declares_form(initialize: &Frame) -> bool {
    let params = initialize.body().and_then(|body| json::object(initialize.text(), body).ok());
    let declared = params.as_ref().and_then(|params| params.get("capabilities")?.get("elicitation")?.as_object());
    declared.is_some_and(|declared| declared.is_empty() || declared.contains_key("form"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::{Era, Session};
    use crate::frame::Frame;

    fn frame(method: &str, params: &str) -> Frame {
        let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
        Frame::read(line.into_bytes()).unwrap()
    }

    #[test]
    fn nothing_is_judged_before_the_handshake_and_there_is_one() {
        let session = Session::default();
        let call = frame("tools/call", r#"{"name":"a"}"#);
        assert_eq!((session.sees(&call), session.own_params()), (None, None));
        let initialize = frame("initialize", r#"{"capabilities":{"elicitation":{}}}"#);
        assert!(session.begins(&initialize));
        assert_eq!(session.sees(&call), None, "it is not answered yet");
        session.answered(true);
        assert_eq!((session.sees(&call), session.own_params()), (Some(Era::Handshake), Some(String::new())));
        assert!(session.can_elicit() && !session.begins(&initialize));
    }

    #[test]
    fn a_request_without_a_handshake_says_what_one_would() {
        let session = Session::default();
        let meta = r#"{"x":1, "io.modelcontextprotocol/protocolVersion": "2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation": {}}}"#;
        let call = frame("tools/call", &format!(r#"{{"name":"a","_meta":{meta}}}"#));
        assert_eq!(session.sees(&call), Some(Era::Stateless));
        let ours = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation": {}}}"#;
        assert_eq!(session.own_params().unwrap(), ours);
        assert!(!session.can_elicit());
        let without = frame("tools/call", r#"{"name":"a","_meta":{"io.modelcontextprotocol/protocolVersion":7}}"#);
        assert_eq!(session.sees(&without), None);
    }

    #[test]
    fn only_a_client_that_has_forms_is_asked() {
        for (capabilities, can) in [
            (r#"{"elicitation":{}}"#, true),
            (r#"{"elicitation":{"form":{},"url":{}}}"#, true),
            (r#"{"elicitation":{"url":{}}}"#, false),
            (r#"{"elicitation":true}"#, false),
            ("{}", false),
        ] {
            let session = Session::default();
            session.begins(&frame("initialize", &format!(r#"{{"capabilities":{capabilities}}}"#)));
            session.answered(true);
            assert_eq!(session.can_elicit(), can, "{capabilities}");
        }
    }
}
