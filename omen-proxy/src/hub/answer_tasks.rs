//! Requests from the client that are answered in separate tasks.

use std::sync::Arc;

use tokio::task::JoinSet;
use tracing::field::Empty;
use tracing::{Instrument as _, debug_span};

use super::open_requests::RoutedRequest;
use super::shared::Hub;
use crate::messages::methods::{CALL, INITIALIZE};
use crate::messages::refusal::{self, INTERNAL_ERROR, INVALID_PARAMS};
use crate::server::{ClientCall, ServerSession, SpawnInSpan as _, listed};
use omen_mcp::edit::meta;
use omen_mcp::frame::{Frame, INVALID_REQUEST, Kind};
use omen_mcp::handshake::Era;
use omen_mcp::{CallToolRequest, Id};

/// Tasks that answer requests.
pub(super) type Running = JoinSet<()>;

/// Returns what is known about a request while a server has it.
pub(super) fn routed(frame: &Frame, server: usize) -> RoutedRequest {
    let token = meta(frame, "progressToken").and_then(|span| Id::read(frame.raw(span)));
    RoutedRequest { server, token, is_handshake: method_of(frame) == INITIALIZE }
}

pub(super) fn method_of(frame: &Frame) -> &str {
    match &frame.kind {
        Kind::Request(method) => method,
        _ => "",
    }
}

/// Judges a request about tools at its server, in a separate task.
pub(super) async fn judge(
    hub: &Arc<Hub>,
    session: &Arc<ServerSession>,
    frame: Frame,
    era: Option<Era>,
    may_be_own: bool,
) {
    let (method, raw_id) = (method_of(&frame).to_owned(), frame.raw_id().to_owned());
    let refuse = async |code: i64, why: &str| hub.refuse(&method, &raw_id, code, why).await;
    let Some(era) = era else { return refuse(INVALID_REQUEST, NOT_INITIALIZED).await };
    if session.running().len() >= MOST_RUNNING {
        return refuse(INTERNAL_ERROR, &format!("more than {MOST_RUNNING} requests are open")).await;
    }
    let of = (!hub.is_alone()).then(|| routed(&frame, session.place));
    let id = frame.id().cloned();
    let own = Arc::clone(session);
    if method != CALL {
        return answer_in(hub, &mut session.running(), id, of, listed(own, frame).instrument(session.span.clone()));
    }
    match CallToolRequest::read(frame, era) {
        Ok(request) => {
            let line = call(own, request, may_be_own, raw_id).instrument(session.span.clone());
            answer_in(hub, &mut session.running(), id, of, line);
        }
        Err(why) => refuse(INVALID_PARAMS, &why).await,
    }
}

async fn call(session: Arc<ServerSession>, request: CallToolRequest, may_be_own: bool, raw_id: String) -> Vec<u8> {
    let turn = match session.next_turn() {
        Ok(turn) => turn,
        // INVARIANT: the name of a session leaves room for a number.
        Err(error) => return refusal::error(&raw_id, INTERNAL_ERROR, &error.to_string()),
    };
    let span = debug_span!("call", server = %session.server, %turn, tool = Empty);
    let line = ClientCall::judge(request, may_be_own, &session, &turn).instrument(span).await;
    session.gate.end_turn(&turn);
    line
}

/// Answers a request in a separate task.
pub(super) fn answer(
    hub: &Arc<Hub>,
    running: &mut Running,
    frame: &Frame,
    line: impl Future<Output = Vec<u8>> + Send + 'static,
) {
    answer_in(hub, running, frame.id().cloned(), None, line);
}

/// Sends the line unless someone has cancelled the request.
fn answer_in(
    hub: &Arc<Hub>,
    running: &mut JoinSet<()>,
    id: Option<Id>,
    of: Option<RoutedRequest>,
    line: impl Future<Output = Vec<u8>> + Send + 'static,
) {
    let Some(id) = id else { return };
    let (own_hub, own) = (Arc::clone(hub), id.clone());
    hub.open.ask_task(id, of, || {
        running.spawn_in_span(async move {
            let line = line.await;
            if own_hub.open.take_task(&own) {
                own_hub.client.send(line).await;
            }
        })
    });
}

pub(super) const FULL: &str = "too many requests are open";
pub(super) const NOT_INITIALIZED: &str =
    "the session is not initialized; send `initialize`, or the version of the protocol in `_meta`";

/// Maximum number of requests that are judged, or sent to several servers, at once.
pub(super) const MOST_RUNNING: usize = 256;
