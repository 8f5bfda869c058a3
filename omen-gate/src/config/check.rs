//! What the file means, checked: names, patterns, and what refers to what.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::time::{Duration, SystemTime};

use omen_types::suggest::nearest;
use omen_types::time::Timestamp;
use regex::Regex;
use serde::Deserialize as _;

use super::error::{ConfigError, ConfigErrors, MAX_ERRORS};
use super::file::{self, File};
use super::source::{Source, member};
use super::{Audit, Command, Config, KeySource, Server};
use crate::breaker::BreakerLimits;
use crate::catalog::{Allowed, Allowlist, Pin};
use crate::confirm::ConfirmLimits;
use crate::{
    BadPolicy, BudgetLimits, Demand, Grant, Permissions, Policy, ServerName, ToolId, ToolName, bounded, grant,
};

/// Makes a configuration of a text that satisfies the schema.
pub(super) fn build(source: &Source<'_>) -> Result<Config, ConfigErrors> {
    let file = File::deserialize(&source.value).map_err(|error| {
        // The schema is made of the same types, so that it finds this before; the test of the schema says so.
        ConfigErrors(vec![source.error("", bounded(&error.to_string()), "see the schema of the configuration")])
    })?;
    let mut check = Check { source, errors: Vec::new() };
    let policy = check.policy(file.policy);
    let servers = check.servers(file.servers);
    let allow = check.allow(file.allow, &servers);
    let grants = check.grants(file.grants, &allow);
    let audit = file.audit.and_then(|audit| check.audit(audit));
    let confirm =
        ConfirmLimits { timeout: seconds(file.confirm.timeout_seconds), valid: seconds(file.confirm.valid_seconds) };
    let breaker = BreakerLimits {
        failures: NonZeroU32::new(file.breaker.failures).unwrap_or(NonZeroU32::MIN),
        cooldown: seconds(file.breaker.cooldown_seconds),
    };
    let budget = BudgetLimits::new(file.budget.failures, file.budget.in_a_row);
    let (Some(policy), true) = (policy, check.errors.is_empty()) else {
        check.errors.sort_by_key(|error| (error.line, error.column));
        check.errors.truncate(MAX_ERRORS);
        return Err(ConfigErrors(check.errors));
    };
    let policy = policy.longest(file.limits.request_bytes as usize);
    // Each tool is there once: the keys of the map are the tools.
    let allow = Allowlist::new(allow.into_values()).unwrap_or_else(|error| Allowlist::nothing(error.to_string()));
    Ok(Config { policy, limits: file.limits, servers, allow, grants, breaker, budget, confirm, audit })
}

struct Check<'s, 't> {
    source: &'s Source<'t>,
    errors: Vec<ConfigError>,
}

impl Check<'_, '_> {
    fn wrong(&mut self, pointer: &str, message: impl Into<String>, help: impl Into<String>) {
        self.errors.push(self.source.error(pointer, message, help));
    }

    fn policy(&mut self, policy: file::Policy) -> Option<Policy> {
        let before = self.errors.len();
        // One by one first, so that the mistakes of all are told.
        for (index, file::Pattern { pattern, reason }) in policy.patterns.iter().enumerate() {
            let Err(bad) = Policy::new([(pattern, reason.as_str())]) else { continue };
            let (key, message, help) = match bad {
                BadPolicy::All { .. } => {
                    ("pattern", "the pattern matches every request".to_owned(), "make it narrower")
                }
                BadPolicy::NoReason { .. } => {
                    ("reason", "the reason is blank".to_owned(), "say why such a request is halted")
                }
                BadPolicy::Pattern { .. } | BadPolicy::Whole { .. } => match Regex::new(pattern) {
                    Err(error @ regex::Error::Syntax(_)) => {
                        // The last line of such an error says what is wrong; those before draw the pattern.
                        let why = error.to_string();
                        let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ");
                        let message = format!("the pattern is no regular expression: {}", bounded(why));
                        ("pattern", message, "see the documentation of the crate `regex` for the syntax")
                    }
                    _ => ("pattern", "the pattern is too large when it is compiled".to_owned(), "make it simpler"),
                },
            };
            self.wrong(&format!("/policy/patterns/{index}/{key}"), message, help);
        }
        if self.errors.len() > before {
            return None;
        }
        let all = policy.patterns.into_iter().map(|file::Pattern { pattern, reason }| (pattern, reason));
        let policy = Policy::new(all).ok();
        if policy.is_none() {
            self.wrong("/policy/patterns", "the patterns are too large together", "make them fewer or simpler");
        }
        policy
    }

    fn servers(&mut self, servers: BTreeMap<String, file::Server>) -> BTreeMap<ServerName, Server> {
        let mut checked = BTreeMap::new();
        for (name, server) in servers {
            let pointer = member("/servers", &name);
            let command = match server.command {
                Some(program) => {
                    let file::Server { args, env, pass_env, .. } = server;
                    for name in env.keys() {
                        self.variable(&member(&member(&pointer, "env"), name), name);
                    }
                    for (index, name) in pass_env.iter().enumerate() {
                        self.variable(&format!("{pointer}/pass_env/{index}"), name);
                    }
                    Some(Command { program, args, env, pass_env })
                }
                None => {
                    if !(server.args.is_empty() && server.env.is_empty() && server.pass_env.is_empty()) {
                        let message = format!("the server `{}` has no `command` for its other keys", bounded(&name));
                        self.wrong(&pointer, message, "add the `command`, or leave the table empty");
                    }
                    None
                }
            };
            match ServerName::new(&name) {
                Ok(name) => {
                    checked.insert(name, Server { command });
                }
                Err(error) => self.wrong(&pointer, error.to_string(), "give the server another name"),
            }
        }
        checked
    }

    fn variable(&mut self, pointer: &str, name: &str) {
        if name.is_empty() || name.contains(['=', '\0']) {
            let message = format!("`{}` is no name of an environment variable", bounded(name));
            self.wrong(pointer, message, "write a name without `=`");
        }
    }

    fn allow(
        &mut self,
        entries: Vec<file::Allow>,
        servers: &BTreeMap<ServerName, Server>,
    ) -> BTreeMap<ToolId, Allowed> {
        let mut checked = BTreeMap::new();
        for (index, entry) in entries.into_iter().enumerate() {
            let pointer = format!("/allow/{index}");
            let Some(tool) = self.tool(&pointer, &entry.server, &entry.tool) else { continue };
            if !servers.contains_key(&tool.server) {
                let message = format!("there is no server `{}`", tool.server);
                let help = match nearest(tool.server.as_str(), servers.keys().map(ServerName::as_str)) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("add a table `[servers.{}]`; it may be empty", tool.server),
                };
                self.wrong(&member(&pointer, "server"), message, help);
            }
            let Ok(permissions) = Permissions::new(entry.permissions) else { continue };
            let demand = Demand { tool: tool.clone(), permissions, always_confirm: entry.always_confirm };
            let pin = entry.pin.map(|pin| {
                pin.parse::<Pin>().map_err(|error| {
                    self.wrong(
                        &member(&pointer, "pin"),
                        error.to_string(),
                        "write the pin that `omen gate catalog` gives",
                    );
                })
            });
            // A pin that is none is told; with it, there is no configuration.
            let pin = pin.and_then(Result::ok);
            if checked.insert(tool.clone(), Allowed { demand, pin }).is_some() {
                self.wrong(&pointer, format!("`{tool}` is allowed twice"), "write one entry for a tool");
            }
        }
        checked
    }

    fn grants(&mut self, entries: Vec<file::Grants>, allow: &BTreeMap<ToolId, Allowed>) -> Vec<Grant> {
        let mut checked = Vec::new();
        for (index, entry) in entries.into_iter().enumerate() {
            let pointer = format!("/grants/{index}");
            let Some(tool) = self.tool(&pointer, &entry.server, &entry.tool) else { continue };
            let Some(allowed) = allow.get(&tool) else {
                self.not_allowed(&member(&pointer, "tool"), &tool, allow);
                continue;
            };
            let expires = entry.expires.as_deref().and_then(|text| self.expiry(&member(&pointer, "expires"), text));
            let uses = entry.uses.and_then(NonZeroU32::new);
            for permission in entry.permissions {
                if !allowed.demand.permissions.contains(permission) {
                    let message = format!("`{tool}` has no use for a grant of `{permission}`");
                    let help = format!("the tool's entry in `allow` lists `{}` only", allowed.demand.permissions);
                    self.wrong(&member(&pointer, "permissions"), message, help);
                }
                let (tool, source) = (tool.clone(), grant::Source::Config);
                checked.push(Grant { tool, permission, source, expires, uses, pre_granted: entry.pre_granted });
            }
        }
        if checked.len() > grant::MAX_GRANTS {
            let message = format!("there are more than {} grants", grant::MAX_GRANTS);
            self.wrong("/grants", message, "grant less");
        }
        checked
    }

    fn not_allowed(&mut self, pointer: &str, tool: &ToolId, allow: &BTreeMap<ToolId, Allowed>) {
        let names: BTreeSet<_> = allow.keys().map(ToString::to_string).collect();
        let help = match nearest(&tool.to_string(), names.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "add an entry to `allow`; a grant alone allows nothing".to_owned(),
        };
        self.wrong(pointer, format!("`{tool}` is granted something but not allowed"), help);
    }

    fn tool(&mut self, pointer: &str, server: &str, tool: &str) -> Option<ToolId> {
        let server = ServerName::new(server).map_err(|error| {
            self.wrong(&member(pointer, "server"), error.to_string(), "write the name of a server of this file");
        });
        let tool = ToolName::new(tool).map_err(|error| {
            self.wrong(&member(pointer, "tool"), error.to_string(), "write the tool's name as its server lists it");
        });
        Some(ToolId { server: server.ok()?, tool: tool.ok()? })
    }

    /// Fractions of a second are cut off, so that a grant ends early rather than late.
    fn expiry(&mut self, pointer: &str, text: &str) -> Option<SystemTime> {
        let since = Timestamp::new(text).ok().and_then(|time| u64::try_from(time.instant().unix_seconds()).ok());
        let time = since.and_then(|since| SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(since)));
        if time.is_none() {
            let message = format!("`{}` is no time since 1970 with its offset", bounded(text));
            self.wrong(pointer, message, "write a time as in RFC 3339, such as `2027-01-01T00:00:00Z`");
        }
        time
    }

    fn audit(&mut self, audit: file::Audit) -> Option<Audit> {
        let key = match (audit.key_file, audit.key_env) {
            (Some(file), None) => KeySource::File(file.into()),
            (None, Some(variable)) => {
                self.variable("/audit/key_env", &variable);
                KeySource::Env(variable)
            }
            (given, _) => {
                let many = if given.is_some() { "two keys" } else { "no key" };
                let help = "write either `key_file` or `key_env`";
                self.wrong("/audit", format!("the audit log has {many}"), help);
                return None;
            }
        };
        Some(Audit { log: audit.log.into(), key, sync: audit.sync })
    }
}

fn seconds(seconds: u32) -> Duration {
    Duration::from_secs(u64::from(seconds))
}
