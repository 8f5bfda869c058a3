//! Sessions of clients over HTTP, as sessions of the proxy.
//!
//! A session that begins with a handshake has a separate server. All requests that need no session share one session of the
//! proxy and one server. All sessions share one gate and one audit log: anything used up by one session is used up for all.
//!
//! Architecture invariant: no rule is judged here. The sessions behind HTTP are the same as behind standard streams.

use std::sync::Arc;

use omen_base::Mutex;
use omen_gate::TurnId;
use omen_gate::order::SessionEnd;
use omen_mcp::http::server::{HttpServer, SessionChannels};

use crate::end::Ended;
use crate::hub::{ClientInput, ClientSessions};

/// Serves sessions until asked to stop. When this returns, the log contains the outcome of every call that was made, and no
/// server is running.
pub(crate) async fn serve(
    http: HttpServer,
    behind: ClientSessions,
    name: TurnId,
    until: impl Future<Output = ()> + Send,
) -> Ended {
    let (limits, gate) = (behind.limits(), behind.gate.clone());
    let unrecorded = Arc::new(Mutex::new(None));
    let (of_all, first) = (name.clone(), Arc::clone(&unrecorded));
    let begin = move |SessionChannels { number, is_shared, input, output, until }| {
        let turn = TurnId::new(format!("{of_all}.s{number}")).map_err(|error| error.to_string())?;
        let mut session = behind.session(turn);
        // A single session for the gate, however often it begins: a pause must not lift what forbids a call.
        if is_shared {
            session.client_session = of_all.clone();
        }
        // Messages from the client were bounded on arrival and may have become longer since; a session shared by several clients
        // must not end because of that.
        session.limits.line_bytes = usize::MAX;
        let first = Arc::clone(&first);
        Ok(async move {
            let ended = session.serve(ClientInput::Messages(input), output, until).await;
            let how = ended.as_ref().map_or_else(ToString::to_string, ToString::to_string);
            if let Ok(Ended::Unrecorded(why)) = ended {
                first.lock().get_or_insert(why);
            }
            how
        })
    };
    http.serve(&limits, begin, until).await;
    let mut unrecorded = unrecorded.lock().take();
    if !gate.end_session(&name, SessionEnd::Closed).is_empty() {
        let recorded = gate.turn_is_over(&name, "the proxy was stopped").await;
        unrecorded = unrecorded.or(recorded.err());
    }
    unrecorded.map_or(Ended::Asked, Ended::Unrecorded)
}
