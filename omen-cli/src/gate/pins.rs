//! Entries for the allowlist, for the operator to complete.

use std::fmt::Write as _;

use omen::render::human::clean;
use omen_gate::catalog::{Catalog, Listed};
use omen_gate::{Config, bounded};
use serde_json::Value;

/// An entry for each tool, in TOML, with comments on what is known of it.
pub(super) fn entries(catalog: &Catalog, config: &Config) -> String {
    let mut text = HEAD.to_owned();
    for listed in catalog.iter() {
        entry(&mut text, listed, config);
    }
    text
}

/// The permissions are left empty, which no configuration takes: only the operator can say what a tool may do.
fn entry(text: &mut String, listed: &Listed, config: &Config) {
    let (id, tool) = (listed.id(), listed.tool());
    text.push('\n');
    comment(text, &format!("{id}: {}", tool.description.as_deref().unwrap_or("its server says nothing of it")));
    if let Some(Value::Object(claims)) = tool.more.get("annotations") {
        let claims = Value::Object(claims.clone());
        comment(text, &format!("Its server claims {claims}, which grants nothing (D47)."));
    }
    if let Some(why) = listed.problem() {
        comment(text, &format!("It cannot be called: {why}."));
    }
    match config.allow.permit(listed) {
        Ok(_) => comment(text, "It is allowed in this form already."),
        Err(blocked) => comment(text, &format!("Now: {}.", blocked.message)),
    }
    // What has no pin cannot be approved, and the comment says so.
    if let Ok(pin) = listed.pin() {
        let (server, tool) = (quoted(id.server.as_str()), quoted(id.tool.as_str()));
        let _ = writeln!(text, "[[allow]]\nserver = {server}\ntool = {tool}\npin = \"{pin}\"\npermissions = []");
    }
}

/// One line, whatever the text holds.
fn comment(text: &mut String, what: &str) {
    let _ = writeln!(text, "# {}", clean(&bounded(what)).trim_end());
}

/// A basic string of TOML. Names are foreign, and what could be taken for something else is escaped.
fn quoted(name: &str) -> String {
    let mut text = String::from('"');
    for c in name.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            c if c.is_ascii_graphic() || c.is_alphanumeric() => text.push(c),
            c => {
                let _ = write!(text, "\\U{:08X}", u32::from(c));
            }
        }
    }
    text.push('"');
    text
}

const HEAD: &str = "\
# The tools that the servers list now. Look at each; copy those that may be called into the
# configuration, and write down what they can do: READ, WRITE, EXECUTE, NETWORK. Long texts are cut
# here; the catalogue has the whole of them.
";
