//! Lists of all servers merged into one: all pages of each, and each item with all its bytes except its name.

use std::collections::BTreeSet;
use std::sync::Arc;

use omen_gate::mcp::fault_of;
use omen_gate::{Blocked, Fault, GateCode, bounded};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};
use tracing::warn;

use super::member::NoAnswer;
use super::shared::Hub;
use crate::client::names::{self, LONGEST, prefixed};
use crate::messages::methods::{List, RESOURCES, TEMPLATES, TOOLS};
use crate::messages::refusal::{self, INTERNAL_ERROR, METHOD_NOT_FOUND};
use crate::server::SpawnInSpan as _;
use omen_mcp::edit::{edited, member};
use omen_mcp::frame::{Frame, Kind, similar};
use omen_mcp::handshake::Era;
use omen_mcp::json;

#[derive(Debug, Default)]
struct ServerItems {
    items: Vec<String>,
    ids: BTreeSet<String>,
    bytes: usize,
    /// Time for which the list may be cached, and by whom (2026-07-28): the minimum over all pages.
    ttl: Option<u64>,
    is_public: bool,
}

/// Reason why a server's list is missing.
enum NotListed {
    None,
    Error(Frame),
    Other(String),
}

/// Returns the line for a client that has asked for a list.
pub(super) async fn list(hub: Arc<Hub>, frame: Frame, list: &'static List, era: Era) -> Vec<u8> {
    let raw_id = frame.raw_id().to_owned();
    let (listed, error, left_out) = all(&hub, &frame, list).await;
    for (server, why) in left_out {
        let message = format!("the list of `{server}` is omitted: {why}");
        let unquoted = format!("the list of a server is omitted from `{}`", list.method);
        warn!("omitted from `{}`: {server}: {why}", list.method);
        let why = Blocked::new(GateCode::R3, message, "check the server, and list again").unquoted_as(unquoted);
        if let Err(unrecorded) = hub.gate.refused(&hub.turn, &why).await {
            return refusal::error(&raw_id, INTERNAL_ERROR, &unrecorded.to_string());
        }
    }
    if listed.is_empty() {
        return match error {
            Some(error) => error.with_id(&raw_id),
            None => refusal::error(&raw_id, INTERNAL_ERROR, "no server can list anything now; try again later"),
        };
    }
    let mut line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{raw_id},\"result\":{{\"{}\":[", list.key);
    let items: Vec<_> = listed.iter().flat_map(|listed| &listed.items).map(String::as_str).collect();
    line += &items.join(",");
    line.push(']');
    if era == Era::Stateless {
        let ttl = listed.iter().filter_map(|listed| listed.ttl).min().unwrap_or_default();
        let scope = if listed.iter().all(|listed| listed.is_public) { "public" } else { "private" };
        line += &format!(",\"resultType\":\"complete\",\"ttlMs\":{ttl},\"cacheScope\":\"{scope}\"");
    }
    line += "}}";
    match &hub.episodes {
        Some(episodes) if list.key == TOOLS.key => {
            let failed = |fault: Fault| {
                refusal::error(&raw_id, INTERNAL_ERROR, &format!("cannot list the tools: {}", fault.typed()))
            };
            episodes.list_all(line.into_bytes()).unwrap_or_else(failed)
        }
        _ => line.into_bytes(),
    }
}

/// Lists the resources of servers whose resources are not yet known.
pub(super) async fn know_resources(hub: &Arc<Hub>, frame: &Frame) {
    for list in [&RESOURCES, &TEMPLATES] {
        if hub.live().into_iter().any(|server| !hub.listings.is_known(server)) {
            let (_, _, left_out) = all(hub, frame, list).await;
            for (server, why) in left_out {
                warn!("omitted from `{}`: {server}: {why}", list.method);
            }
        }
    }
}

type LeftOut = Vec<(String, String)>;

/// Asks all servers at once. A slow server is left out, and delays the others no longer than its own time limit.
async fn all(hub: &Arc<Hub>, frame: &Frame, list: &'static List) -> (Vec<ServerItems>, Option<Frame>, LeftOut) {
    let mut asking = JoinSet::new();
    for server in hub.live() {
        let (hub, frame) = (Arc::clone(hub), frame.clone());
        asking.spawn_in_span(async move { (server, of_server(&hub, server, &frame, list).await) });
    }
    let mut answers = asking.join_all().await;
    answers.sort_by_key(|(server, _)| *server);
    let (mut listed, mut first_error, mut left_out) = (Vec::new(), None, Vec::new());
    for (server, answer) in answers {
        let Some(name) = hub.members.get(server).map(|member| member.name.to_string()) else { continue };
        let mut ids = BTreeSet::new();
        match answer {
            Ok(mut answer) => {
                ids = std::mem::take(&mut answer.ids);
                listed.push(answer);
            }
            Err(NotListed::None) => listed.push(ServerItems { is_public: true, ..ServerItems::default() }),
            Err(NotListed::Error(error)) => {
                left_out.push((name, fault_of(&error).to_string()));
                first_error.get_or_insert(error);
            }
            Err(NotListed::Other(why)) => left_out.push((name, why)),
        }
        match list.key {
            key if key == RESOURCES.key => hub.listings.set_uris(server, ids),
            key if key == TEMPLATES.key => hub.listings.set_templates(server, ids),
            _ => {}
        }
    }
    (listed, first_error, left_out)
}

async fn of_server(hub: &Hub, server: usize, frame: &Frame, list: &'static List) -> Result<ServerItems, NotListed> {
    let Some(member) = hub.members.get(server) else { return Err(NotListed::None) };
    if member.has(list.capability) == Some(false) {
        return Err(NotListed::None);
    }
    let until = Instant::now() + hub.limits.answer;
    let (mut listed, mut cursor, mut seen) =
        (ServerItems { is_public: true, ..ServerItems::default() }, None, BTreeSet::new());
    for _ in 0..hub.limits.pages {
        let params = params(frame, list, cursor.as_deref());
        let line = |id: &str| {
            let head = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{}\"", list.method);
            format!("{head},\"params\":{{{params}}}}}").into_bytes()
        };
        let slow = || NoAnswer::Slow(member.name.clone(), hub.limits.answer).to_string();
        let page = async {
            match list.key == TOOLS.key {
                true => member.ask_tools(hub.limits.answer, line).await,
                false => member.ask(hub.limits.answer, line).await,
            }
        };
        let page = timeout_at(until, page).await;
        let page = page.map_err(|_| NotListed::Other(slow()))?.map_err(|why| NotListed::Other(why.to_string()))?;
        if page.kind != Kind::Result {
            return Err(if is_unknown_method(&page) { NotListed::None } else { NotListed::Error(page) });
        }
        cursor = take(hub, server, &page, list, &mut listed).map_err(NotListed::Other)?;
        match &cursor {
            None => return Ok(listed),
            Some(next) if next.len() > LONGEST_CURSOR => {
                return Err(NotListed::Other("its cursor is too long".to_owned()));
            }
            Some(next) if !seen.insert(next.clone()) => return Err(NotListed::Other("it repeats a cursor".to_owned())),
            Some(_) => {}
        }
    }
    Err(NotListed::Other(format!("it lists more than {} pages", hub.limits.pages)))
}

/// Returns whether a method is unknown. A server without such a list need not say so beforehand.
fn is_unknown_method(page: &Frame) -> bool {
    page.kind == Kind::Error && member(page, "code").is_some_and(|code| page.raw(code) == METHOD_NOT_FOUND.to_string())
}

/// Returns the client's parameters with the cursor of a page. When resources are listed on behalf of another method, only the
/// `_meta` of that method's parameters is kept, which says who asks.
fn params(frame: &Frame, list: &'static List, cursor: Option<&str>) -> String {
    let is_own = matches!(&frame.kind, Kind::Request(method) if method == list.method);
    let members = frame.members().unwrap_or_default();
    let kept = members.iter().filter(|member| if is_own { member.key != "cursor" } else { member.key == "_meta" });
    let kept = kept.map(|member| format!("{}:{}", Value::from(&*member.key), frame.raw(member.span.clone())));
    let cursor = cursor.map(|cursor| format!("\"cursor\":{}", Value::from(cursor)));
    kept.chain(cursor).collect::<Vec<_>>().join(",")
}

/// Accepts the items of a page and returns the cursor of the next one.
fn take(
    hub: &Hub,
    server: usize,
    page: &Frame,
    list: &'static List,
    listed: &mut ServerItems,
) -> Result<Option<String>, String> {
    let members = page.members().map_err(|flaw| flaw.to_string())?;
    if let Some(why) = members.iter().find_map(|member| similar(&member.key, &[list.key, "nextCursor"])) {
        return Err(why);
    }
    let get = |key: &str| members.iter().find(|member| member.key == key).map(|member| member.span.clone());
    let array = get(list.key).ok_or_else(|| format!("missing array `{}`", list.key))?;
    for item in json::items(page.text(), array).map_err(|flaw| flaw.to_string())? {
        let Some((id, item)) = named(hub, server, page.raw(item), list) else { continue };
        listed.bytes = listed.bytes.saturating_add(item.len());
        if listed.items.len() >= hub.limits.items || listed.bytes > hub.limits.list_bytes {
            return Err(format!("it lists more than {} items or {} bytes", hub.limits.items, hub.limits.list_bytes));
        }
        listed.ids.insert(id);
        listed.items.push(item);
    }
    let ttl = get("ttlMs").and_then(|span| page.raw(span).parse().ok()).unwrap_or(0);
    listed.ttl = Some(listed.ttl.map_or(ttl, |least| least.min(ttl)));
    listed.is_public &= get("cacheScope").is_some_and(|span| page.raw(span) == "\"public\"");
    match get("nextCursor") {
        None => Ok(None),
        Some(span) if page.raw(span.clone()) == "null" => Ok(None),
        Some(span) => {
            json::text(page.text(), span).map(Some).ok_or_else(|| "expected a string for `nextCursor`".to_owned())
        }
    }
}

/// Returns an item as the client gets it. An item whose name is missing or ambiguous is left out.
fn named(hub: &Hub, server: usize, item: &str, list: &'static List) -> Option<(String, String)> {
    let name = &hub.members.get(server)?.name;
    let left_out = |why: String| {
        hub.note_once(format!("{name}: omitted an item from `{}`: {why}", list.method));
        None
    };
    let key = list.named_by;
    let members = match json::members(item, 0..item.len()) {
        Ok(members) => members,
        Err(flaw) => return left_out(flaw.to_string()),
    };
    if let Some(why) = members.iter().find_map(|member| similar(&member.key, &[key])) {
        return left_out(why);
    }
    let span = members.iter().find(|member| member.key == key).map(|member| member.span.clone());
    let Some((span, id)) = span.and_then(|span| Some((span.clone(), json::text(item, span)?))) else {
        return left_out(format!("missing field `{key}`"));
    };
    if !list.is_prefixed {
        return Some((id, item.to_owned()));
    }
    let full = prefixed(name, &id);
    if names::split(&full).is_none() || full.chars().count() > LONGEST {
        return left_out(format!("`{}` exceeds the {LONGEST} characters that a name may have", bounded(&full)));
    }
    if !names::is_plain(&full) {
        hub.note_once(format!(
            "{name}: note: model APIs accept 1 to 64 letters, digits, `_` and `-` in a name, and may refuse `{}`",
            bounded(&full)
        ));
    }
    Some((id, edited(item, vec![(span, json!(full).to_string())])))
}

/// Maximum length of a cursor that still fits in a request for a page.
const LONGEST_CURSOR: usize = 64 << 10;
