//! Calls that an event requests: one call of the named tool, or one for each file of a patch.

pub(crate) mod gate_files;
mod guard;
mod patch;
mod paths;

use std::path::Path;
use std::sync::LazyLock;

use omen_base::bounded;
use omen_base::{BadName, ServerName, ToolId, ToolName};
use serde_json::{Map, Value};

pub use self::patch::PatchError;
use self::paths::{is_named, is_plain_end, resolved, spelled, unquoted};
use crate::dialect::{Dialect, ToolForm};
use crate::event::ToolEvent;

/// A call to judge.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct HookCall {
    /// Tool of the agent's own virtual server, or of the MCP server that the agent names.
    pub tool: ToolId,
    /// Arguments. File paths are absolute.
    pub args: Map<String, Value>,
}

/// Reason why an event requests no call that can be judged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// A name is invalid.
    #[error(transparent)]
    Name(#[from] BadName),
    /// The name of an MCP tool belongs to no configured server.
    #[error(
        "no configured server matches the tool `{0}`; help: add a table `[servers.NAME]`, where NAME is the server's name in the agent's settings"
    )]
    NoServer(String),
    /// The name of an MCP tool has no server, and no catalogue lists it.
    #[error(
        "no catalogue lists the tool `{0}`, and the event does not name its server; help: list the tools of the server with `omen gate catalog`, and pass the file with `--catalog`"
    )]
    Unlisted(String),
    /// The name of an MCP tool may be that of several configured servers.
    #[error("`{tool}` may be a tool of `{one}` or of `{other}`; help: rename one of the servers")]
    TwoServers {
        /// Tool name as spelled by the agent.
        tool: String,
        /// One of the servers.
        one: ServerName,
        /// Another server.
        other: ServerName,
    },
    /// A patch cannot be read.
    #[error("the patch cannot be judged: {0}")]
    Patch(#[from] PatchError),
    /// The call changes an agent's settings, and could thereby turn off the gate of that agent.
    #[error(
        "`{0}` names settings of a coding agent, which can switch its hooks off; help: do this yourself, outside the agent"
    )]
    Settings(String),
    /// The call touches a file of the gate, and could thereby change the rules that judge it, or forge the log.
    #[error("`{0}` belongs to the gate that judges this call; help: do this yourself, outside the agent")]
    GateFile(String),
}

impl Dialect {
    /// Returns the calls that an event requests, given the servers of a configuration.
    ///
    /// # Errors
    /// If the names or the patch are ambiguous, or the call changes an agent's settings.
    pub fn calls<'s>(
        &self,
        event: &ToolEvent,
        servers: impl Iterator<Item = &'s ServerName>,
    ) -> Result<Vec<HookCall>, CallError> {
        let tool = self.tool_of(event, servers)?;
        let Some(form) = self.form_of(&tool) else { return Ok(vec![HookCall { tool, args: event.input.clone() }]) };
        let text = |member: &Option<String>| event.input.get(member.as_deref()?)?.as_str();
        if let Some(patch) = text(&form.patch) {
            let files = patch::files(patch)?;
            let calls = files.into_iter().map(|file| {
                let path = self.written(form, &event.cwd, &file.path)?;
                let args = [("path", path), ("change", file.change.to_owned()), ("patch", file.text)];
                let args = args.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
                Ok(HookCall { tool: tool.clone(), args })
            });
            return calls.collect();
        }
        let mut args = event.input.clone();
        if let (Some(member), Some(path)) = (&form.path, text(&form.path)) {
            args.insert(member.clone(), self.written(form, &event.cwd, path)?.into());
        }
        if let Some(command) = text(&form.shell)
            && let Some(part) = names_settings(&unquoted(command))
        {
            return Err(CallError::Settings(part));
        }
        Ok(vec![HookCall { tool, args }])
    }

    /// Server and tool of an event that names the tool alone, among the servers that list it; `None` if none does, or the event
    /// names its server.
    ///
    /// # Errors
    /// If several servers list it.
    pub(crate) fn listed<'s>(
        &self,
        event: &ToolEvent,
        mut servers: impl Iterator<Item = (&'s ServerName, &'s ToolName)>,
    ) -> Result<Option<(String, String)>, CallError> {
        let prefix = self.mcp.as_ref().and_then(|mcp| mcp.bare.as_deref()).filter(|_| event.mcp.is_none());
        let Some(name) = prefix.and_then(|prefix| event.tool.strip_prefix(prefix)) else { return Ok(None) };
        let mut found = servers.by_ref().filter(|(_, tool)| tool.as_str() == name).map(|(server, _)| server);
        match (found.next(), found.next()) {
            (Some(one), Some(other)) => {
                Err(CallError::TwoServers { tool: bounded(&event.tool), one: one.clone(), other: other.clone() })
            }
            (one, _) => Ok(one.map(|server| (server.to_string(), name.to_owned()))),
        }
    }

    /// Form of a tool, if it is one of the agent's own that the dialect lists.
    pub(crate) fn form_of(&self, tool: &ToolId) -> Option<&ToolForm> {
        if tool.server == self.agent { self.tools.get(&tool.tool) } else { None }
    }

    /// Returns the absolute path of a file; refuses it if the tool would write to an agent's settings.
    fn written(&self, form: &ToolForm, cwd: &Path, path: &str) -> Result<String, CallError> {
        let absolute = cwd.join(path);
        if form.writes
            && let Some(part) = names_settings(&resolved(&absolute).to_string_lossy())
        {
            return Err(CallError::Settings(part));
        }
        Ok(absolute.to_string_lossy().into_owned())
    }

    fn tool_of<'s>(
        &self,
        event: &ToolEvent,
        servers: impl Iterator<Item = &'s ServerName>,
    ) -> Result<ToolId, CallError> {
        let own = || Ok(ToolId { server: self.agent.clone(), tool: ToolName::new(&event.tool)? });
        if let Some((server, tool)) = &event.mcp {
            return Ok(ToolId { server: ServerName::new(server)?, tool: ToolName::new(tool)? });
        }
        if self.tools.contains_key(event.tool.as_str()) {
            return own();
        }
        let Some(mcp) = self.mcp.as_ref().filter(|mcp| mcp.context.is_none()) else { return own() };
        if let Some(prefix) = &mcp.bare {
            return if event.tool.starts_with(prefix) { Err(CallError::Unlisted(bounded(&event.tool))) } else { own() };
        }
        let Some(rest) = event.tool.strip_prefix(&mcp.prefix) else { return own() };
        // Server and tool names may contain the separator, so only known server names tell where the first one ends.
        let mut found = servers.filter(|server| **server != self.agent).filter_map(|server| {
            let tool = rest.strip_prefix(server.as_str())?.strip_prefix(&mcp.separator)?;
            (!tool.is_empty()).then_some((server, tool))
        });
        match (found.next(), found.next()) {
            (Some((server, tool)), None) => Ok(ToolId { server: server.clone(), tool: ToolName::new(tool)? }),
            (Some((one, _)), Some((other, _))) => {
                Err(CallError::TwoServers { tool: bounded(&event.tool), one: one.clone(), other: other.clone() })
            }
            (None, _) if mcp.prefix.is_empty() => own(),
            (None, _) => Err(CallError::NoServer(bounded(&event.tool))),
        }
    }
}

/// Returns the part of a text that names an agent's settings, if any.
fn names_settings(text: &str) -> Option<String> {
    let text = spelled(text);
    SETTINGS.iter().find(|part| is_named(&text, part, is_plain_end)).cloned()
}

/// Settings paths of all agents, read once since a call may have many texts to check.
static SETTINGS: LazyLock<Vec<String>> = LazyLock::new(Dialect::settings_of_all);
