//! Text of a new configuration.
//!
//! A line that begins with `##` is prose; a line that the operator may want to activate begins with a single `#`.

use std::fmt::Write as _;

use omen::render::human::clean;
use omen_gate::catalog::{Catalog, Listed};
use omen_gate::config::{Endpoint, HeaderSource};
use omen_gate::{ServerName, ToolName, bounded};
use serde_json::Value;

use super::propose;
use crate::gate::arguments;
use crate::gate::entry::AllowEntry;
use crate::quoting::{toml_comment, toml_string};

/// Input for the configuration.
pub(super) struct Setup<'s> {
    pub(super) server: &'s ServerName,
    pub(super) command: &'s [String],
    pub(super) pass_env: &'s [String],
    /// Address of the server, if it is not started by a command.
    pub(super) endpoint: Option<&'s Endpoint>,
    pub(super) plain_http: bool,
    /// Tools whose entries are active.
    pub(super) allow: &'s [ToolName],
    /// Folders passed to the server.
    pub(super) folders: &'s [String],
}

impl Setup<'_> {
    /// Returns a configuration for listing the server's tools. Its long timeout allows the first start to download the package.
    pub(super) fn probe(&self) -> String {
        format!("[limits]\nlist_timeout_seconds = 120\n{}", self.table())
    }

    fn table(&self) -> String {
        let list = |items: &[String]| items.iter().map(|item| toml_string(item)).collect::<Vec<_>>().join(", ");
        let mut text = format!("[servers.{}]\n", toml_string(self.server.as_str()));
        if let Some((program, args)) = self.command.split_first() {
            let _ = writeln!(text, "command = {}", toml_string(program));
            if !args.is_empty() {
                let _ = writeln!(text, "args = [{}]", list(args));
            }
        }
        if !self.pass_env.is_empty() {
            let _ = writeln!(text, "pass_env = [{}]", list(self.pass_env));
        }
        if let Some(endpoint) = self.endpoint {
            let _ = writeln!(text, "url = {}", toml_string(endpoint.url()));
            for (name, value) in endpoint.headers() {
                // INVARIANT: headers from the command line take their values only from environment variables.
                let HeaderSource::Env { variable, prefix } = value else { continue };
                let prefix =
                    if prefix.is_empty() { String::new() } else { format!(", prefix = {}", toml_string(prefix)) };
                let _ = writeln!(text, "headers.{} = {{ env = {}{prefix} }}", toml_string(name), toml_string(variable));
            }
            if let Some(file) = &endpoint.ca_file {
                let _ = writeln!(text, "ca_file = {}", toml_string(&file.to_string_lossy()));
            }
            if self.plain_http {
                text.push_str("plain_http = true\n");
            }
        }
        text
    }

    pub(super) fn configuration(&self, catalog: &Catalog) -> String {
        let allowed = if self.allow.is_empty() { "and nothing is allowed yet" } else { "and little is allowed yet" };
        let mut text = format!("{}\n{}{TOOLS}", HEAD.replace("ALLOWED", allowed), self.table());
        self.tools(&mut text, catalog);
        text + FOOT
    }

    /// Returns the text to append to a configuration that already has another server.
    pub(super) fn addition(&self, catalog: &Catalog) -> String {
        let mut text = format!("\n{}{ADDED}", self.table());
        self.tools(&mut text, catalog);
        text
    }

    fn tools(&self, text: &mut String, catalog: &Catalog) {
        for listed in catalog.iter() {
            let mark = if self.allow.contains(&listed.id().tool) { "" } else { "#" };
            tool(text, listed, self.folders, mark);
        }
    }
}

/// Writes the entries of one tool, with `mark` at the start of each line.
fn tool(text: &mut String, listed: &Listed, folders: &[String], mark: &str) {
    let (id, tool) = (listed.id(), listed.tool());
    text.push('\n');
    toml_comment(text, &format!("{}({})", id.tool, arguments(&tool.input_schema)));
    toml_comment(text, &format!("    {}", tool.description.as_deref().unwrap_or("no description")));
    if let Some(Value::Object(claims)) = tool.more.get("annotations") {
        toml_comment(text, &format!("    The server claims {}.", Value::Object(claims.clone())));
    }
    if let Some(why) = listed.problem() {
        toml_comment(text, &format!("    It cannot be called: {why}."));
        return;
    }
    let pin = match listed.pin() {
        Ok(pin) => pin,
        Err(error) => {
            toml_comment(text, &format!("    It cannot be approved: {error}."));
            return;
        }
    };
    let proposed = propose::permissions(tool);
    let reasons: Vec<_> = proposed.iter().map(propose::ProposedPermission::to_text).collect();
    toml_comment(text, &format!("    Proposed: {}.", reasons.join(", ")));
    let permissions: Vec<_> = proposed.iter().map(|one| one.permission.as_str()).collect();
    let rules = arguments::proposal(tool, folders);
    AllowEntry { tool: id, pin, permissions: &permissions, rules: &rules }.write(text, mark);
}

/// Returns the argument names: required ones first, then optional ones with a question mark.
fn arguments(schema: &serde_json::Map<String, Value>) -> String {
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let known = schema.get("properties").and_then(Value::as_object);
    let known = known.into_iter().flat_map(|known| known.keys().map(String::as_str));
    let (needed, optional): (Vec<_>, Vec<_>) = known.partition(|name| required.contains(name));
    let needed = needed.into_iter().map(str::to_owned);
    let names: Vec<_> = needed.chain(optional.into_iter().map(|name| format!("{name}?"))).collect();
    clean(&bounded(&names.join(", "))).into_owned()
}

const HEAD: &str = "\
## Configuration of a gate. Anything that it does not allow is denied, ALLOWED.
##
## Paths are relative to the folder of this file. `omen gate check` checks it, `omen gate schema`
## describes every key, and `omen gate schema --example` prints a sample with all of them.
";

const TOOLS: &str = "
## The tools. Review each one. To allow it, remove the `#` in front of its entries (`##` is prose), and
## write the permissions that it has in your judgement: READ, WRITE, EXECUTE, NETWORK. The proposals are
## derived from names and claims; what a server claims about its tools grants nothing (D47). A pin is
## for the form of the tool that you have reviewed: if its server changes it, it does not run until you
## approve it again. WRITE, EXECUTE and NETWORK need a confirmation for each call unless their grant has
## `pre_granted = true`. The entries below `where` are proposed rules on arguments. A rule `under` takes
## absolute paths; `relative_to` says from which folder the server starts relative ones.
";

const ADDED: &str = "
## Its tools. Review each one. To allow it, remove the `#` in front of its entry (`##` is prose), and
## write the permissions that it has in your judgement: READ, WRITE, EXECUTE, NETWORK.
";

const FOOT: &str = "
## Every call, refusal and confirmation is recorded here. Keep the key where neither the agent nor its
## tools can read it.
[audit]
log = \"audit.jsonl\"
key_file = \"audit.key\"
## How much of the arguments is recorded: only a hash, unless you write
##     arguments = \"redacted\"
##     arguments = \"full\"
## Secrets are never recorded.
arguments = \"hash\"
";
