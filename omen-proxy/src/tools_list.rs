//! A page of `tools/list`, with the tools left out that may not be called.

use std::ops::Range;

use omen_gate::tool::Tool;
use omen_gate::{Blocked, Fault, Gate, GateCode, ServerName, ToolName, bounded};

use omen_mcp::frame::{Frame, similar};
use omen_mcp::json::{self, Member};

/// A page as the client gets it, and which of its tools may not be called.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) line: Vec<u8>,
    pub(crate) blocked: Vec<(String, Blocked)>,
    /// The names of its tools, as far as they can be read.
    pub(crate) listed: Vec<ToolName>,
    /// Whether no page follows.
    pub(crate) is_last: bool,
}

/// Leaves out the tools that may not be called, or marks them. All other bytes of the page stay.
///
/// # Errors
/// If the page cannot be read in one way: then none of it passes.
pub(crate) fn page(
    response: &Frame,
    raw_id: &str,
    gate: &Gate,
    server: &ServerName,
    show_blocked: bool,
) -> Result<Page, Fault> {
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

    let (mut blocked, mut kept) = (Vec::new(), Vec::new());
    for (index, (item, tool)) in items.iter().zip(&tools).enumerate() {
        let verdict = match tool {
            // A tool has a verdict; that it has none would be a mistake of the gate.
            Ok(tool) => (tool.name.to_string(), verdicts.get(&tool.name).cloned().unwrap_or_else(|| Some(unjudged()))),
            Err(why) => (format!("tool {index} of the page"), Some(why.clone())),
        };
        match verdict {
            (_, None) => kept.push(response.raw(item.clone()).to_owned()),
            (name, Some(why)) => {
                if show_blocked && tool.is_ok() {
                    kept.push(marked(response, item, &why));
                }
                blocked.push((name, why));
            }
        }
    }
    drop(members);
    let line = match (blocked.is_empty(), items.first(), items.last()) {
        (false, Some(first), Some(last)) => replace(response, raw_id, first.start..last.end, &kept.join(",")),
        _ => response.with_id(raw_id),
    };
    Ok(Page { line, blocked, listed, is_last })
}

/// The page with other items, and another id. Either may come first.
fn replace(response: &Frame, raw_id: &str, items: Range<usize>, with: &str) -> Vec<u8> {
    let (text, mut out, mut at) = (response.text(), String::new(), 0);
    let id = response.id_span().map(|span| (span, raw_id));
    let mut edits: Vec<_> = id.into_iter().chain([(items, with)]).collect();
    edits.sort_by_key(|(span, _)| span.start);
    for (span, with) in edits {
        out.push_str(text.get(at..span.start).unwrap_or_default());
        out.push_str(with);
        at = span.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out.into_bytes()
}

/// A tool that says in its description why it is blocked.
fn marked(response: &Frame, item: &Range<usize>, why: &Blocked) -> String {
    let text = response.raw(item.clone());
    let members = json::members(text, 0..text.len()).unwrap_or_default();
    let note = format!("[blocked by the gate: {why}; {}] ", why.help);
    let (at, with) = match span(&members, "description") {
        Some(at) => {
            let said = json::text(text, at.clone()).unwrap_or_default();
            (at, quoted(&(note + &said)))
        }
        None => (1..1, format!("\"description\":{},", quoted(note.trim_end()))),
    };
    let (before, after) = (text.get(..at.start).unwrap_or_default(), text.get(at.end..).unwrap_or_default());
    [before, &with, after].concat()
}

fn read(response: &Frame, item: &Range<usize>) -> Result<Tool, Blocked> {
    let invalid = |why: String| {
        let message = format!("invalid tool in the list: {}", bounded(&why));
        Blocked::new(GateCode::Pg2, message, "its server must list it as the protocol says")
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

/// The keys of a tool that are judged.
const TOOL: [&str; 4] = ["name", "description", "inputSchema", "outputSchema"];
