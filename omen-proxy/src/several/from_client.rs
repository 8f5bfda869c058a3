//! What comes from the client, and which server it is for.

use std::sync::Arc;

use omen_gate::bounded;
use omen_gate::mcp::Line;
use tokio::task::JoinSet;
use tracing::warn;

use super::calls;
use super::handshake;
use super::hub::Hub;
use super::listening;
use super::lists::{self, List};
use super::member;
use super::open::{Cancelled, Unasked};
use super::owners;
use super::prompts;
use crate::from_client::{INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND};
use crate::refusal;
use crate::shared::SpawnInSpan as _;
use omen_mcp::Id;
use omen_mcp::edit::{edited, member as place};
use omen_mcp::frame::{Frame, INVALID_REQUEST, Kind};
use omen_mcp::handshake::Era;

/// Requests that more than one server answers, as tasks.
pub(super) type Running = JoinSet<()>;

/// Handles one line.
pub(super) async fn line(hub: &Arc<Hub>, line: Vec<u8>, running: &mut Running) {
    let frame = match Frame::read(line) {
        Ok(frame) => frame,
        Err(why) => {
            warn!("the client sent an invalid message: {}", why.unquoted);
            return hub.client.send(refusal::malformed(&why)).await;
        }
    };
    match frame.kind.clone() {
        Kind::Request(method) => request(hub, frame, &method, running).await,
        Kind::Notification(method) => notification(hub, &frame, &method),
        Kind::Result | Kind::Error | Kind::Unsure(_) => response(hub, &frame),
    }
}

async fn request(hub: &Arc<Hub>, frame: Frame, method: &str, running: &mut Running) {
    let Some(id) = frame.id().cloned() else { return };
    let raw_id = frame.raw_id().to_owned();
    if id.is_ours() || member::is_our_id(&id) {
        let why = format!("an id that begins with `{}` or `{}` is reserved", omen_mcp::OURS, member::OURS);
        return hub.refuse(method, &raw_id, INVALID_REQUEST, &why).await;
    }
    match hub.open.may_ask(&id) {
        Ok(()) => {}
        // An error under this id would be taken for the answer to the other request.
        Err(Unasked::InUse) => {
            return hub.refuse(method, "null", INVALID_REQUEST, &format!("the id `{id}` is in use")).await;
        }
        Err(Unasked::Full) => return hub.refuse(method, &raw_id, INTERNAL_ERROR, "too many requests are open").await,
    }
    if running.len() >= MOST_RUNNING {
        let why = format!("more than {MOST_RUNNING} requests are open");
        return hub.refuse(method, &raw_id, INTERNAL_ERROR, &why).await;
    }
    let era = hub.session.sees(&frame);
    match method {
        "initialize" if !hub.session.begins(&frame) => {
            return hub.refuse(method, &raw_id, INVALID_REQUEST, "the session is initialized already").await;
        }
        "initialize" => return answer(hub, &id, running, handshake::initialize(Arc::clone(hub), frame)),
        "ping" => return hub.client.send(empty(&raw_id, era)).await,
        _ => {}
    }
    let Some(era) = era else {
        let why = "the session is not initialized; send `initialize`, or the version of the protocol in `_meta`";
        return hub.refuse(method, &raw_id, INVALID_REQUEST, why).await;
    };
    if let Some(list) = List::of(method) {
        if place(&frame, "cursor").is_some() {
            let why = "invalid `cursor`: the list of several servers is one page; leave it out";
            return hub.refuse(method, &raw_id, INVALID_PARAMS, why).await;
        }
        return answer(hub, &id, running, lists::list(Arc::clone(hub), frame, list, era));
    }
    match method {
        "server/discover" => answer(hub, &id, running, handshake::discover(Arc::clone(hub), frame)),
        "tools/call" => calls::call(hub, &frame, era).await,
        "prompts/get" => prompts::get(hub, &frame).await,
        "completion/complete" => owners::complete(hub, frame, running).await,
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => {
            owners::resource(hub, frame, running).await
        }
        "logging/setLevel" => answer(hub, &id, running, everywhere(Arc::clone(hub), frame, era)),
        "subscriptions/listen" => listening::listen(hub, &frame).await,
        other => {
            let why = format!(
                "`{}` cannot be sent to one of several servers ({}): nothing in it says to which",
                bounded(other),
                hub.names()
            );
            hub.refuse(method, &raw_id, METHOD_NOT_FOUND, &why).await;
        }
    }
}

/// Answers a request in a task of its own. Its line is sent if nobody has cancelled it.
fn answer(hub: &Arc<Hub>, id: &Id, running: &mut Running, line: impl Future<Output = Vec<u8>> + Send + 'static) {
    let (own_hub, own) = (Arc::clone(hub), id.clone());
    hub.open.ask_task(id.clone(), || {
        running.spawn_in_span(async move {
            let line = line.await;
            if own_hub.open.take_task(&own) {
                own_hub.client.send(line).await;
            }
        })
    });
}

/// Asks all servers the same, and answers when the last one has.
async fn everywhere(hub: Arc<Hub>, frame: Frame, era: Era) -> Vec<u8> {
    let mut asking = JoinSet::new();
    for server in hub.live() {
        let (hub, frame) = (Arc::clone(&hub), frame.clone());
        asking.spawn_in_span(async move {
            let member = hub.members.get(server).filter(|member| member.has("logging") != Some(false))?;
            let answer = member.ask(hub.limits.answer, |id| frame.with_id(id)).await;
            if let Err(why) = &answer {
                warn!("{}: {why}", member.name);
            }
            answer.ok()
        });
    }
    let answers: Vec<_> = asking.join_all().await.into_iter().flatten().collect();
    match answers.iter().find(|answer| answer.kind != Kind::Result) {
        Some(error) if answers.iter().all(|answer| answer.kind != Kind::Result) => error.with_id(frame.raw_id()),
        None if answers.is_empty() => {
            let why = "no server has answered; check that it keeps a log that has levels";
            refusal::error(frame.raw_id(), INTERNAL_ERROR, why)
        }
        _ => empty(frame.raw_id(), Some(era)),
    }
}

fn empty(raw_id: &str, era: Option<Era>) -> Vec<u8> {
    let result = if era == Some(Era::Stateless) { "{\"resultType\":\"complete\"}" } else { "{}" };
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{raw_id},\"result\":{result}}}").into_bytes()
}

fn notification(hub: &Hub, frame: &Frame, method: &str) {
    match method {
        "notifications/initialized" | "notifications/roots/list_changed" => {
            hub.live().into_iter().for_each(|server| to(hub, server, frame.text()));
        }
        "notifications/cancelled" => {
            let Some(id) = frame.requested() else { return };
            if id.is_ours() {
                return warn!("the client tried to cancel a request of a server");
            }
            if let Cancelled::At(servers) = hub.open.cancel(&id) {
                servers.into_iter().for_each(|server| to(hub, server, frame.text()));
            }
        }
        "notifications/progress" => {
            let span = place(frame, "progressToken");
            let number = span.clone().and_then(|span| Id::read(frame.raw(span))?.ours());
            let asked = number.and_then(|number| hub.open.asked(number));
            match (span, asked) {
                (Some(span), Some(asked)) if asked.raw_token.is_some() => {
                    let token = asked.raw_token.unwrap_or_default();
                    to(hub, asked.server, edited(frame.text(), vec![(span, token)]));
                }
                _ => {
                    warn!("dropped progress of the client: no open request of a server has its token")
                }
            }
        }
        other => {
            warn!("dropped the notification `{}` of the client: it names no server", bounded(other))
        }
    }
}

fn response(hub: &Hub, frame: &Frame) {
    let asked = frame.id().and_then(Id::ours).and_then(|number| hub.open.answered_by_client(number));
    match asked {
        Some(asked) => to(hub, asked.server, frame.with_id(&asked.raw_id)),
        None => warn!("the client answered a request that no server has made, or not any more"),
    }
}

/// Sends something that needs no answer.
fn to(hub: &Hub, server: usize, line: impl Into<Line>) {
    if let Some(member) = hub.members.get(server)
        && let Err(why) = member.send(line)
    {
        warn!("dropped a message of the client: {why}");
    }
}

/// So that what is asked at once is bounded.
const MOST_RUNNING: usize = 256;
