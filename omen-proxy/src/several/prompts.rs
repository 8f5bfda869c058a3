//! A prompt, by its prefixed name.

use std::sync::Arc;

use serde_json::Value;

use super::calls::name_of;
use super::hub::Hub;
use super::route;
use crate::from_client::{INTERNAL_ERROR, INVALID_PARAMS};
use omen_mcp::edit::edited;
use omen_mcp::frame::Frame;

/// Sends a request for a prompt to the server that its name begins with.
pub(super) async fn get(hub: &Arc<Hub>, frame: &Frame) {
    let (code, why) = match name_of(frame) {
        Err(why) => (INVALID_PARAMS, why),
        Ok((name, span)) => match route::by_name(hub, &name) {
            Err(why) => (INVALID_PARAMS, format!("the prompt {why}; the servers are {}", hub.names())),
            Ok((server, own)) => {
                let line = edited(frame.text(), vec![(span, Value::from(own).to_string())]);
                match route::send(hub, frame, server, line) {
                    Ok(()) => return,
                    Err(why) => (INTERNAL_ERROR, why.to_string()),
                }
            }
        },
    };
    hub.refuse("prompts/get", frame.raw_id(), code, &why).await;
}
