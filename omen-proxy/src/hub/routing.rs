//! Routing of client requests that one of several servers answers, under the same id.

use std::ops::Range;
use std::sync::Arc;

use omen_gate::{Blocked, GateCode, bounded};
use serde_json::Value;

use super::answer_tasks::{FULL, Running, judge, method_of, routed};
use super::lists;
use super::shared::Hub;
use crate::client::names;
use crate::messages::methods::Side;
use crate::messages::refusal::{INTERNAL_ERROR, INVALID_PARAMS};
use crate::server::SpawnInSpan as _;
use omen_mcp::edit::edited;
use omen_mcp::frame::{Frame, similar};
use omen_mcp::handshake::Era;
use omen_mcp::json;

/// Reason why a name leads to no server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum NoServer {
    #[error("`{0}` begins with no server's name")]
    NoPrefix(String),
    #[error("`{0}` names a server that does not exist here")]
    Unknown(String),
}

/// Returns the server to which a prefixed name leads, and the name that the server knows.
fn by_name<'n>(hub: &Hub, name: &'n str) -> Result<(usize, &'n str), NoServer> {
    let (server, own) = names::split(name).ok_or_else(|| NoServer::NoPrefix(bounded(name)))?;
    let place = hub.members.iter().position(|member| member.name.as_str() == server);
    Ok((place.ok_or_else(|| NoServer::Unknown(bounded(name)))?, own))
}

/// Judges a call of a tool by its prefixed name, at the server named by the prefix, under the tool's own name.
pub(super) async fn call(hub: &Arc<Hub>, frame: &Frame, era: Era) {
    let (name, span) = match text_of(frame, None, "name") {
        Ok(found) => found,
        Err(why) => return hub.refuse(method_of(frame), frame.raw_id(), INVALID_PARAMS, &why).await,
    };
    // A tool of the episode belongs to no server; the session of any server can judge its call.
    if hub.episodes.as_ref().is_some_and(|episodes| episodes.own(&name).is_some())
        && let Some(session) = hub.members.iter().find_map(|member| member.session().ok())
    {
        return judge(hub, &session, frame.clone(), Some(era), true).await;
    }
    let refused = match by_name(hub, &name) {
        Ok((server, own)) => match hub.members.get(server).map(|member| member.session()) {
            Some(Ok(session)) => {
                let line = edited(frame.text(), vec![(span, Value::from(own).to_string())]);
                // INVARIANT: the line was read before, and the new name is a string too.
                let Ok(frame) = Frame::read(line.into_bytes()) else { return };
                return judge(hub, &session, frame, Some(era), false).await;
            }
            Some(Err(why)) => {
                Blocked::new(GateCode::R3, why.to_string(), "use the tools of another server, or try again later")
                    .unquoted_as("the server of a tool cannot be reached")
            }
            None => return,
        },
        Err(why) => {
            let help = format!("call a tool by its listed name, SERVER__TOOL; the servers are {}", hub.names());
            Blocked::new(GateCode::Pg3, format!("the tool {why}"), help)
                .unquoted_as("the name of a tool matches no server")
        }
    };
    let line = hub.refused_call(frame.raw_id(), era, refused).await;
    hub.client.send(line).await;
}

/// Sends a prompt request to the server named by the prefix.
pub(super) async fn prompt(hub: &Arc<Hub>, frame: &Frame) {
    match text_of(frame, None, "name") {
        Ok((name, span)) => named(hub, frame, &name, span).await,
        Err(why) => hub.refuse(method_of(frame), frame.raw_id(), INVALID_PARAMS, &why).await,
    }
}

/// Sends a request about a prompt to the server named by the prompt's prefix.
async fn named(hub: &Arc<Hub>, frame: &Frame, name: &str, span: Range<usize>) {
    match by_name(hub, name) {
        Ok((server, own)) => {
            send(hub, frame, server, edited(frame.text(), vec![(span, Value::from(own).to_string())])).await;
        }
        Err(why) => {
            let why = format!("the prompt {why}; the servers are {}", hub.names());
            hub.refuse(method_of(frame), frame.raw_id(), INVALID_PARAMS, &why).await;
        }
    }
}

/// Sends a request to a server as this line.
async fn send(hub: &Hub, frame: &Frame, server: usize, line: String) {
    let (Some(id), Some(member)) = (frame.id(), hub.members.get(server)) else { return };
    let refuse = async |why: &str| hub.refuse(method_of(frame), frame.raw_id(), INTERNAL_ERROR, why).await;
    let session = match member.session() {
        Ok(session) => session,
        Err(why) => return refuse(&why.to_string()).await,
    };
    if let Err(why) = hub.settings.passages.request(method_of(frame), Side::Client, frame) {
        return hub.client.send(session.refused(frame.raw_id(), why).await).await;
    }
    if hub.open.ask(id, routed(frame, server)).is_err() {
        return refuse(FULL).await;
    }
    if let Err(why) = member.send(line) {
        hub.open.unasked(id);
        refuse(&why.to_string()).await;
    }
}

/// Sends a request about a resource to its server, once it is known which server lists it.
pub(super) async fn resource(hub: &Arc<Hub>, frame: Frame, running: &mut Running) {
    match text_of(&frame, None, "uri") {
        Ok((uri, _)) => find(hub, frame, uri, false, running),
        Err(why) => hub.refuse(method_of(&frame), frame.raw_id(), INVALID_PARAMS, &why).await,
    }
}

/// Sends a completion request to the server of the prompt or the resource that it is about.
pub(super) async fn complete(hub: &Arc<Hub>, frame: Frame, running: &mut Running) {
    match reference(&frame) {
        Ok(Reference::Prompt(name, span)) => named(hub, &frame, &name, span).await,
        Ok(Reference::Resource(uri)) => find(hub, frame, uri, true, running),
        Err(why) => hub.refuse(method_of(&frame), frame.raw_id(), INVALID_PARAMS, &why).await,
    }
}

/// Finds the server in a separate task, because servers may have to list their resources first.
fn find(hub: &Arc<Hub>, frame: Frame, uri: String, may_be_template: bool, running: &mut Running) {
    let Some(id) = frame.id().cloned() else { return };
    let own = Arc::clone(hub);
    hub.open.ask_task(id.clone(), None, || {
        running.spawn_in_span(async move {
            let hub = own;
            lists::know_resources(&hub, &frame).await;
            // Someone may have cancelled the request in the meantime.
            if !hub.open.take_task(&id) {
                return;
            }
            match owner(&hub, &uri, may_be_template) {
                Ok(server) => send(&hub, &frame, server, frame.text().to_owned()).await,
                Err(why) => hub.refuse(method_of(&frame), frame.raw_id(), INVALID_PARAMS, &why).await,
            }
        })
    });
}

/// Returns the only server to which a resource can belong.
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
            "no server lists the resource `{}`, and no template matches it; list the resources, and use one of those",
            bounded(uri)
        )),
        several => Err(format!(
            "the resource `{}` is ambiguous: it may belong to {}; run a separate proxy for one of these servers",
            bounded(uri),
            names::shown(several.iter().filter_map(|server| Some(&hub.members.get(*server)?.name)))
        )),
    }
}

enum Reference {
    Prompt(String, Range<usize>),
    Resource(String),
}

/// Returns the prompt or resource that completions are about.
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

/// Returns a text in the parameters, or in an object within them, and its range.
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
