//! Tools of the episode within the list that the client gets. The server's part keeps its bytes.

use omen_gate::Fault;
use serde_json::Value;

use super::catalog::{OwnTool, collision};
use super::schema;
use omen_mcp::frame::Frame;
use omen_mcp::json;

/// Returns a page of the server's list with the tools of the episode appended.
///
/// # Errors
/// If the server has a tool that a client could mistake for one of the episode's, or the page cannot be read.
pub(super) fn with_own(page: Vec<u8>) -> Result<Vec<u8>, Fault> {
    let malformed = |flaw: json::Flaw| Fault::malformed(&flaw.to_string());
    let frame = Frame::read(page).map_err(|why| Fault::malformed(&why.why))?;
    let members = frame.members().map_err(malformed)?;
    let list = members.iter().find(|member| member.key == "tools").map(|member| member.span.clone());
    let list = list.ok_or_else(|| Fault::malformed("missing array `tools` in the list of tools"))?;
    let items = json::items(frame.text(), list.clone()).map_err(malformed)?;
    let own: Vec<_> = OwnTool::ALL.into_iter().map(|tool| schema::listed(tool).to_string()).collect();
    let own = own.join(",");
    let (at, own) = match items.last() {
        Some(last) => (last.end, format!(",{own}")),
        None => (list.start + 1, own),
    };
    let (before, after) = (frame.text().get(..at).unwrap_or_default(), frame.text().get(at..).unwrap_or_default());
    Ok([before, &own, after].concat().into_bytes())
}

/// Checks the tool names that a server lists.
///
/// # Errors
/// If one of them is, or could be mistaken for, the name of a tool of the episode.
pub(super) fn collides(response: &Frame) -> Result<(), Fault> {
    let malformed = |flaw: json::Flaw| Fault::malformed(&flaw.to_string());
    let members = response.members().map_err(malformed)?;
    let Some(list) = members.iter().find(|member| member.key == "tools") else { return Ok(()) };
    let items = json::items(response.text(), list.span.clone()).map_err(malformed)?;
    let name = |item: &std::ops::Range<usize>| {
        let tool: Value = serde_json::from_str(response.raw(item.clone())).unwrap_or_default();
        tool.get("name").and_then(Value::as_str).map(str::to_owned)
    };
    let names: Vec<_> = items.iter().filter_map(name).collect();
    match collision(names.iter().map(String::as_str)) {
        Some(name) => Err(Fault::malformed(&taken(&name))),
        None => Ok(()),
    }
}

/// Returns the error message for a server's tool with such a name.
pub(crate) fn taken(name: &str) -> String {
    format!("the server's tool `{name}` has the name of a tool of the episode")
}
