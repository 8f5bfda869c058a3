//! What comes from the client.

use std::sync::Arc;

use omen_gate::{Blocked, ToolName, bounded};
use serde_json::Map;
use tokio::task::JoinSet;
use tracing::field::Empty;
use tracing::{Instrument as _, debug_span, warn};

use crate::asked::Answered;
use crate::end::Lost;
use crate::policy;
use crate::refusal;
use crate::relayed::{To, Unasked, What};
use crate::shared::{Shared, SpawnInSpan as _};
use crate::tools_call::Asked;
use crate::tools_list;
use omen_mcp::Id;
use omen_mcp::frame::{Frame, INVALID_REQUEST, Kind};
use omen_mcp::json;

/// The requests that are judged, as tasks.
pub(crate) type Running = JoinSet<()>;

/// Handles one line.
pub(crate) async fn line(shared: &Arc<Shared>, line: Vec<u8>, running: &mut Running) {
    let frame = match Frame::read(line) {
        Ok(frame) => frame,
        Err(why) => {
            warn!("the client sent an invalid message: {}", why.unquoted);
            return shared.downstream.send(refusal::malformed(&why)).await;
        }
    };
    match frame.kind.clone() {
        Kind::Request(method) => request(shared, frame, &method, running).await,
        Kind::Notification(method) => notification(shared, frame, &method).await,
        Kind::Result | Kind::Error | Kind::Unsure(_) => response(shared, frame).await,
    }
}

async fn request(shared: &Arc<Shared>, frame: Frame, method: &str, running: &mut Running) {
    let Some(id) = frame.id().cloned() else { return };
    let raw_id = frame.raw_id().to_owned();
    let refuse = async |raw_id: &str, code: i64, why: &str| {
        warn!("refused `{}` of the client: {why}", bounded(method));
        shared.downstream.send(refusal::error(raw_id, code, why)).await;
    };
    if id.is_ours() {
        let why = format!("an id that begins with `{}` is reserved", omen_mcp::OURS);
        return refuse(&raw_id, INVALID_REQUEST, &why).await;
    }
    if shared.calls().contains_key(&id) || shared.from_client.is_open(&id) {
        // An error under this id would be taken for the answer to the other request.
        return refuse("null", INVALID_REQUEST, &format!("the id `{id}` is in use")).await;
    }
    let era = shared.session.sees(&frame);
    match method {
        "tools/call" | "tools/list" => {
            let Some(era) = era else {
                let why =
                    "the session is not initialized; send `initialize`, or the version of the protocol in `_meta`";
                return refuse(&raw_id, INVALID_REQUEST, why).await;
            };
            if running.len() >= MOST_RUNNING {
                return refuse(&raw_id, INTERNAL_ERROR, &format!("more than {MOST_RUNNING} requests are open")).await;
            }
            if method == "tools/list" {
                return judge(shared, &id, running, list(Arc::clone(shared), frame));
            }
            match Asked::read(frame, era) {
                Ok(asked) => judge(shared, &id, running, call(Arc::clone(shared), asked, raw_id)),
                Err(why) => refuse(&raw_id, INVALID_PARAMS, &why).await,
            }
        }
        "initialize" if !shared.session.begins(&frame) => {
            refuse(&raw_id, INVALID_REQUEST, "the session is initialized already").await;
        }
        other if policy::is_unknown_of_tools(other) => {
            refuse(&raw_id, METHOD_NOT_FOUND, &format!("unknown method `{}` of tools", bounded(other))).await;
        }
        other => {
            let params = || frame.body().map_or(Ok(Map::new()), |body| json::object(frame.text(), body));
            if let Err(why) = shared.passages.judge(policy::of_client(other, params)) {
                return refused(shared, &raw_id, why, Side::Client).await;
            }
            let what = if other == "initialize" { What::Initialize } else { What::Other };
            match shared.from_client.ask(&id, what) {
                Ok(()) => shared.upstream.send(frame.text()).await,
                Err(Unasked::Full) => refuse(&raw_id, INTERNAL_ERROR, "too many requests are open").await,
                // Asked above.
                Err(Unasked::InUse) => {}
            }
        }
    }
}

/// Judges a request in a task of its own. Its line is sent if nobody has cancelled it.
fn judge(shared: &Arc<Shared>, id: &Id, running: &mut Running, line: impl Future<Output = Vec<u8>> + Send + 'static) {
    // Held until the task is known, which needs it to end.
    let mut calls = shared.calls();
    let (shared, own) = (Arc::clone(shared), id.clone());
    let task = running.spawn_in_span(async move {
        let line = line.await;
        let is_wanted = shared.calls().remove(&own).is_some();
        if is_wanted {
            shared.downstream.send(line).await;
        }
    });
    calls.insert(id.clone(), task);
}

async fn call(shared: Arc<Shared>, asked: Asked, raw_id: String) -> Vec<u8> {
    let turn = match shared.next_turn() {
        Ok(turn) => turn,
        // INVARIANT: the name of a session leaves room for a number.
        Err(error) => return refusal::error(&raw_id, INTERNAL_ERROR, &error.to_string()),
    };
    let span = debug_span!("call", server = %shared.server, %turn, tool = Empty);
    let line = asked.judge(&shared, &turn).instrument(span).await;
    shared.gate.end_turn(&turn);
    line
}

async fn list(shared: Arc<Shared>, frame: Frame) -> Vec<u8> {
    let raw_id = frame.raw_id();
    let is_first = !frame.members().is_ok_and(|members| members.iter().any(|member| member.key == "cursor"));
    let response = match shared.upstream.ask(|id| frame.with_id(id)).await {
        Ok(response) => response,
        Err(fault) => {
            return refusal::error(raw_id, INTERNAL_ERROR, &format!("cannot list the tools: {}", fault.typed()));
        }
    };
    match &response.kind {
        Kind::Error => response.with_id(raw_id),
        Kind::Unsure(why) => refusal::error(raw_id, INTERNAL_ERROR, &format!("the list of tools is malformed: {why}")),
        _ => match tools_list::page(&response, raw_id, &shared.gate, &shared.server, shared.show_blocked) {
            Ok(page) => {
                let mut new = page.blocked;
                new.retain(|(tool, why)| shared.is_new(tool, &why.message));
                note_left_out(&new);
                note_unlisted(shared.as_ref(), &page.listed, is_first, page.is_last);
                if let Err(unrecorded) = shared.gate.left_out(&shared.session_turn, &new).await {
                    return refusal::error(raw_id, INTERNAL_ERROR, &unrecorded.to_string());
                }
                match &shared.episodes {
                    Some(episodes) => match episodes.list(page.line, &response, is_first) {
                        Ok(line) => line,
                        Err(fault) => {
                            refusal::error(raw_id, INTERNAL_ERROR, &format!("cannot list the tools: {}", fault.typed()))
                        }
                    },
                    None => page.line,
                }
            }
            Err(fault) => refusal::error(raw_id, INTERNAL_ERROR, &format!("cannot list the tools: {}", fault.typed())),
        },
    }
}

/// One line: a server may have many tools that the operator does not want.
fn note_left_out(tools: &[(String, Blocked)]) {
    if !tools.is_empty() {
        let names: Vec<_> = tools.iter().map(|(tool, _)| format!("`{tool}`")).collect();
        let (count, s) = (tools.len(), if tools.len() == 1 { "" } else { "s" });
        let why = "the audit log has the reasons, and so has the list with `--show-blocked`";
        warn!("left {count} tool{s} out of the list: {}; {why}", bounded(&names.join(", ")));
    }
}

/// A tool that is allowed under a wrong name is left out of the list without a word otherwise.
fn note_unlisted(shared: &Shared, listed: &[ToolName], is_first: bool, is_last: bool) {
    let allowed = shared.gate.allowed_tools(&shared.server);
    if let Some(missing) = shared.unlisted.page(allowed, listed, is_first, is_last) {
        let names: Vec<_> = missing.iter().map(|tool| format!("`{tool}`")).collect();
        warn!(
            "the allowlist names tools that the server `{}` does not list: {}; check the names in `[[allow]]`",
            shared.server,
            bounded(&names.join(", "))
        );
    }
}

async fn notification(shared: &Shared, frame: Frame, method: &str) {
    if method == "notifications/cancelled" {
        let id = frame.requested();
        if id.as_ref().is_some_and(Id::is_ours) {
            return warn!("the client tried to cancel a request of the proxy");
        }
        if let Some(id) = id {
            if let Some(task) = shared.calls().remove(&id) {
                // The server is notified under the id that it has seen, when the call is dropped.
                return task.abort();
            }
            shared.from_client.cancel(&id);
        }
    }
    if policy::is_unknown_of_tools(method) {
        return warn!("dropped the notification `{}` of the client", bounded(method));
    }
    shared.upstream.send(frame.text()).await;
}

async fn response(shared: &Shared, frame: Frame) {
    let Some(id) = frame.id().cloned() else { return };
    if id.is_ours() {
        if shared.downstream.answered(frame) == Answered::Nothing {
            warn!("the client answered a request that the proxy has not made");
        }
        return;
    }
    match (shared.from_server.answered(&id), &frame.kind) {
        (To::Open(_), Kind::Unsure(why)) => {
            warn!("the client sent an invalid response: duplicate field");
            let why = format!("the client's response is malformed: {why}");
            shared.upstream.send(refusal::error(frame.raw_id(), INTERNAL_ERROR, &why)).await;
        }
        (To::Open(_), _) => shared.upstream.send(frame.text()).await,
        (To::Forgotten | To::Nothing, _) => warn!("the client answered the unknown request `{id}`"),
    }
}

/// Whose message was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Client,
    Server,
}

/// Records a refusal of a message, and answers it.
pub(crate) async fn refused(shared: &Shared, raw_id: &str, why: omen_gate::Blocked, side: Side) {
    warn!(code = %why.code, "{}: {}", why.code, why.unquoted());
    let why = match shared.gate.refused(&shared.session_turn, &why).await {
        Ok(()) => why,
        Err(unrecorded) => unrecorded,
    };
    let line = refusal::not_passed(raw_id, &why);
    match side {
        Side::Client => shared.downstream.send(line).await,
        Side::Server => shared.upstream.send(line).await,
    }
}

/// Tells the client of each request that it waits for that the server is gone.
pub(crate) async fn give_up(shared: &Shared, lost: &Lost) {
    for id in shared.from_client.take() {
        let why = format!("the server is gone: {lost}");
        shared.downstream.send(refusal::error(&id.raw(), INTERNAL_ERROR, &why)).await;
    }
}

/// So that what is judged at once is bounded.
const MOST_RUNNING: usize = 256;

pub(crate) const METHOD_NOT_FOUND: i64 = -32_601;
pub(crate) const INVALID_PARAMS: i64 = -32_602;
pub(crate) const INTERNAL_ERROR: i64 = -32_603;
