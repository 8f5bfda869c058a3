//! A call of a tool, by its prefixed name. The server's own session judges it under the tool's own name.

use std::sync::Arc;

use omen_gate::{Blocked, GateCode};
use serde_json::Value;

use super::hub::Hub;
use super::route;
use crate::from_client::INVALID_PARAMS;
use omen_mcp::edit::edited;
use omen_mcp::frame::{Frame, similar};
use omen_mcp::handshake::Era;
use omen_mcp::json;

/// Sends a call to the server that its name begins with.
pub(super) async fn call(hub: &Arc<Hub>, frame: &Frame, era: Era) {
    let (name, span) = match name_of(frame) {
        Ok(found) => found,
        Err(why) => return hub.refuse("tools/call", frame.raw_id(), INVALID_PARAMS, &why).await,
    };
    let refused = match route::by_name(hub, &name) {
        Ok((server, own)) => {
            let line = edited(frame.text(), vec![(span, Value::from(own).to_string())]);
            match route::send(hub, frame, server, line) {
                Ok(()) => return,
                Err(why) => {
                    Blocked::new(GateCode::R3, why.to_string(), "use the tools of another server, or try again later")
                        .unquoted_as("the server of a tool cannot be reached")
                }
            }
        }
        Err(why) => {
            let help = format!(
                "call a tool by the name that it is listed by, as SERVER__TOOL; the servers are {}",
                hub.names()
            );
            Blocked::new(GateCode::Pg3, format!("the tool {why}"), help)
                .unquoted_as("the name of a tool leads to no server")
        }
    };
    let line = hub.refused_call(frame.raw_id(), era, refused).await;
    hub.client.send(line).await;
}

/// The name that a request is about, and where it stands.
pub(super) fn name_of(frame: &Frame) -> Result<(String, std::ops::Range<usize>), String> {
    let members = frame.members().map_err(|flaw| flaw.to_string())?;
    if let Some(why) = members.iter().find_map(|member| similar(&member.key, &["name"])) {
        return Err(why);
    }
    let span = members.iter().find(|member| member.key == "name").map(|member| member.span.clone());
    let found = span.and_then(|span| Some((json::text(frame.text(), span.clone())?, span)));
    found.ok_or_else(|| "expected a string for `name`".to_owned())
}
