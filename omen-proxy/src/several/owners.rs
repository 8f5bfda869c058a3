//! Requests about resources, which have no server's name in them: they go to the server that the resource belongs to.

use std::ops::Range;
use std::sync::Arc;

use omen_gate::bounded;
use serde_json::Value;

use super::hub::Hub;
use super::lists;
use super::names;
use super::route::{self, routed};
use crate::from_client::{INTERNAL_ERROR, INVALID_PARAMS};
use crate::shared::SpawnInSpan as _;
use omen_mcp::edit::edited;
use omen_mcp::frame::{Frame, Kind, similar};
use omen_mcp::json;
use tokio::task::JoinSet;

/// Sends a request about a resource to its server, once it is known which one lists it.
pub(super) async fn resource(hub: &Arc<Hub>, frame: Frame, running: &mut JoinSet<()>) {
    match text_of(&frame, None, "uri") {
        Ok((uri, _)) => find(hub, frame, uri, false, running),
        Err(why) => hub.refuse(method(&frame), frame.raw_id(), INVALID_PARAMS, &why).await,
    }
}

/// Sends a request for completions to the server of the prompt, or of the resource, that they are about.
pub(super) async fn complete(hub: &Arc<Hub>, frame: Frame, running: &mut JoinSet<()>) {
    let refused = match reference(&frame) {
        Ok(Reference::Prompt(name, span)) => match route::by_name(hub, &name) {
            Err(why) => (INVALID_PARAMS, format!("the prompt {why}; the servers are {}", hub.names())),
            Ok((server, own)) => {
                let line = edited(frame.text(), vec![(span, Value::from(own).to_string())]);
                match route::send(hub, &frame, server, line) {
                    Ok(()) => return,
                    Err(why) => (INTERNAL_ERROR, why.to_string()),
                }
            }
        },
        Ok(Reference::Resource(uri)) => return find(hub, frame, uri, true, running),
        Err(why) => (INVALID_PARAMS, why),
    };
    hub.refuse(method(&frame), frame.raw_id(), refused.0, &refused.1).await;
}

/// Finds the server in a task of its own, since servers may have to list their resources first.
fn find(hub: &Arc<Hub>, frame: Frame, uri: String, may_be_template: bool, running: &mut JoinSet<()>) {
    let Some(id) = frame.id().cloned() else { return };
    let own = Arc::clone(hub);
    hub.open.ask_task(id.clone(), || {
        running.spawn_in_span(async move {
            let hub = own;
            lists::know_resources(&hub, &frame).await;
            let refused = match owner(&hub, &uri, may_be_template) {
                Err(why) => Some((INVALID_PARAMS, why)),
                // Somebody may have cancelled it by now.
                Ok(server) if !hub.open.hand_over(&id, routed(&frame, server)) => None,
                Ok(server) => match hub.members.get(server).map(|member| member.send(frame.text())) {
                    Some(Err(why)) => Some((INTERNAL_ERROR, why.to_string())),
                    _ => None,
                },
            };
            if let Some((code, why)) = refused {
                hub.open.unasked(&id);
                hub.refuse(method(&frame), frame.raw_id(), code, &why).await;
            }
        })
    });
}

/// The only server that a resource can belong to.
fn owner(hub: &Hub, uri: &str, may_be_template: bool) -> Result<usize, String> {
    let mut owners = hub.listings.owners(uri);
    if may_be_template {
        let listed = hub.listings.owners_of_template(uri);
        owners = if listed.is_empty() { owners } else { listed };
    }
    owners.retain(|server| hub.members.get(*server).is_some_and(super::member::Member::is_live));
    match owners.as_slice() {
        [only] => Ok(*only),
        [] => Err(format!(
            "no server lists the resource `{}`, and it fits no template of one; list the resources, and use one of those",
            bounded(uri)
        )),
        several => Err(format!(
            "the resource `{}` could be of {}; reach one of these servers by a proxy of its own",
            bounded(uri),
            names::shown(several.iter().filter_map(|server| route::name(hub, *server)))
        )),
    }
}

enum Reference {
    Prompt(String, Range<usize>),
    Resource(String),
}

/// What completions are about.
fn reference(frame: &Frame) -> Result<Reference, String> {
    let members = frame.members().map_err(|flaw| flaw.to_string())?;
    if let Some(why) = members.iter().find_map(|member| similar(&member.key, &["ref"])) {
        return Err(why);
    }
    let at = members.iter().find(|member| member.key == "ref").map(|member| member.span.clone());
    let at = at.ok_or("missing field `ref`")?;
    match text_of(frame, Some(at.clone()), "type")?.0.as_str() {
        "ref/prompt" => text_of(frame, Some(at), "name").map(|(name, span)| Reference::Prompt(name, span)),
        "ref/resource" => text_of(frame, Some(at), "uri").map(|(uri, _)| Reference::Resource(uri)),
        other => Err(format!("invalid value `{}` for `type`; expected `ref/prompt` or `ref/resource`", bounded(other))),
    }
}

/// A text of the parameters, or of an object in them, and where it stands.
fn text_of(frame: &Frame, at: Option<Range<usize>>, key: &str) -> Result<(String, Range<usize>), String> {
    let members = match at {
        Some(at) => json::members(frame.text(), at),
        None => frame.members(),
    };
    let members = members.map_err(|flaw| flaw.to_string())?;
    if let Some(why) = members.iter().find_map(|member| similar(&member.key, &[key])) {
        return Err(why);
    }
    let span = members.iter().find(|member| member.key == key).map(|member| member.span.clone());
    let found = span.and_then(|span| Some((json::text(frame.text(), span.clone())?, span)));
    found.ok_or_else(|| format!("expected a string for `{key}`"))
}

fn method(frame: &Frame) -> &str {
    match &frame.kind {
        Kind::Request(method) => method,
        _ => "",
    }
}
