//! PG-2: checks of calls against the catalogue.

use std::sync::Arc;

use omen_types::suggest;
use serde_json::{Map, Value};

use super::{Catalog, Listed};
use crate::base::{Blocked, GateCode, ServerName, ToolId, ToolName};
use crate::catalog::tool_schema::format_violations;

impl Catalog {
    /// Finds a tool.
    ///
    /// # Errors
    /// PG-2 with a suggestion if there is no such tool.
    pub fn find(&self, id: &ToolId) -> Result<&Arc<Listed>, Blocked> {
        find(self, id)
    }

    /// Checks that the tool of a call exists and that its arguments are exactly those described by its `inputSchema`
    /// ([`Listed::conform`]).
    ///
    /// # Errors
    /// PG-2, listing the violations up to a limit.
    pub fn conform(&self, id: &ToolId, args: &Map<String, Value>) -> Result<&Arc<Listed>, Blocked> {
        let listed = self.find(id)?;
        listed.conform(args)?;
        Ok(listed)
    }
}

impl Listed {
    /// Checks that the arguments are exactly those described by the `inputSchema`: every keyword holds, `format`
    /// included, and the schema names each key, even if it would allow others (D47).
    ///
    /// The keys of the arguments object itself must be listed in a `properties` that applies to it. A nested object is equally
    /// strict if some schema that applies to it has `properties` or `patternProperties`; for these, patterns count, and
    /// `additionalProperties` counts if it constrains the value. Other objects are free-form maps. Schemas apply through
    /// `$ref`, `allOf`, `dependentSchemas`, and the branches of `anyOf`, `oneOf` and `if` against which the value is valid.
    ///
    /// # Errors
    /// PG-2, listing the violations up to a limit.
    pub fn conform(&self, args: &Map<String, Value>) -> Result<(), Blocked> {
        conform(self, args)
    }
}

fn find<'c>(catalog: &'c Catalog, id: &ToolId) -> Result<&'c Arc<Listed>, Blocked> {
    let Some(tools) = catalog.servers.get(&id.server) else {
        return Err(no_server(&id.server, catalog.servers()));
    };
    tools.get(&id.tool).ok_or_else(|| {
        let message = format!("the server `{}` has no tool `{}`", id.server, id.tool);
        let known: Vec<&str> = tools.keys().map(ToolName::as_str).collect();
        let elsewhere = || catalog.servers.iter().find(|(_, tools)| tools.contains_key(&id.tool));
        let help = if let Some((server, _)) = elsewhere() {
            format!("the server `{server}` has a tool with this name")
        } else if let Some(near) = suggest::nearest(id.tool.as_str(), known.iter().copied()) {
            format!("did you mean `{near}`?")
        } else if known.is_empty() {
            "this server lists no tools".to_owned()
        } else {
            format!("its tools are {}", listed(&known))
        };
        blocked(message, help)
    })
}

/// Refuses an unknown server, and suggests a similar name.
pub(crate) fn no_server<'n>(name: &ServerName, known: impl Iterator<Item = &'n ServerName>) -> Blocked {
    let known: Vec<&str> = known.map(ServerName::as_str).collect();
    let help = match suggest::nearest(name.as_str(), known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "no server has listed its tools".to_owned(),
        None => format!("the servers are {}", listed(&known)),
    };
    blocked(format!("there is no server `{name}`"), help)
}

fn conform(listed: &Listed, args: &Map<String, Value>) -> Result<(), Blocked> {
    let id = listed.id();
    let schema = listed.args().map_err(|why| {
        let message = format!("the tool `{id}` cannot be called: {why}");
        blocked(message, "its server must list it once, with an `inputSchema` that the gate supports")
    })?;
    let args = Value::Object(args.clone());
    let misfits = schema.misfits(&args);
    if misfits.is_empty() {
        return Ok(());
    }
    let said = |what: String| format!("the arguments do not match the `inputSchema` of `{id}`: {what}");
    let unquoted = said(schema.format_unquoted(&args, &misfits));
    let help = "pass exactly the arguments that the `inputSchema` describes";
    Err(blocked(said(format_violations(&misfits)), help).unquoted_as(unquoted))
}

/// Joins names in backticks with commas, and truncates a long list.
fn listed(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(LISTED).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > LISTED { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// Builds a refusal whose reason names only servers and tools.
fn blocked(message: String, help: impl Into<String>) -> Blocked {
    Blocked::new(GateCode::Pg2, message, help).quoting_nothing()
}

const LISTED: usize = 12;
