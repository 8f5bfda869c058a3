//! Messages from the client, and their routing to servers.

use std::sync::Arc;

use omen_gate::bounded;
use omen_gate::mcp::Line;
use serde_json::{Map, Value, json};
use tracing::warn;

use super::answer_tasks::{FULL, MOST_RUNNING, NOT_INITIALIZED, Running, answer, judge, method_of};
use super::open_requests::{CancelledRequest, NotForwarded, ResponseTarget, RoutedRequest, ServerRequest};
use super::shared::Hub;
use super::{broadcast, handshake, lists, routing};
use crate::client::own_requests::ResponseMatch;
use crate::messages::methods::{self, ACKNOWLEDGED, CALL, INITIALIZE, Method, Route, Side};
use crate::messages::refusal::{self, INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND};
use omen_mcp::edit::{edited, member, member as place};
use omen_mcp::frame::{Frame, INVALID_REQUEST, Kind};
use omen_mcp::handshake::Era;
use omen_mcp::methods::SUBSCRIPTION;
use omen_mcp::{Id, json};

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
        Kind::Notification(method) => notification(hub, &frame, &method).await,
        Kind::Result | Kind::Error | Kind::Unsure(_) => response(hub, &frame).await,
    }
}

async fn request(hub: &Arc<Hub>, frame: Frame, method: &str, running: &mut Running) {
    let Some(id) = frame.id().cloned() else { return };
    let raw_id = frame.raw_id().to_owned();
    if let Some(reserved) = reserved(hub, &id) {
        let why = format!("an id that begins with {reserved} is reserved");
        return hub.refuse(method, &raw_id, INVALID_REQUEST, &why).await;
    }
    if hub.open.has(&id) {
        // An error under this id would be taken for the answer to the other request.
        return hub.refuse(method, "null", INVALID_REQUEST, &format!("the id `{id}` is in use")).await;
    }
    if running.len() >= MOST_RUNNING {
        let why = format!("more than {MOST_RUNNING} requests are open");
        return hub.refuse(method, &raw_id, INTERNAL_ERROR, &why).await;
    }
    let era = hub.session.sees(&frame);
    if method == INITIALIZE && !hub.session.begins(&frame) {
        return hub.refuse(method, &raw_id, INVALID_REQUEST, "the session is already initialized").await;
    }
    let known = methods::request(method, Side::Client);
    match hub.members.as_slice() {
        [only] => {
            let Ok(session) = only.session() else { return };
            if known.is_some_and(|method| method.is_judged) {
                return judge(hub, &session, frame, era, true).await;
            }
            if methods::is_unknown_of_tools(method) {
                let why = format!("unknown method `{}` of tools", bounded(method));
                return hub.refuse(method, &raw_id, METHOD_NOT_FOUND, &why).await;
            }
            if let Err(why) = hub.settings.passages.request(method, Side::Client, &frame) {
                return hub.client.send(session.refused(&raw_id, why).await).await;
            }
            let to = RoutedRequest { server: session.place, token: None, is_handshake: method == INITIALIZE };
            match hub.open.ask(&id, to) {
                Ok(()) => session.upstream.send(frame.text()).await,
                Err(NotForwarded::Full) => hub.refuse(method, &raw_id, INTERNAL_ERROR, FULL).await,
                // Reported above.
                Err(NotForwarded::InUse) => {}
            }
        }
        _ => one_of_several(hub, frame, known, era, running).await,
    }
}

/// Sends a request to its server, or has all servers answer it.
async fn one_of_several(
    hub: &Arc<Hub>,
    frame: Frame,
    known: Option<&'static Method>,
    era: Option<Era>,
    running: &mut Running,
) {
    let (method, raw_id) = (method_of(&frame).to_owned(), frame.raw_id().to_owned());
    let refuse = async |code: i64, why: &str| hub.refuse(&method, &raw_id, code, why).await;
    let own = Arc::clone(hub);
    let era = match (known.map(|known| known.route), era) {
        (Some(Route::Handshake), _) => return answer(hub, running, &frame.clone(), handshake::initialize(own, frame)),
        (Some(Route::Answered), era) => return hub.client.send(broadcast::empty(&raw_id, era)).await,
        (_, None) => return refuse(INVALID_REQUEST, NOT_INITIALIZED).await,
        (_, Some(era)) => era,
    };
    match known.map(|known| known.route) {
        Some(Route::Discovery) => answer(hub, running, &frame.clone(), handshake::discover(own, frame)),
        Some(Route::List(_)) if place(&frame, "cursor").is_some() => {
            refuse(INVALID_PARAMS, "invalid `cursor`: the list of several servers is one page; omit it").await;
        }
        Some(Route::List(list)) => answer(hub, running, &frame.clone(), lists::list(own, frame, list, era)),
        Some(Route::ByName) if method == CALL => routing::call(hub, &frame, era).await,
        Some(Route::ByName) => routing::prompt(hub, &frame).await,
        Some(Route::ByReference) => routing::complete(hub, frame, running).await,
        Some(Route::ByUri) => routing::resource(hub, frame, running).await,
        Some(Route::ToAll) => answer(hub, running, &frame.clone(), broadcast::ask(own, frame, era)),
        Some(Route::Listening) => listen(hub, &frame).await,
        _ => {
            let why = format!(
                "`{}` cannot be sent to one of several servers ({}): nothing in it says which one",
                bounded(&method),
                hub.names()
            );
            refuse(METHOD_NOT_FOUND, &why).await;
        }
    }
}

/// Returns the prefixes of the proxy's own request ids, if this id has one of them.
fn reserved(hub: &Hub, id: &Id) -> Option<String> {
    let formerly = |id: &Id| matches!(id, Id::Text(text) if text.starts_with(OF_SEVERAL));
    match hub.is_alone() {
        true => id.is_ours().then(|| format!("`{}`", omen_mcp::OURS)),
        false => (id.is_ours() || formerly(id)).then(|| format!("`{}` or `{OF_SEVERAL}`", omen_mcp::OURS)),
    }
}

async fn notification(hub: &Hub, frame: &Frame, method: &str) {
    let route = methods::notification(method, Side::Client).map(|method| method.route);
    let mut at = Vec::new();
    if let Some(Route::ById) = route {
        let id = frame.requested();
        if id.as_ref().is_some_and(Id::is_ours) {
            return warn!("the client tried to cancel a request of the proxy or of a server");
        }
        // If a call is dropped, its server is notified under the id that it has seen.
        match id.map_or(CancelledRequest::Nothing, |id| hub.open.cancel(&id)) {
            CancelledRequest::Task => return,
            CancelledRequest::At(servers) => at = servers,
            CancelledRequest::Nothing => {}
        }
    }
    if let [only] = hub.members.as_slice() {
        if methods::is_unknown_of_tools(method) {
            return warn!("dropped the notification `{}` of the client", bounded(method));
        }
        if let Ok(session) = only.session() {
            session.upstream.send(frame.text()).await;
        }
        return;
    }
    match route {
        Some(Route::ToAll) => hub.live().into_iter().for_each(|server| to(hub, server, frame.text())),
        Some(Route::ById) => at.into_iter().for_each(|server| to(hub, server, frame.text())),
        Some(Route::ByToken) => {
            let span = place(frame, "progressToken");
            let number = span.clone().and_then(|span| Id::read(frame.raw(span))?.ours());
            match (span, number.and_then(|number| hub.open.asked(number))) {
                (Some(span), Some(ServerRequest { server, raw_token: Some(token), .. })) => {
                    to(hub, server, edited(frame.text(), vec![(span, token)]));
                }
                _ => warn!("dropped progress of the client: no open request of a server has its token"),
            }
        }
        _ => warn!("dropped the notification `{}` of the client: it names no server", bounded(method)),
    }
}

async fn response(hub: &Hub, frame: &Frame) {
    let Some(id) = frame.id() else { return };
    let number = match hub.is_alone() {
        true => hub.open.number_of(0, id),
        false => id.ours(),
    };
    let Some(asked) = number.and_then(|number| hub.open.answered_by_client(number)) else {
        return match hub.client.answered(frame.clone()) {
            ResponseMatch::Open => {}
            ResponseMatch::Late if hub.is_alone() => {}
            _ if !hub.is_alone() => {
                warn!("the client answered a request that no server has made, or that is no longer open")
            }
            _ if id.is_ours() => warn!("the client answered a request that the proxy has not made"),
            _ => warn!("the client answered the unknown request `{id}`"),
        };
    };
    let line = match &frame.kind {
        Kind::Unsure(why) => {
            warn!("the client sent an invalid response: duplicate field");
            let why = format!("the client's response is malformed: {why}");
            refusal::error(&asked.raw_id, INTERNAL_ERROR, &why)
        }
        _ if hub.is_alone() => frame.text().as_bytes().to_vec(),
        // The server no longer waits for the answer, and the request's number was taken back.
        _ if asked.is_cancelled => {
            return warn!("the client answered a request that no server has made, or that is no longer open");
        }
        _ => frame.with_id(&asked.raw_id),
    };
    match hub.members.get(asked.server).filter(|_| hub.is_alone()).map(super::member::Member::session) {
        Some(Ok(session)) => session.upstream.send(line).await,
        Some(Err(_)) => {}
        None => to(hub, asked.server, line),
    }
}

/// Sends a message that needs no answer.
fn to(hub: &Hub, server: usize, line: impl Into<Line>) {
    if let Some(member) = hub.members.get(server)
        && let Err(why) = member.send(line)
    {
        warn!("dropped a message of the client: {why}");
    }
}

/// Prefix that the proxy formerly used for other ids in front of several servers.
const OF_SEVERAL: &str = "omen-several:";

/// Sends the request to all servers under its own id, and acknowledges it for them: they need not answer simultaneously.
async fn listen(hub: &Arc<Hub>, frame: &Frame) {
    let Some(id) = frame.id().cloned() else { return };
    let filter = member(frame, "notifications").and_then(|span| json::object(frame.text(), span).ok());
    let filter = match agreed(filter.as_ref()) {
        Ok(filter) => filter,
        Err(why) => return hub.refuse(method_of(frame), frame.raw_id(), INVALID_PARAMS, why).await,
    };
    // Other parameters could ask for more than the filter shows.
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
            warn!("cannot forward the client's subscription to a server: {why}");
            if hub.open.answered(&id, server) == (ResponseTarget::Client { is_handshake: false }) {
                hub.client.send(refusal::error(frame.raw_id(), INTERNAL_ERROR, &why.to_string())).await;
            }
        }
    }
}

/// Returns what is agreed to: notifications of changed lists. Subscribing to a resource would require its one server.
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
                    "with several servers, a client can listen only to changes of lists; omit the rest, or run a \
                     separate proxy for the server of a resource",
                );
            }
        }
    }
    Ok(agreed)
}

const LISTS: [&str; 3] = ["toolsListChanged", "promptsListChanged", "resourcesListChanged"];
