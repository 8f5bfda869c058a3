//! Requests sent to all servers at once.

use std::sync::Arc;

use tokio::task::JoinSet;
use tracing::warn;

use super::member::NoAnswer;
use super::shared::Hub;
use crate::messages::refusal::{self, INTERNAL_ERROR};
use crate::server::SpawnInSpan as _;
use omen_mcp::frame::{Frame, Kind};
use omen_mcp::handshake::Era;

/// Sends the same request to several servers at once, and waits for each as long as a server may take to start.
pub(super) async fn ask_all(
    hub: &Arc<Hub>,
    servers: impl IntoIterator<Item = usize>,
    frame: &Frame,
) -> Vec<(usize, Result<Frame, NoAnswer>)> {
    let mut asking = JoinSet::new();
    for server in servers {
        let (hub, frame) = (Arc::clone(hub), frame.clone());
        asking.spawn_in_span(async move {
            let member = hub.members.get(server)?;
            Some((server, member.ask(hub.limits.answer, |id| frame.with_id(id)).await))
        });
    }
    let mut answers: Vec<_> = asking.join_all().await.into_iter().flatten().collect();
    answers.sort_by_key(|(server, _)| *server);
    answers
}

/// Sends a request to all servers that support log levels, and answers when the last one has.
pub(super) async fn ask(hub: Arc<Hub>, frame: Frame, era: Era) -> Vec<u8> {
    let mut asked = hub.live();
    asked.retain(|server| hub.members.get(*server).is_some_and(|member| member.has("logging") != Some(false)));
    let mut answers = Vec::new();
    for (server, answer) in ask_all(&hub, asked, &frame).await {
        match answer {
            Ok(answer) => answers.push(answer),
            Err(why) => {
                warn!("{}: {why}", hub.members.get(server).map(|member| member.name.as_str()).unwrap_or_default())
            }
        }
    }
    match answers.iter().find(|answer| answer.kind != Kind::Result) {
        Some(error) if answers.iter().all(|answer| answer.kind != Kind::Result) => error.with_id(frame.raw_id()),
        None if answers.is_empty() => {
            let why = "no server has answered; check that it supports log levels";
            refusal::error(frame.raw_id(), INTERNAL_ERROR, why)
        }
        _ => empty(frame.raw_id(), Some(era)),
    }
}

/// Returns a result that says only that a request was answered.
pub(super) fn empty(raw_id: &str, era: Option<Era>) -> Vec<u8> {
    let result = if era == Some(Era::Stateless) { "{\"resultType\":\"complete\"}" } else { "{}" };
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{raw_id},\"result\":{result}}}").into_bytes()
}
