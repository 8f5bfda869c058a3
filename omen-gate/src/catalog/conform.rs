//! PG-2: a call fits the catalogue.

use std::sync::Arc;

use omen_types::suggest;
use serde_json::{Map, Value};

use super::{Catalog, Listed};
use crate::base::{Blocked, GateCode, ServerName, ToolId, ToolName};
use crate::catalog::tool_schema::format_violations;

impl Catalog {
    /// A tool, or what was perhaps meant instead of it.
    ///
    /// # Errors
    /// PG-2 if there is no such tool.
    pub fn find(&self, id: &ToolId) -> Result<&Arc<Listed>, Blocked> {
        find(self, id)
    }

    /// Lets a call pass whose tool there is, and whose arguments are exactly those that its `inputSchema` describes
    /// ([`Listed::conform`]).
    ///
    /// # Errors
    /// PG-2, with all that is wrong with the arguments, up to a bound.
    pub fn conform(&self, id: &ToolId, args: &Map<String, Value>) -> Result<&Arc<Listed>, Blocked> {
        let listed = self.find(id)?;
        listed.conform(args)?;
        Ok(listed)
    }
}

impl Listed {
    /// Lets arguments pass that are exactly those that the `inputSchema` describes:
    /// every keyword holds, `format` included, and each key is named by the schema, even where the schema would
    /// allow one (D47).
    ///
    /// The keys of the arguments themselves have to stand in a `properties` that applies to them. An object
    /// within them is as strict if some schema that applies to it has `properties` or `patternProperties`; then
    /// patterns count, and `additionalProperties` counts if it demands something of the value. Other objects are
    /// free maps. What applies is reached by `$ref`, `allOf`, `dependentSchemas`, and the branches of
    /// `anyOf`, `oneOf` and `if` that the value is valid against.
    ///
    /// # Errors
    /// PG-2, with all that is wrong with the arguments, up to a bound.
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

/// Names in backticks, with commas; a long list is cut.
fn listed(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(LISTED).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > LISTED { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// A refusal whose reason names servers and tools.
fn blocked(message: String, help: impl Into<String>) -> Blocked {
    Blocked::new(GateCode::Pg2, message, help).quoting_nothing()
}

const LISTED: usize = 12;
