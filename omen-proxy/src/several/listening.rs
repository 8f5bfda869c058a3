//! `subscriptions/listen` (2026-07-28): the client listens to all servers by one request.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tracing::warn;

use super::from_servers::SUBSCRIPTION;
use super::hub::Hub;
use super::open::{To, Waiting};
use crate::from_client::{INTERNAL_ERROR, INVALID_PARAMS};
use crate::refusal;
use omen_mcp::edit::member;
use omen_mcp::frame::Frame;
use omen_mcp::json;

/// Sends the request to all servers, under its own id, and acknowledges it for them: they need not answer at the same time.
pub(super) async fn listen(hub: &Arc<Hub>, frame: &Frame) {
    let Some(id) = frame.id().cloned() else { return };
    let filter = member(frame, "notifications").and_then(|span| json::object(frame.text(), span).ok());
    let filter = match agreed(filter.as_ref()) {
        Ok(filter) => filter,
        Err(why) => return hub.refuse("subscriptions/listen", frame.raw_id(), INVALID_PARAMS, why).await,
    };
    let servers = hub.live().into_iter().collect();
    hub.open.ask(id.clone(), Waiting::Listening { servers, is_cancelled: false });
    let params = json!({ "notifications": filter });
    let params = params.to_string();
    let rest = params.strip_prefix('{').unwrap_or_default();
    let head = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\"";
    let meta = format!("{{\"{SUBSCRIPTION}\":{}}}", frame.raw_id());
    hub.client.send(format!("{head},\"params\":{{\"_meta\":{meta},{rest}}}")).await;
    for server in hub.live() {
        if let Some(member) = hub.members.get(server)
            && let Err(why) = member.send(frame.text())
        {
            warn!("the client does not listen to a server: {why}");
            if hub.open.answered(&id, server) == To::Client {
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
