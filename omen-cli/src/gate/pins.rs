//! Allowlist entries and grants for the operator to complete.

use std::path::Path;

use omen_gate::Config;
use omen_gate::catalog::{Catalog, Listed};
use serde_json::Value;

use super::arguments;
use super::commands::folders;
use super::entry::AllowEntry;
use crate::quoting::toml_comment;

/// Returns TOML entries for each tool, with comments about the tool.
pub(crate) fn entries(catalog: &Catalog, config: &Config) -> String {
    let mut text = HEAD.to_owned();
    for listed in catalog.iter() {
        entry(&mut text, listed, config);
    }
    text
}

/// Writes the entries of one tool. Permissions are left empty, which no configuration accepts: only the operator can know them.
fn entry(text: &mut String, listed: &Listed, config: &Config) {
    let (id, tool) = (listed.id(), listed.tool());
    text.push('\n');
    toml_comment(text, &format!("{id}: {}", tool.description.as_deref().unwrap_or("no description")));
    if let Some(Value::Object(claims)) = tool.more.get("annotations") {
        let claims = Value::Object(claims.clone());
        toml_comment(text, &format!("The server claims {claims}; claims grant nothing (D47)."));
    }
    if let Some(why) = listed.problem() {
        toml_comment(text, &format!("Cannot be called: {why}."));
    }
    match config.allow.permit(listed) {
        Ok(_) => toml_comment(text, "Already allowed in this form."),
        Err(blocked) => toml_comment(text, &format!("Not allowed yet: {}.", blocked.message)),
    }
    // A tool without a pin cannot be approved; the comment written above says why.
    if let Ok(pin) = listed.pin() {
        let command = config.servers.get(&id.server).and_then(|server| server.command.as_ref());
        let folders = command.map(|command| {
            let words: Vec<_> = std::iter::once(&command.program).chain(&command.args).cloned().collect();
            folders(&words, command.dir.as_deref().unwrap_or(Path::new(".")))
        });
        let rules = arguments::proposal(tool, &folders.unwrap_or_default());
        AllowEntry { tool: id, pin, permissions: &[], rules: &rules }.write(text, "");
    }
}

const HEAD: &str = "\
## The tools that the servers list now. Review each one; copy those that may be called into the
## configuration, and fill in their permissions: READ, WRITE, EXECUTE, NETWORK. `[[allow]]` states what
## a tool can do, and `[[grants]]` what it may do; `where` proposes rules on its arguments. Long texts are
## truncated here; the catalogue has the full texts.
";
