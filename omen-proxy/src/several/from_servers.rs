//! What comes from the session with one server, for the client. It is judged already.

use std::sync::Arc;

use omen_gate::bounded;
use omen_gate::mcp::Lines;
use tokio::io::AsyncRead;
use tokio::task::consume_budget;
use tracing::warn;

use super::hub::Hub;
use super::member;
use super::open::{Asked, To};
use crate::asked::Answered;
use omen_mcp::Id;
use omen_mcp::edit::{edited, member, meta};
use omen_mcp::frame::{Frame, Kind};
use omen_mcp::json;

/// By which of its requests a client knows a notification of a subscription.
pub(super) const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// Reads to the end of a session with a server.
pub(super) async fn read(hub: Arc<Hub>, server: usize, session: u64, from: impl AsyncRead + Unpin) {
    // The proxy's own lines are bounded where they are made.
    let mut lines = Lines::new(from, usize::MAX);
    while let Ok(Some(line)) = lines.next().await {
        consume_budget().await;
        if !hub.members.get(server).is_some_and(|member| member.is_in(session)) {
            return;
        }
        match Frame::read(line) {
            Ok(frame) => message(&hub, server, frame).await,
            Err(malformed) => note(&hub, server, &format!("dropped a message: {}", malformed.unquoted)),
        }
    }
}

async fn message(hub: &Hub, server: usize, frame: Frame) {
    match frame.kind.clone() {
        Kind::Request(_) => request(hub, server, &frame).await,
        Kind::Notification(method) => {
            if let Some(line) = notification(hub, server, &frame, &method) {
                hub.client.send(line).await;
            }
        }
        Kind::Result | Kind::Error | Kind::Unsure(_) => response(hub, server, frame).await,
    }
}

/// Two servers may choose the same id, or the same token for progress: the client gets others.
async fn request(hub: &Hub, server: usize, frame: &Frame) {
    let Some(id) = frame.id().cloned() else { return };
    let token = meta(frame, "progressToken");
    let number = hub.open.ask_client(Asked {
        server,
        id,
        raw_id: frame.raw_id().to_owned(),
        raw_token: token.clone().map(|span| frame.raw(span).to_owned()),
    });
    let edits = frame.id_span().into_iter().chain(token).map(|span| (span, Id::write(number))).collect();
    hub.client.send(edited(frame.text(), edits)).await;
}

/// The line for the client, if there is one.
fn notification(hub: &Hub, server: usize, frame: &Frame, method: &str) -> Option<String> {
    let as_it_is = || frame.text().to_owned();
    let dropped = |why: &str| {
        note(hub, server, &format!("dropped the notification `{}`: {why}", bounded(method)));
        None
    };
    if let Some(span) = meta(frame, SUBSCRIPTION) {
        let listens = Id::read(frame.raw(span)).is_some_and(|id| hub.open.listens(&id, server));
        // That the client listens was acknowledged for all servers at once.
        return match (listens, method) {
            (true, "notifications/subscriptions/acknowledged") => None,
            (true, _) => Some(as_it_is()),
            (false, _) => dropped("the client does not listen to it"),
        };
    }
    match method {
        "notifications/progress" => {
            let token = member(frame, "progressToken").and_then(|span| Id::read(frame.raw(span)));
            match token.is_some_and(|token| hub.open.has_token(&token, server)) {
                true => Some(as_it_is()),
                false => dropped("no request of this server has its token"),
            }
        }
        "notifications/cancelled" => {
            let (id, span) = (frame.requested()?, member(frame, "requestId")?);
            if let Some(number) = hub.open.number_of(server, &id) {
                hub.open.answered_by_client(number);
                return Some(edited(frame.text(), vec![(span, Id::write(number))]));
            }
            // A server ends a subscription with it.
            let ends = hub.open.listens(&id, server) && hub.open.answered(&id, server) == To::Client;
            ends.then(as_it_is)
        }
        "notifications/resources/updated" => {
            let uri = member(frame, "uri").and_then(|span| json::text(frame.text(), span)).unwrap_or_default();
            let owners = hub.listings.owners(&uri);
            match owners.is_empty() || owners.contains(&server) {
                true => Some(as_it_is()),
                false => dropped("the resource belongs to another server"),
            }
        }
        "notifications/resources/list_changed" => {
            hub.listings.forget(server);
            Some(as_it_is())
        }
        _ => Some(as_it_is()),
    }
}

async fn response(hub: &Hub, server: usize, frame: Frame) {
    let Some(id) = frame.id().cloned() else { return };
    if member::is_our_id(&id) {
        let answered = hub.members.get(server).map(|member| member.answered(frame));
        if answered != Some(Answered::Open) {
            note(hub, server, "answered a request that nobody waits for");
        }
        return;
    }
    match hub.open.answered(&id, server) {
        To::Client => hub.client.send(frame.text()).await,
        To::OneOfSeveral | To::Late => {}
        To::Nothing => note(hub, server, &format!("dropped an answer to `{id}`, which it has not been asked")),
    }
}

fn note(hub: &Hub, server: usize, what: &str) {
    if let Some(member) = hub.members.get(server) {
        warn!("{}: {what}", member.name);
    }
}
