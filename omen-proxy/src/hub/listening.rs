//! `subscriptions/listen` (2026-07-28): the client listens to all servers by one request.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tracing::warn;

use super::answers::{FULL, method_of};
use super::from_server::SUBSCRIPTION;
use super::open::To;
use super::shared::Hub;
use crate::methods::{ACKNOWLEDGED, Side};
use crate::refusal::{self, INTERNAL_ERROR, INVALID_PARAMS};
use omen_mcp::edit::member;
use omen_mcp::frame::Frame;
use omen_mcp::json;

/// Sends the request to all servers, under its own id, and acknowledges it for them: they need not answer at the same time.
pub(super) async fn listen(hub: &Arc<Hub>, frame: &Frame) {
    let Some(id) = frame.id().cloned() else { return };
    let filter = member(frame, "notifications").and_then(|span| json::object(frame.text(), span).ok());
    let filter = match agreed(filter.as_ref()) {
        Ok(filter) => filter,
        Err(why) => return hub.refuse(method_of(frame), frame.raw_id(), INVALID_PARAMS, why).await,
    };
    // What else the parameters say could ask for more than the filter shows.
    if let Err(why) = hub.settings.passages.request(method_of(frame), Side::Client, frame)
        && let Some(session) = hub.members.iter().find_map(|member| member.session().ok())
    {
        return hub.client.send(session.refused(frame.raw_id(), why).await).await;
    }
    if hub.open.listen(&id, hub.live().into_iter().collect()).is_err() {
        return hub.refuse(method_of(frame), frame.raw_id(), INTERNAL_ERROR, FULL).await;
    }
    let params = json!({ "notifications": filter });
    let params = params.to_string();
    let rest = params.strip_prefix('{').unwrap_or_default();
    let head = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{ACKNOWLEDGED}\"");
    let meta = format!("{{\"{SUBSCRIPTION}\":{}}}", frame.raw_id());
    hub.client.send(format!("{head},\"params\":{{\"_meta\":{meta},{rest}}}")).await;
    for server in hub.live() {
        if let Some(member) = hub.members.get(server)
            && let Err(why) = member.send(frame.text())
        {
            warn!("the client does not listen to a server: {why}");
            if hub.open.answered(&id, server) == (To::Client { is_handshake: false }) {
                hub.client.send(refusal::error(frame.raw_id(), INTERNAL_ERROR, &why.to_string())).await;
            }
        }
    }
}

/// What is agreed to: that lists change. A resource would have to be asked of the one server that it belongs to.
fn agreed(filter: Option<&Map<String, Value>>) -> Result<Map<String, Value>, &'static str> {
    let filter = filter.ok_or("expected an object for `notifications`")?;
    let mut agreed = Map::new();
    for (name, value) in filter {
        match value {
            Value::Null | Value::Bool(false) => {}
            Value::Array(items) if items.is_empty() => {}
            Value::Bool(true) if LISTS.contains(&name.as_str()) => {
                agreed.insert(name.clone(), true.into());
            }
            _ => {
                return Err(
                    "with several servers a client can listen to changes of lists only; leave out the rest, or reach the \
                            server of a resource by a proxy of its own",
                );
            }
        }
    }
    Ok(agreed)
}

const LISTS: [&str; 3] = ["toolsListChanged", "promptsListChanged", "resourcesListChanged"];
