//! Semantic checks of a configuration: names, patterns, cross-references.

mod arguments;
mod endpoint;
mod order;

use std::collections::{BTreeMap, BTreeSet};
use std::num::{NonZeroU32, NonZeroU64};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use omen_order::rules::config::Max;
use omen_types::scalar::invisible::is_invisible;
use omen_types::suggest::nearest;
use omen_types::time::Timestamp;
use regex::Regex;
use serde::Deserialize as _;
use zeroize::Zeroizing;

use super::error::{ConfigError, ConfigErrors, MAX_ERRORS};
use super::file::{self, File};
use super::named_paths::is_same_file;
use super::named_paths::named_paths;
use super::order_keys::OrderKeys;
use super::source::{TomlSource, path};
use super::{Audit, Command, Config, Endpoint, INHERITED, KeySource, PolicyHash, Server};
use crate::base::json::below;
use crate::base::{Permissions, ServerName, ToolId, ToolName, bounded};
use crate::call::{BadRate, BreakerLimits, BudgetLimits, CallLimits, Demand, Rate};
use crate::catalog::{Allowed, Allowlist, Pin};
use crate::config::query_policy::{BadPolicy, Policy};
use crate::grant::{self, ConfirmLimits, Grant};
use omen_audit::store::{head_path, is_beside};

/// Builds a configuration from text that satisfies the schema.
pub(super) fn build(source: &TomlSource<'_>) -> Result<Config, ConfigErrors> {
    let mut file = File::deserialize(&source.value).map_err(|error| {
        // The schema is derived from the same types, so it finds this error first; a test ensures this.
        ConfigErrors(vec![source.error("", bounded(&error.to_string()), "see the schema of the configuration")])
    })?;
    let mut check = Check { source, errors: Vec::new() };
    let shadow = file.policy.shadow;
    let policy = check.policy(file.policy);
    let servers = check.servers(file.servers);
    let order_keys: Vec<_> = file.allow.iter_mut().map(OrderKeys::take).collect();
    let folder = Arc::default();
    let order = Arc::new(check.order(&order_keys, &file.order, &folder));
    let allow = check.allow(file.allow, &servers);
    let grants = check.grants(file.grants, &allow);
    let audit = file.audit.and_then(|audit| check.audit(audit));
    if let Some(audit) = &audit {
        check.key_stays(audit, &servers);
    }
    let confirm_socket = file.confirm.socket.map(|path| {
        check.without_nul("/confirm/socket", "the path", &path);
        PathBuf::from(path)
    });
    let confirm =
        ConfirmLimits { timeout: seconds(file.confirm.timeout_seconds), valid: seconds(file.confirm.valid_seconds) };
    let breaker = BreakerLimits {
        failures: NonZeroU32::new(file.breaker.failures).unwrap_or(NonZeroU32::MIN),
        cooldown: seconds(file.breaker.cooldown_seconds),
    };
    let budget = BudgetLimits::new(file.budget.failures, file.budget.in_a_row);
    let calls = CallLimits {
        turn: file.budget.turn_calls.and_then(NonZeroU32::new),
        session: file.budget.session_calls.and_then(NonZeroU32::new),
    };
    let (Some(policy), true) = (policy, check.errors.is_empty()) else {
        check.errors.sort_by_key(|error| (error.line, error.column));
        check.errors.truncate(MAX_ERRORS);
        return Err(ConfigErrors(check.errors));
    };
    let policy = policy.longest(file.limits.request_bytes as usize);
    // Tools are unique because they are map keys.
    let allow = Allowlist::new(allow.into_values()).unwrap_or_else(|error| Allowlist::nothing(error.to_string()));
    let hash = PolicyHash::from_value(&source.value)
        .map_err(|error| ConfigErrors(vec![source.error("", error.to_string(), "write smaller numbers")]))?;
    Ok(Config {
        policy,
        shadow,
        limits: file.limits,
        servers,
        allow,
        grants,
        breaker,
        budget,
        calls,
        user_turn: file.budget.user_turn,
        on_veto: file.episode.on_veto.into(),
        confirm,
        confirm_socket,
        audit,
        folder: None,
        order,
        order_folder: folder,
        hash,
        keeps_shadow: false,
    })
}

struct Check<'s, 't> {
    source: &'s TomlSource<'t>,
    errors: Vec<ConfigError>,
}

impl Check<'_, '_> {
    fn wrong(&mut self, pointer: &str, message: impl Into<String>, help: impl Into<String>) {
        self.errors.push(self.source.error(pointer, message, help));
    }

    fn policy(&mut self, policy: file::PolicyTable) -> Option<Policy> {
        let before = self.errors.len();
        // Compiled one by one first, so that every mistake is reported.
        for (index, file::HaltPattern { pattern, reason }) in policy.patterns.iter().enumerate() {
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
                        // The last line of the error states the reason; the lines before it draw the pattern.
                        let why = error.to_string();
                        let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ");
                        let message = format!("invalid regular expression: {}", bounded(why));
                        ("pattern", message, "see the documentation of the crate `regex` for the syntax")
                    }
                    _ => ("pattern", "the compiled pattern is too large".to_owned(), "make it simpler"),
                },
            };
            self.wrong(&format!("/policy/patterns/{index}/{key}"), message, help);
        }
        if self.errors.len() > before {
            return None;
        }
        let all = policy.patterns.into_iter().map(|file::HaltPattern { pattern, reason }| (pattern, reason));
        let policy = Policy::new(all).ok();
        if policy.is_none() {
            self.wrong("/policy/patterns", "the patterns are too large in total", "use fewer or simpler patterns");
        }
        policy
    }

    fn servers(&mut self, servers: BTreeMap<String, file::ServerTable>) -> BTreeMap<ServerName, Server> {
        let mut checked = BTreeMap::new();
        for (name, server) in servers {
            let pointer = below("/servers", &name);
            let endpoint = self.endpoint(&pointer, &name, &server);
            let errors = server.errors.into();
            let command = match server.command {
                Some(program) => {
                    let file::ServerTable { args, env, pass_env, .. } = server;
                    let place = below(&pointer, "command");
                    self.without_nul(&place, "the command", &program);
                    // A program name cannot consist of invisible characters.
                    if program.chars().all(|c| c.is_whitespace() || is_invisible(c)) && !program.contains('\0') {
                        self.wrong(&place, "the command is blank", "specify the program to start");
                    }
                    for (index, arg) in args.iter().enumerate() {
                        self.without_nul(&format!("{pointer}/args/{index}"), "the argument", arg);
                    }
                    for (name, value) in &env {
                        let place = below(&below(&pointer, "env"), name);
                        self.variable(&place, name);
                        self.without_nul(&place, "the value of the variable", value);
                    }
                    for (index, name) in pass_env.iter().enumerate() {
                        self.variable(&format!("{pointer}/pass_env/{index}"), name);
                    }
                    Some(Command { program, args, env, pass_env, dir: None })
                }
                None if server.url.is_some() => None,
                None => {
                    if !(server.args.is_empty() && server.env.is_empty() && server.pass_env.is_empty()) {
                        let message =
                            format!("missing key `command` for the server `{}`, which has other keys", bounded(&name));
                        self.wrong(&pointer, message, "add the `command`, or empty the table");
                    }
                    None
                }
            };
            match ServerName::new(&name) {
                Ok(name) => {
                    checked.insert(name, Server { command, endpoint, errors });
                }
                Err(error) => self.wrong(&pointer, error.to_string(), "give the server another name"),
            }
        }
        checked
    }

    /// Refuses a NUL, where the operating system would truncate the text. The text may be a secret and is not quoted.
    fn without_nul(&mut self, pointer: &str, what: &str, text: &str) {
        if text.contains('\0') {
            self.wrong(pointer, format!("{what} contains a NUL character"), "remove the NUL character");
        }
    }

    fn variable(&mut self, pointer: &str, name: &str) {
        if name.is_empty() || name.contains(['=', '\0']) {
            let message = format!("invalid name of an environment variable: `{}`", bounded(name));
            self.wrong(pointer, message, "write a name without `=`");
        }
    }

    fn allow(
        &mut self,
        entries: Vec<file::AllowTable>,
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
                self.wrong(&below(&pointer, "server"), message, help);
            }
            let Ok(permissions) = Permissions::new(entry.permissions) else { continue };
            let demand = Demand { tool: tool.clone(), permissions, always_confirm: entry.always_confirm };
            let pin = entry.pin.map(|pin| {
                pin.parse::<Pin>().map_err(|error| {
                    self.wrong(
                        &below(&pointer, "pin"),
                        error.to_string(),
                        "copy the pin from the output of `omen gate catalog --pins`",
                    );
                })
            });
            // An invalid pin is reported and makes the configuration invalid.
            let pin = pin.and_then(Result::ok);
            let arguments = self.arguments(&below(&pointer, "where"), entry.arguments);
            let rate = entry.max.and_then(|max| {
                let Max::Rate(text) = max else { return None };
                let rate = text.parse::<Rate>();
                rate.map_err(|BadRate| {
                    let message = format!("invalid limit `{}`: {BadRate}", bounded(&text));
                    self.wrong(&below(&pointer, "max"), message, "write how often the tool may be called: `10/min`");
                })
                .ok()
            });
            if checked.insert(tool.clone(), Allowed { demand, pin, arguments, rate }).is_some() {
                self.wrong(&pointer, format!("duplicate entry for `{tool}`"), "write one entry per tool");
            }
        }
        checked
    }

    fn grants(&mut self, entries: Vec<file::GrantsTable>, allow: &BTreeMap<ToolId, Allowed>) -> Vec<Grant> {
        let mut checked = Vec::new();
        for (index, entry) in entries.into_iter().enumerate() {
            let pointer = format!("/grants/{index}");
            let Some(tool) = self.tool(&pointer, &entry.server, &entry.tool) else { continue };
            let Some(allowed) = allow.get(&tool) else {
                self.not_allowed(&below(&pointer, "tool"), &tool, allow);
                continue;
            };
            let expires = entry.expires.as_deref().and_then(|text| self.expiry(&below(&pointer, "expires"), text));
            let uses = entry.uses.and_then(NonZeroU32::new);
            for permission in entry.permissions {
                if !allowed.demand.permissions.contains(permission) {
                    let message = format!("`{tool}` does not need `{permission}`");
                    let help = format!("the tool's entry in `allow` lists only `{}`", allowed.demand.permissions);
                    self.wrong(&below(&pointer, "permissions"), message, help);
                }
                let (tool, source) = (tool.clone(), grant::Source::Config);
                checked.push(Grant { tool, permission, source, expires, uses, pre_granted: entry.pre_granted });
            }
        }
        if checked.len() > grant::MAX_GRANTS {
            let message = format!("there are more than {} grants", grant::MAX_GRANTS);
            self.wrong("/grants", message, "remove some grants");
        }
        checked
    }

    fn not_allowed(&mut self, pointer: &str, tool: &ToolId, allow: &BTreeMap<ToolId, Allowed>) {
        let names: BTreeSet<_> = allow.keys().map(ToString::to_string).collect();
        let help = match nearest(&tool.to_string(), names.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "add an entry to `allow`; a grant alone allows nothing".to_owned(),
        };
        self.wrong(pointer, format!("`{tool}` has a grant but is not allowed"), help);
    }

    fn tool(&mut self, pointer: &str, server: &str, tool: &str) -> Option<ToolId> {
        let server = ServerName::new(server).map_err(|error| {
            self.wrong(&below(pointer, "server"), error.to_string(), "write the name of a server in this file");
        });
        let tool = ToolName::new(tool).map_err(|error| {
            self.wrong(&below(pointer, "tool"), error.to_string(), "write the tool's name as its server lists it");
        });
        Some(ToolId { server: server.ok()?, tool: tool.ok()? })
    }

    fn expiry(&mut self, pointer: &str, text: &str) -> Option<SystemTime> {
        let time = expiry(text);
        if time.is_none() {
            let message = format!("invalid timestamp `{}`", bounded(text));
            self.wrong(pointer, message, "write RFC 3339, e.g. `2027-01-01T00:00:00Z`");
        }
        time
    }

    fn audit(&mut self, audit: file::AuditTable) -> Option<Audit> {
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
        let paths = [
            ("log", Some(audit.log.as_str())),
            ("key_file", file_of(&key)),
            ("require_anchor", audit.require_anchor.as_deref()),
        ];
        for (member, path) in paths {
            self.without_nul(&format!("/audit/{member}"), "the path", path.unwrap_or_default());
        }
        if let Some(file) = file_of(&key)
            && is_beside(&lexical(&audit.log), &lexical(file))
        {
            self.wrong("/audit/key_file", one_file(&audit.log, file), APART);
        }
        let recorder = self.recorder(audit.arguments, &audit.secrets, &audit.secret_patterns);
        let rotate_after = audit.rotate_seconds.map(|seconds| Duration::from_secs(u64::from(seconds)));
        let rotate_bytes = audit.rotate_bytes.and_then(|bytes| NonZeroU64::new(u64::from(bytes)));
        let require_anchor = audit.require_anchor.map(PathBuf::from);
        Some(Audit {
            log: audit.log.into(),
            key,
            sync: audit.sync,
            rotate_bytes,
            rotate_after,
            require_anchor,
            recorder,
        })
    }

    /// Refuses a configuration that gives a server the log's key, with which the server could rewrite the log (A3).
    fn key_stays(&mut self, audit: &Audit, servers: &BTreeMap<ServerName, Server>) {
        let commands = commands(servers);
        match &audit.key {
            KeySource::Env(variable) => {
                self.key_is_not_sent(variable, servers);
                if INHERITED.iter().any(|inherited| is_same_variable(inherited, variable)) {
                    let message = format!("every server inherits `{variable}`, so it cannot hold the key of the log");
                    self.wrong("/audit/key_env", message, KEEP);
                }
                for (name, command) in commands {
                    let pointer = below("/servers", name.as_str());
                    let passed = command.pass_env.iter().enumerate();
                    let passed = passed.map(|(index, name)| (format!("{pointer}/pass_env/{index}"), name));
                    let set = command.env.keys().map(|name| (below(&below(&pointer, "env"), name), name));
                    let named: Vec<_> =
                        passed.chain(set).filter(|(_, name)| is_same_variable(name, variable)).collect();
                    for (pointer, _) in named {
                        let place = path(&self.source.value, &pointer);
                        let message = format!(
                            "`{place}` gives the server `{variable}`, which holds the key of the log (`audit.key_env`)"
                        );
                        self.wrong(&pointer, message, KEEP);
                    }
                }
            }
            KeySource::File(file) => {
                let key = lexical(&file.to_string_lossy());
                for (name, command) in commands {
                    for (pointer, text) in texts(name, command) {
                        if named_paths(text).iter().any(|path| lexical(path) == key) {
                            let place = path(&self.source.value, &pointer);
                            let message =
                                format!("`{place}` passes the key file of the log to the server (`audit.key_file`)");
                            self.wrong(&pointer, message, KEEP);
                        }
                    }
                }
            }
        }
    }
}

/// Runs the checks that depend on the file system and the environment: a configuration with valid text may name one
/// file twice, or contain the key itself. Missing or unreadable files are not refused here.
pub(super) fn surroundings(source: &TomlSource<'_>, config: &Config) -> Result<(), ConfigErrors> {
    let Some(audit) = &config.audit else { return Ok(()) };
    let mut check = Check { source, errors: Vec::new() };
    let what = match &audit.key {
        KeySource::File(file) => {
            let head = head_path(&audit.log);
            if [audit.log.as_path(), &head].into_iter().any(|log| is_same_file(log, file)) {
                check.wrong("/audit/key_file", one_file(&audit.log.to_string_lossy(), &file.to_string_lossy()), APART);
            }
            "passes the key file of the log to the server (`audit.key_file`)"
        }
        KeySource::Env(variable) => {
            let key = std::env::var(variable).map(Zeroizing::new).unwrap_or_default();
            let key = key.trim_ascii();
            let what = "holds the key of the log (`audit.key_env`)";
            for (name, endpoint) in endpoints(&config.servers) {
                let sent = check.sent(name, endpoint);
                for (pointer, _) in sent.into_iter().filter(|(_, text)| !key.is_empty() && text.contains(key)) {
                    let place = path(&source.value, &pointer);
                    check.wrong(&pointer, format!("`{place}` {what}"), KEEP);
                }
            }
            what
        }
    };
    for (name, command) in commands(&config.servers) {
        let folder = command.dir.as_deref().unwrap_or(Path::new(""));
        for (pointer, _) in texts(name, command).filter(|(_, text)| audit.key.is_in(text, folder)) {
            let place = path(&source.value, &pointer);
            check.wrong(&pointer, format!("`{place}` {what}"), KEEP);
        }
    }
    if check.errors.is_empty() { Ok(()) } else { Err(ConfigErrors(check.errors)) }
}

/// Parses an expiry time, truncating fractions of a second so that a grant ends early rather than late.
pub(super) fn expiry(text: &str) -> Option<SystemTime> {
    let since = u64::try_from(Timestamp::new(text).ok()?.instant().unix_seconds()).ok()?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(since))
}

/// Iterates over the servers that the gate starts.
fn commands(servers: &BTreeMap<ServerName, Server>) -> impl Iterator<Item = (&ServerName, &Command)> {
    servers.iter().filter_map(|(name, server)| Some((name, server.command.as_ref()?)))
}

/// Iterates over the servers that the gate reaches at an address.
fn endpoints(servers: &BTreeMap<ServerName, Server>) -> impl Iterator<Item = (&ServerName, &Endpoint)> {
    servers.iter().filter_map(|(name, server)| Some((name, server.endpoint.as_ref()?)))
}

/// Iterates over the texts passed to a server at start, with their pointers.
fn texts<'c>(name: &ServerName, command: &'c Command) -> impl Iterator<Item = (String, &'c str)> {
    let pointer = below("/servers", name.as_str());
    let program = (below(&pointer, "command"), command.program.as_str());
    let args = command.args.iter().enumerate();
    let args: Vec<_> = args.map(|(index, arg)| (format!("{pointer}/args/{index}"), arg.as_str())).collect();
    let env = below(&pointer, "env");
    let env = command.env.iter().map(move |(name, value)| (below(&env, name), value.as_str()));
    std::iter::once(program).chain(args).chain(env)
}

fn file_of(key: &KeySource) -> Option<&str> {
    match key {
        KeySource::File(file) => file.to_str(),
        KeySource::Env(_) => None,
    }
}

fn one_file(log: &str, key: &str) -> String {
    let (log, key) = (bounded(log), bounded(key));
    format!("the key file `{key}` is the log `{log}`, or a file that belongs to the log")
}

/// Removes redundant parts of a path. `..` is resolved without following links, so this is only a preliminary check.
fn lexical(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split(std::path::is_separator) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let root = if path.starts_with(std::path::is_separator) { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

/// Compares names of environment variables, ignoring case on Windows.
fn is_same_variable(a: &str, b: &str) -> bool {
    if cfg!(windows) { a.eq_ignore_ascii_case(b) } else { a == b }
}

const APART: &str = "keep the key in a separate file that neither the agent nor its tools can read";
const KEEP: &str = "do not pass the key to a server: with the key, it could rewrite the log";

fn seconds(seconds: u32) -> Duration {
    Duration::from_secs(u64::from(seconds))
}
