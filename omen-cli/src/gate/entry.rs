//! Configuration entries for one tool, active or commented out.
//!
//! Prose begins with `##`. Lines that become part of the configuration when their `#` is removed begin with a single one.

use std::fmt::Write as _;

use omen_gate::ToolId;
use omen_gate::catalog::Pin;

use super::arguments::Rules;
use crate::quoting::{toml_comment, toml_string};

/// An allowlist entry and a grant for one tool.
pub(super) struct AllowEntry<'e> {
    pub(super) tool: &'e ToolId,
    pub(super) pin: &'e Pin,
    /// Permission names; empty if the operator has to fill them in.
    pub(super) permissions: &'e [&'e str],
    pub(super) rules: &'e Rules,
}

impl AllowEntry<'_> {
    /// Writes both entries, with `mark` (nothing or `#`) at the start of each line.
    pub(super) fn write(&self, text: &mut String, mark: &str) {
        let Self { tool, pin, permissions, rules } = self;
        let (server, tool) = (toml_string(tool.server.as_str()), toml_string(tool.tool.as_str()));
        let permissions: Vec<_> = permissions.iter().map(|one| format!("\"{one}\"")).collect();
        let permissions = permissions.join(", ");
        let _ = writeln!(
            text,
            "{mark}[[allow]]\n{mark}server = {server}\n{mark}tool = {tool}\n{mark}permissions = [{permissions}]\n{mark}pin = \
             \"{pin}\""
        );
        if !rules.known.is_empty() {
            let _ = writeln!(text, "{mark}[allow.where]");
            for rule in &rules.known {
                let _ = writeln!(text, "{mark}{rule}");
            }
        }
        if !rules.open.is_empty() {
            let table = if rules.known.is_empty() { " in a table `[allow.where]`" } else { "" };
            toml_comment(
                text,
                &format!("To restrict its arguments, add this{table}, with your own folders and hosts:"),
            );
            rules.open.iter().for_each(|rule| toml_comment(text, &format!("    {rule}")));
        }
        let _ = writeln!(
            text,
            "{mark}[[grants]]\n{mark}server = {server}\n{mark}tool = {tool}\n{mark}permissions = [{permissions}]"
        );
    }
}
