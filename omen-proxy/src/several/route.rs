//! A request of the client that one server answers, under the same id.

use omen_gate::ServerName;
use omen_gate::mcp::Line;

use super::hub::Hub;
use super::member::NoAnswer;
use super::names;
use super::open::{Routed, Waiting};
use omen_mcp::Id;
use omen_mcp::edit::meta;
use omen_mcp::frame::{Frame, Kind};

/// Why a name leads to no server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoServer {
    #[error("`{0}` begins with no server's name")]
    NoPrefix(String),
    #[error("`{0}` names a server that does not exist here")]
    Unknown(String),
}

/// The server that a prefixed name leads to, and the name that it knows.
pub(super) fn by_name<'n>(hub: &Hub, name: &'n str) -> Result<(usize, &'n str), NoServer> {
    let (server, own) = names::split(name).ok_or_else(|| NoServer::NoPrefix(omen_gate::bounded(name)))?;
    let number = hub.member(server).ok_or_else(|| NoServer::Unknown(omen_gate::bounded(name)))?;
    Ok((number, own))
}

/// What is known of a request while a server has it.
pub(super) fn routed(frame: &Frame, server: usize) -> Routed {
    let token = meta(frame, "progressToken").and_then(|span| Id::read(frame.raw(span)));
    let is_call = matches!(&frame.kind, Kind::Request(method) if method == "tools/call");
    Routed { server, token, is_call, is_cancelled: false }
}

/// Sends a request to a server.
pub(super) fn send(hub: &Hub, frame: &Frame, server: usize, line: impl Into<Line>) -> Result<(), NoAnswer> {
    let (Some(id), Some(member)) = (frame.id(), hub.members.get(server)) else { return Ok(()) };
    hub.open.ask(id.clone(), Waiting::Server(routed(frame, server)));
    member.send(line).inspect_err(|_| hub.open.unasked(id))
}

/// The name of a server, for messages.
pub(super) fn name(hub: &Hub, server: usize) -> Option<&ServerName> {
    hub.members.get(server).map(|member| &member.name)
}
