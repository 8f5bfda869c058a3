//! Tool list for the client, page by page, without the tools that may not be called.

use std::ops::Range;
use std::sync::Arc;

use omen_gate::tool::Tool;
use omen_gate::{Blocked, Fault, GateCode, ToolId, ToolName, bounded};
use tracing::warn;

use super::session::ServerSession;
use crate::messages::refusal::{self, INTERNAL_ERROR};
use omen_mcp::edit::edited;
use omen_mcp::frame::{Frame, Kind, similar};
use omen_mcp::json::{self, Member};

/// Returns the line for a client that has asked a server for a page of its tools.
pub(crate) async fn listed(session: Arc<ServerSession>, frame: Frame) -> Vec<u8> {
    let raw_id = frame.raw_id();
    let error = |why: &str| refusal::error(raw_id, INTERNAL_ERROR, why);
    let failed = |fault: Fault| error(&format!("cannot list the tools: {}", fault.typed()));
    let is_first = !frame.members().is_ok_and(|members| members.iter().any(|member| member.key == "cursor"));
    let response = match session.upstream.ask(|id| frame.with_id(id)).await {
        Ok(response) => response,
        Err(fault) => return failed(fault),
    };
    match &response.kind {
        Kind::Error => return response.with_id(raw_id),
        Kind::Unsure(why) => return error(&format!("the list of tools is malformed: {why}")),
        _ => {}
    }
    let page = match page(&response, raw_id, &session) {
        Ok(page) => page,
        Err(fault) => return failed(fault),
    };
    let mut new = page.blocked;
    new.retain(|(tool, why)| session.is_new(tool, &why.message));
    note_left_out(&new);
    note_unlisted(&session, &page.listed, is_first, page.is_last);
    if let Err(unrecorded) = session.gate.left_out(&session.turn, &new).await {
        return error(&unrecorded.to_string());
    }
    match &session.episodes {
        Some(episodes) => episodes.list(page.line, &response, is_first).unwrap_or_else(failed),
        None => page.line,
    }
}

/// Logs a single line, because a server may have many tools that the operator does not want.
fn note_left_out(tools: &[(String, Blocked)]) {
    if !tools.is_empty() {
        let names: Vec<_> = tools.iter().map(|(tool, _)| format!("`{tool}`")).collect();
        let (count, s) = (tools.len(), if tools.len() == 1 { "" } else { "s" });
        let why = "the audit log has the reasons, and so does the list with `--show-blocked`";
        warn!("omitted {count} tool{s} from the list: {}; {why}", bounded(&names.join(", ")));
    }
}

/// Reports allowed tools that the server does not list: one allowed under a wrong name would otherwise be left out silently.
fn note_unlisted(session: &ServerSession, listed: &[ToolName], is_first: bool, is_last: bool) {
    let allowed = session.gate.allowed_tools(&session.server);
    if let Some(missing) = session.unlisted.page(allowed, listed, is_first, is_last) {
        let names: Vec<_> = missing.iter().map(|tool| format!("`{tool}`")).collect();
        warn!(
            "the allowlist names tools that the server `{}` does not list: {}; check the names in `[[allow]]`",
            session.server,
            bounded(&names.join(", "))
        );
    }
}

/// Page of the tool list for the client, and the tools omitted from it or marked because they may not be called.
#[derive(Debug)]
struct GatedPage {
    line: Vec<u8>,
    blocked: Vec<(String, Blocked)>,
    /// Names of its tools, as far as they can be read.
    listed: Vec<ToolName>,
    /// Whether this is the last page.
    is_last: bool,
}

/// Leaves out the tools that may not be called, or marks them. All other bytes of the page stay unchanged.
///
/// # Errors
/// If the page can be read in more than one way; none of it passes then.
fn page(response: &Frame, raw_id: &str, session: &ServerSession) -> Result<GatedPage, Fault> {
    let (gate, server) = (&session.gate, &session.server);
    let malformed = |flaw: json::Flaw| Fault::malformed(&flaw.to_string());
    let members = response.members().map_err(malformed)?;
    if let Some(why) = members.iter().find_map(|member| similar(&member.key, &["tools", "nextCursor"])) {
        return Err(Fault::malformed(&why));
    }
    let list = span(&members, "tools").ok_or_else(|| Fault::malformed("missing array `tools` in the list of tools"))?;
    let items = json::items(response.text(), list).map_err(malformed)?;
    let tools: Vec<_> = items.iter().map(|item| read(response, item)).collect();
    let known: Vec<Tool> = tools.iter().flatten().cloned().collect();
    let listed = known.iter().map(|tool| tool.name.clone()).collect();
    let is_last = span(&members, "nextCursor").is_none_or(|at| response.raw(at) == "null");
    let verdicts = gate.listed(server, known).map_err(|error| Fault::malformed(&error.to_string()))?;

    let (mut blocked, mut kept, mut is_edited) = (Vec::new(), Vec::new(), false);
    for (index, (item, tool)) in items.iter().zip(&tools).enumerate() {
        let verdict = match tool {
            // Each tool has a verdict; a missing one would be a bug in the gate.
            Ok(tool) => (tool.name.to_string(), verdicts.get(&tool.name).cloned().unwrap_or_else(|| Some(unjudged()))),
            Err(why) => (format!("tool {index} of the page"), Some(why.clone())),
        };
        match verdict {
            (name, None) => match sentence(session, &name) {
                Some(sentence) => {
                    is_edited = true;
                    kept.push(described(response, item, |said| format!("{said}{}{sentence}", gap(said))));
                }
                None => kept.push(response.raw(item.clone()).to_owned()),
            },
            (name, Some(why)) => {
                is_edited = true;
                if session.settings.show_blocked && tool.is_ok() {
                    let note = format!("[blocked by the gate: {why}; {}]", why.help);
                    kept.push(described(response, item, |said| format!("{note}{}{said}", gap(said))));
                }
                blocked.push((name, why));
            }
        }
    }
    drop(members);
    let line = match (is_edited, items.first(), items.last()) {
        (true, Some(first), Some(last)) => {
            let id = response.id_span().map(|span| (span, raw_id.to_owned()));
            let items = (first.start..last.end, kept.join(","));
            edited(response.text(), id.into_iter().chain([items]).collect()).into_bytes()
        }
        _ => response.with_id(raw_id),
    };
    Ok(GatedPage { line, blocked, listed, is_last })
}

/// Returns what the order rules say about a tool, if the operator wants it in the tool's description.
fn sentence(session: &ServerSession, tool: &str) -> Option<String> {
    let tool = tool.parse().ok().filter(|_| session.settings.show_order)?;
    session.gate.order_sentence(&ToolId { server: session.server.clone(), tool })
}

/// Returns a blank to separate a note from a description, if there is one.
fn gap(said: &str) -> &'static str {
    if said.is_empty() { "" } else { " " }
}

/// Returns a tool with a different description.
fn described(response: &Frame, item: &Range<usize>, description: impl FnOnce(&str) -> String) -> String {
    let text = response.raw(item.clone());
    let members = json::members(text, 0..text.len()).unwrap_or_default();
    let (at, with) = match span(&members, "description") {
        Some(at) => {
            let said = json::text(text, at.clone()).unwrap_or_default();
            (at, quoted(&description(&said)))
        }
        None => (1..1, format!("\"description\":{},", quoted(&description("")))),
    };
    let (before, after) = (text.get(..at.start).unwrap_or_default(), text.get(at.end..).unwrap_or_default());
    [before, &with, after].concat()
}

fn read(response: &Frame, item: &Range<usize>) -> Result<Tool, Blocked> {
    let invalid = |why: String| {
        let message = format!("invalid tool in the list: {}", bounded(&why));
        Blocked::new(GateCode::Pg2, message, "its server must list it as the protocol requires")
            .unquoted_as("its server lists it in an invalid form")
    };
    let members = json::members(response.text(), item.clone()).map_err(|flaw| invalid(flaw.to_string()))?;
    if let Some(why) = members.iter().find_map(|member| similar(&member.key, &TOOL)) {
        return Err(invalid(why));
    }
    serde_json::from_str(response.raw(item.clone())).map_err(|error| invalid(error.to_string()))
}

fn unjudged() -> Blocked {
    Blocked::new(GateCode::Pg3, "the tool was not judged", "list the tools again")
}

fn span(members: &[Member<'_>], key: &str) -> Option<Range<usize>> {
    members.iter().find(|member| member.key == key).map(|member| member.span.clone())
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Keys of a tool that are judged.
const TOOL: [&str; 4] = ["name", "description", "inputSchema", "outputSchema"];
