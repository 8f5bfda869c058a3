//! PG-2 and PG-3: the discovered tools with their schemas, and the operator's allowlist.
//!
//! ```
//! use omen_gate::catalog::{Allowlist, Catalog};
//! use omen_gate::plan::{PlanLimits, Plan};
//!
//! let catalog = Catalog::parse(r#"{"files": [{
//!     "name": "read",
//!     "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
//! }]}"#)?;
//! let text = r#"{"type": "call_tool", "server": "files", "tool": "read", "args": {"path": "a", "mode": "w"}}"#;
//! let Plan::CallTool(call) = Plan::parse(text, &PlanLimits::default())? else { return Ok(()) };
//!
//! // The schema would let `mode` pass. The gate does not (D47).
//! let blocked = catalog.conform(call.tool(), call.args()).unwrap_err();
//! assert!(blocked.to_string().starts_with("PG-2: "));
//!
//! // And nothing is allowed that the operator has not allowed.
//! let blocked = Allowlist::nothing("there is no allowlist").permit(catalog.find(call.tool())?).unwrap_err();
//! assert_eq!(blocked.to_string(), "PG-3: nothing is allowed: there is no allowlist");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod allow;
mod conform;
mod pin;
mod size;
pub(crate) mod tool_schema;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, OnceLock};

use crate::base::json::{self, Reading};
use crate::base::{NotExact, ServerName, ToolId, ToolName, bounded};
use crate::call::Tool;
use crate::catalog::tool_schema::Schema;

pub use allow::{Allowed, Allowlist, BadAllowlist};
pub(crate) use conform::no_server;
pub use pin::{BadPin, Pin, pin};
pub(crate) use size::ListLimits;

/// Discovered tools, by server.
#[derive(Debug, Default)]
pub struct Catalog {
    servers: BTreeMap<ServerName, BTreeMap<ToolName, Arc<Listed>>>,
}

/// Discovered tool with its pin and compiled schemas.
#[derive(Debug)]
pub struct Listed {
    id: ToolId,
    tool: Tool,
    pin: Result<Pin, NotExact>,
    /// Whether the server lists another tool with this name.
    twice: bool,
    /// Compiled on first use: most listed tools are never called.
    args: OnceLock<Result<Schema, String>>,
    output: OnceLock<Result<Schema, String>>,
}

/// Reason why a catalogue is rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadCatalog {
    /// The text is not unambiguous JSON.
    #[error("the catalogue cannot be read: {why}")]
    Json {
        /// Reason, truncated to a bounded length.
        why: String,
    },
    /// The JSON does not have the form `{"server": [tool, …]}`.
    #[error("invalid catalogue; expected `{{\"server\": [tool, …]}}`: {why}")]
    Form {
        /// Reason, truncated to a bounded length.
        why: String,
    },
    /// A server lists too many tools.
    #[error("the server `{server}` lists more than {max} tools", max = Catalog::MAX_TOOLS)]
    TooMany {
        /// Server whose list is too long.
        server: ServerName,
    },
}

impl Catalog {
    /// Maximum number of tools per server.
    pub const MAX_TOOLS: usize = 1024;

    /// Replaces the list of a server. A tool that cannot be called because its `inputSchema` is unusable or it is
    /// listed twice is kept without affecting the others: [`Listed::problem`] gives the reason.
    ///
    /// # Errors
    /// If the list is too long. The server then has no tools.
    pub fn list(&mut self, server: ServerName, tools: Vec<Tool>) -> Result<(), BadCatalog> {
        self.servers.remove(&server);
        if tools.len() > Self::MAX_TOOLS {
            return Err(BadCatalog::TooMany { server });
        }
        let mut listed: BTreeMap<ToolName, Listed> = BTreeMap::new();
        for tool in tools {
            match listed.entry(tool.name.clone()) {
                Entry::Vacant(place) => {
                    let id = ToolId { server: server.clone(), tool: tool.name.clone() };
                    place.insert(Listed::new(id, tool));
                }
                Entry::Occupied(mut first) => {
                    first.get_mut().twice = true;
                    first.get_mut().args = Err("its server lists two tools with this name".to_owned()).into();
                }
            }
        }
        self.servers.insert(server, listed.into_iter().map(|(name, listed)| (name, Arc::new(listed))).collect());
        Ok(())
    }

    /// Removes a server, e.g. after it has died.
    pub fn forget(&mut self, server: &ServerName) {
        self.servers.remove(server);
    }

    /// Parses a catalogue file: `{"server": [tool, …]}`, with tools as listed by `tools/list`.
    ///
    /// # Errors
    /// If the text has any other form.
    pub fn parse(text: &str) -> Result<Self, BadCatalog> {
        let how = Reading { depth: crate::base::MAX_DEPTH, exact_numbers: false };
        let value = json::read(text, how).map_err(|error| BadCatalog::Json { why: bounded(&error.to_string()) })?;
        let servers: BTreeMap<ServerName, Vec<Tool>> =
            serde_json::from_value(value).map_err(|error| BadCatalog::Form { why: bounded(&error.to_string()) })?;
        let mut catalog = Self::default();
        for (server, tools) in servers {
            catalog.list(server, tools)?;
        }
        Ok(catalog)
    }

    /// Returns a tool.
    #[must_use]
    pub fn get(&self, id: &ToolId) -> Option<&Arc<Listed>> {
        self.servers.get(&id.server)?.get(&id.tool)
    }

    /// Iterates over all tools, by server and name.
    pub fn iter(&self) -> impl Iterator<Item = &Listed> {
        self.servers.values().flat_map(BTreeMap::values).map(Arc::as_ref)
    }

    /// Iterates over the servers that have a list.
    pub fn servers(&self) -> impl Iterator<Item = &ServerName> {
        self.servers.keys()
    }
}

impl Listed {
    fn new(id: ToolId, tool: Tool) -> Self {
        Self { id, pin: pin(&tool), twice: false, args: OnceLock::new(), output: OnceLock::new(), tool }
    }

    /// Returns the server and name of the tool.
    #[must_use]
    pub fn id(&self) -> &ToolId {
        &self.id
    }

    /// Returns the tool as its server describes it.
    #[must_use]
    pub fn tool(&self) -> &Tool {
        &self.tool
    }

    /// Returns the pin of the tool's current form.
    ///
    /// # Errors
    /// If a schema contains a number that cannot be hashed exactly. Such a tool cannot be approved.
    pub fn pin(&self) -> Result<&Pin, &NotExact> {
        self.pin.as_ref()
    }

    /// Returns the reason why the tool cannot be called, if any.
    #[must_use]
    pub fn problem(&self) -> Option<&str> {
        self.args().err()
    }

    /// Returns whether this is the only tool with its name and has the same form as when it was checked before.
    pub(crate) fn is_still(&self, before: &Self) -> bool {
        !self.twice && (std::ptr::eq(self, before) || self.tool == before.tool)
    }

    /// Returns whether the `inputSchema` names a member of some object. An unusable schema names none.
    pub(crate) fn declares(&self, name: &str) -> bool {
        self.args().is_ok_and(|schema| schema.declares(name))
    }

    /// Returns the compiled `inputSchema`, or the reason why it is unusable.
    fn args(&self) -> Result<&Schema, &str> {
        let args = self.args.get_or_init(|| Schema::compile(&self.tool.input_schema));
        args.as_ref().map_err(String::as_str)
    }

    /// Returns the compiled `outputSchema`, if the tool has one, or the reason why it is unusable.
    pub(crate) fn output(&self) -> Option<Result<&Schema, &str>> {
        let schema = self.tool.output_schema.as_ref()?;
        Some(self.output.get_or_init(|| Schema::compile(schema)).as_ref().map_err(String::as_str))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use serde_json::{Map, json};

    use super::{Allowlist, Catalog};

    #[test]
    fn schemas_are_compiled_for_those_that_call() {
        let tool = |name| json!({"name": name, "inputSchema": {}, "outputSchema": {}});
        let text = json!({"s": [tool("called"), tool("listed")]}).to_string();
        let catalog = Catalog::parse(&text).unwrap();
        let compiled = || -> Vec<_> { catalog.iter().map(|tool| tool.args.get().is_some()).collect() };
        // Refusing a tool that is not allowed does not compile anything either.
        let nothing = Allowlist::nothing("there is no allowlist");
        assert_eq!(nothing.effective(&catalog).count(), 0);
        assert_eq!(compiled(), [false, false]);
        catalog.conform(catalog.iter().next().unwrap().id(), &Map::new()).unwrap();
        assert_eq!(compiled(), [true, false]);
        assert!(catalog.iter().all(|tool| tool.output.get().is_none()));
    }
}
