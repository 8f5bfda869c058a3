//! Mapping between the names of tools for a client and those in the audit log and packets.

use omen_gate::{ServerName, ToolId};

use super::catalog::OwnTool;
use crate::client::names::{prefixed, split};

/// Names of the tools of one server, or of several servers, whose names then are prefixes.
#[derive(Clone, Debug)]
pub(crate) struct ClientNames(Vec<ServerName>);

impl ClientNames {
    pub(crate) fn new<'n>(servers: impl IntoIterator<Item = &'n ServerName>) -> Self {
        Self(servers.into_iter().cloned().collect())
    }

    pub(super) fn only(&self) -> Option<&ServerName> {
        match self.0.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// Returns the tool that a client calls by a name.
    pub(super) fn id(&self, name: &str) -> Option<ToolId> {
        let (server, name) = match self.only() {
            Some(only) => (only.as_str(), name),
            None => split(name)?,
        };
        let server = self.0.iter().find(|own| own.as_str() == server)?.clone();
        Some(ToolId { server, tool: name.parse().ok()? })
    }

    /// Returns the name by which a client calls a tool.
    pub(super) fn shown(&self, tool: &ToolId) -> String {
        match self.only() {
            Some(_) => tool.tool.to_string(),
            None => prefixed(&tool.server, tool.tool.as_str()),
        }
    }

    /// Returns the id of a tool of the episode, which belongs to the only server or, with several servers, to none of them.
    pub(super) fn own(&self, tool: OwnTool) -> Option<ToolId> {
        let server = match self.only() {
            Some(only) => only.clone(),
            None => GATE.parse().ok()?,
        };
        Some(ToolId { server, tool: tool.name().parse().ok()? })
    }
}

/// Server name that stands for all servers.
const GATE: &str = "omen-gate";

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::{ClientNames, OwnTool};

    #[test]
    fn a_name_leads_to_the_tool_that_is_shown_under_it() {
        let (a, b) = ("a".parse().unwrap(), "b".parse().unwrap());
        let (one, both) = (ClientNames::new([&a]), ClientNames::new([&a, &b]));
        for (names, name, id) in
            [(&one, "read", "a/read"), (&one, "b__read", "a/b__read"), (&both, "b__read", "b/read")]
        {
            let found = names.id(name).unwrap();
            assert_eq!((found.to_string(), names.shown(&found)), (id.to_owned(), name.to_owned()));
        }
        assert!(both.id("read").is_none() && both.id("c__read").is_none());
        assert_eq!(one.own(OwnTool::State).unwrap().to_string(), "a/omen_state");
        assert_eq!(both.own(OwnTool::State).unwrap().to_string(), "omen-gate/omen_state");
    }
}
