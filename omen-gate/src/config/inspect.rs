//! Inspection of a configuration: its errors, and obstacles to starting a gate or running a tool.

mod order;

use std::io;
use std::path::Path;
use std::time::SystemTime;

use omen_types::suggest::{list, nearest};

use super::error::{ConfigError, ConfigErrors};
use super::source::TomlSource;
use super::{Audit, Command, Config, HeaderSource, KeySource, load};
use crate::base::json::below;
use crate::base::{ToolId, bounded, regular_file};
use crate::catalog::Catalog;
use omen_audit::{Anchor, AuditError, Key};

/// Result of inspecting a configuration file.
#[derive(Debug)]
#[non_exhaustive]
pub struct Inspection {
    /// Configuration, if the text is valid.
    pub config: Option<Config>,
    /// Errors in the text, or, if it is valid, obstacles to starting a gate here and now.
    pub errors: Vec<ConfigError>,
    /// Settings that keep tools from running, perhaps unintentionally.
    pub warnings: Vec<ConfigError>,
}

impl Config {
    /// Reads a file and checks what it refers to: the key, the log, the programs. Nothing is started or written. Grants are
    /// checked for expiry at `now`. If the tools listed by the servers are given, argument rules are also checked against the
    /// schema of each tool whose form matches its pin. If there are no errors, `find_vacuous` returns the paths of order rules
    /// to warn about, as [`prove::vacuous`](crate::prove::vacuous) does.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn inspect(
        path: &Path,
        now: SystemTime,
        catalog: Option<&Catalog>,
        find_vacuous: impl Fn(&Self) -> Vec<String>,
    ) -> Result<Inspection, ConfigErrors> {
        Ok(Self::inspect_text(&load::read(path)?, path, now, catalog, find_vacuous))
    }

    /// Inspects a text as if it were the content of this file, which need not exist, e.g. for an editor.
    #[must_use]
    pub fn inspect_as(text: &str, file: &Path, now: SystemTime, catalog: Option<&Catalog>) -> Inspection {
        Self::inspect_text(text, file, now, catalog, |_| Vec::new())
    }

    fn inspect_text(
        text: &str,
        file: &Path,
        now: SystemTime,
        catalog: Option<&Catalog>,
        find_vacuous: impl Fn(&Self) -> Vec<String>,
    ) -> Inspection {
        let invalid = |errors: ConfigErrors| Inspection { config: None, errors: errors.0, warnings: Vec::new() };
        let source = match TomlSource::read(text) {
            Ok(source) => source,
            Err(errors) => return invalid(errors),
        };
        let config = match load::judge(&source, file) {
            Ok(config) => config,
            Err(errors) => return invalid(errors),
        };
        let mut found = Inspector { source: &source, errors: Vec::new(), warnings: Vec::new() };
        found.programs(&config);
        found.endpoints(&config);
        match &config.audit {
            Some(audit) => found.audit(audit),
            None => found.warn(
                "",
                "there is no `[audit]` table, so a gate starts only if the program provides an audit log",
                "add an `[audit]` table with `log` and `key_file`",
            ),
        }
        found.tools(&config, now);
        found.arguments(&config, catalog);
        found.order(&config, catalog);
        if found.errors.is_empty() {
            found.vacuous(&find_vacuous(&config));
        }
        let Inspector { mut errors, mut warnings, .. } = found;
        for found in [&mut errors, &mut warnings] {
            found.sort_by_key(|error| (error.line, error.column));
        }
        Inspection { config: Some(config), errors, warnings }
    }
}

struct Inspector<'s, 't> {
    source: &'s TomlSource<'t>,
    errors: Vec<ConfigError>,
    warnings: Vec<ConfigError>,
}

impl Inspector<'_, '_> {
    fn wrong(&mut self, pointer: &str, message: impl Into<String>, help: impl Into<String>) {
        self.errors.push(self.source.error(pointer, message, help));
    }

    fn warn(&mut self, pointer: &str, message: impl Into<String>, help: impl Into<String>) {
        self.warnings.push(self.source.error(pointer, message, help));
    }

    fn programs(&mut self, config: &Config) {
        for (name, server) in &config.servers {
            let Some(command) = &server.command else { continue };
            if let Err((message, help)) = startable(command) {
                self.wrong(&below(&below("/servers", name.as_str()), "command"), message, help);
            }
        }
    }

    /// Checks the headers sent to servers over HTTP, and the trusted certificates.
    fn endpoints(&mut self, config: &Config) {
        for (name, server) in &config.servers {
            let Some(endpoint) = &server.endpoint else { continue };
            let pointer = below("/servers", name.as_str());
            for (header, value) in endpoint.headers() {
                if let HeaderSource::Env { variable, .. } = value
                    && std::env::var_os(variable).is_none_or(|value| value.is_empty())
                {
                    let message = format!("the variable `{}` for the header `{header}` is not set", bounded(variable));
                    self.wrong(&below(&pointer, "headers"), message, "set it in the environment of the proxy");
                }
            }
            if let Some(file) = &endpoint.ca_file
                && let Err(error) = regular_file::open(file)
            {
                let message =
                    format!("cannot read the certificates in `{}`: {error}", bounded(&file.to_string_lossy()));
                self.wrong(&below(&pointer, "ca_file"), message, "specify a file with PEM certificates");
            }
        }
    }

    fn audit(&mut self, audit: &Audit) {
        let (key, pointer) = match &audit.key {
            KeySource::File(file) => (Key::from_file(file), "/audit/key_file"),
            KeySource::Env(variable) => (Key::from_env(variable), "/audit/key_env"),
        };
        let anchor = match (&key, &audit.require_anchor) {
            (Ok(key), Some(path)) => Anchor::from_file(path, key).map(drop),
            _ => Ok(()),
        };
        if let Err(error) = anchor {
            let error = AuditError::from(error);
            self.wrong("/audit/require_anchor", error.to_string(), error.help());
        }
        if let Err(error) = key {
            self.wrong(pointer, error.to_string(), error.help());
        }
        if let Err((message, help)) = writable(&audit.log) {
            self.wrong("/audit/log", message, help);
        }
    }

    /// Checks that each allowed tool has an approved form and that all of its permissions are granted.
    fn tools(&mut self, config: &Config, now: SystemTime) {
        for index in 0..items(self.source, "allow") {
            let Some(tool) = tool_at(self.source, "allow", index) else { continue };
            let allowed = config.allow.iter().find(|allowed| allowed.demand.tool.to_string() == tool);
            let Some(allowed) = allowed else { continue };
            let pointer = format!("/allow/{index}");
            if allowed.pin.is_none() {
                let message = format!("`{tool}` has no pin, so no form of it is approved and it cannot be called");
                self.warn(&pointer, message, "add the `pin` that `omen gate catalog --pins` prints");
            }
            let granted = |permission| {
                let mut grants = config.grants.iter();
                grants.any(|grant| grant.tool == allowed.demand.tool && grant.permission == permission)
            };
            let missing: Vec<_> =
                allowed.demand.permissions.iter().filter(|permission| !granted(*permission)).collect();
            if !missing.is_empty() {
                let names: Vec<_> = missing.iter().map(|permission| permission.as_str()).collect();
                let message =
                    format!("`{tool}` has no grant of {}, so it cannot be called", list(names.iter().copied()));
                let help = format!("add it to `[[grants]]`: `permissions = [\"{}\"]`", names.join("\", \""));
                self.warn(&pointer, message, help);
            }
        }
        for index in 0..items(self.source, "grants") {
            let Some(tool) = tool_at(self.source, "grants", index) else { continue };
            let pointer = format!("/grants/{index}/expires");
            // Each entry of the file yields one grant per permission, all with the same expiry.
            let text = self.source.value.pointer(&pointer).and_then(|value| value.as_str()).map(str::to_owned);
            let Some(text) = text else { continue };
            let has_expired = config.grants.iter().any(|grant| {
                grant.tool.to_string() == tool
                    && grant
                        .expires
                        .is_some_and(|expires| expires <= now && super::check::expiry(&text) == Some(expires))
            });
            if has_expired {
                self.warn(
                    &pointer,
                    format!("the grant for `{tool}` has expired"),
                    "set a later time, or remove the grant",
                );
            }
        }
    }
}

impl Inspector<'_, '_> {
    /// Warns about rules that refuse every call because they contradict their tool's schema or their folder does not exist.
    fn arguments(&mut self, config: &Config, catalog: Option<&Catalog>) {
        for index in 0..items(self.source, "allow") {
            let Some(tool) = tool_at(self.source, "allow", index) else { continue };
            let Some(allowed) = config.allow.iter().find(|allowed| allowed.demand.tool.to_string() == tool) else {
                continue;
            };
            let table = format!("/allow/{index}/where");
            for (pointer, folder) in allowed.arguments.missing_folders() {
                let message = format!("the folder `{}` does not exist, so `{tool}` cannot be called", bounded(folder));
                let at = below(&below(&table, pointer), "under");
                self.warn(&at, message, format!("create it: `mkdir -p {}`", bounded(folder)));
            }
            let Some(catalog) = catalog else { continue };
            let Some(listed) = catalog.get(&allowed.demand.tool) else {
                self.not_listed(index, &allowed.demand.tool, catalog);
                continue;
            };
            if listed.pin().ok() != allowed.pin.as_ref() {
                if allowed.pin.is_some() {
                    let message = format!("`{tool}` has changed since it was approved, so it cannot be called");
                    let help = "review its new form, and copy its `pin` from `omen gate catalog --pins`";
                    self.warn(&format!("/allow/{index}/pin"), message, help);
                }
                continue;
            }
            for misfit in allowed.arguments.misfits(&listed.tool().input_schema) {
                self.wrong(&below(&table, &misfit.pointer), misfit.message, misfit.help);
            }
        }
    }

    /// Warns about an entry for a tool that no server lists.
    fn not_listed(&mut self, index: usize, tool: &ToolId, catalog: &Catalog) {
        let names = catalog.iter().map(|listed| listed.id()).filter(|id| id.server == tool.server);
        let near = nearest(tool.tool.as_str(), names.map(|id| id.tool.as_str()));
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => "remove the entry, or name a tool that `omen gate catalog` lists".to_owned(),
        };
        self.warn(
            &format!("/allow/{index}/tool"),
            format!("`{tool}` is not in the catalogue, so this entry allows nothing"),
            help,
        );
    }
}

fn items(source: &TomlSource<'_>, key: &str) -> usize {
    source.value.get(key).and_then(serde_json::Value::as_array).map_or(0, Vec::len)
}

/// Returns the name of the tool in an entry, such as `files/read`.
fn tool_at(source: &TomlSource<'_>, key: &str, index: usize) -> Option<String> {
    let entry = source.value.get(key)?.get(index)?;
    Some(format!("{}/{}", entry.get("server")?.as_str()?, entry.get("tool")?.as_str()?))
}

/// Checks that the program of a server can be started, as far as possible without starting it.
fn startable(command: &Command) -> Result<(), (String, String)> {
    let program = bounded(&command.program);
    if command.is_bare() {
        let path = std::env::var_os("PATH").unwrap_or_default();
        if std::env::split_paths(&path).any(|folder| executable(&folder.join(&command.program)).is_ok()) {
            return Ok(());
        }
        let help = "install it, or write its path; a path is relative to the folder of the configuration";
        return Err((format!("the program `{program}` is not in `PATH`"), help.to_owned()));
    }
    let path = command.to_path();
    executable(&path).map_err(|why| {
        let help = "a path is relative to the folder of the configuration".to_owned();
        (format!("the program `{program}` cannot be started: {}: {why}", bounded(&path.to_string_lossy())), help)
    })
}

fn executable(path: &Path) -> Result<(), String> {
    // On Windows, the extension may be omitted.
    let names = [path.to_owned(), path.with_extension("exe")];
    let names = if cfg!(windows) { &names[..] } else { names.get(..1).unwrap_or_default() };
    let mut why = String::new();
    for name in names {
        match name.metadata() {
            Ok(metadata) if !metadata.is_file() => "it is not a file".clone_into(&mut why),
            Ok(_) => match access(name, true) {
                Ok(()) => return Ok(()),
                Err(_) => "it is not executable by this user".clone_into(&mut why),
            },
            Err(error) => why = error.to_string(),
        }
    }
    Err(why)
}

/// Checks that a log can be opened or created here.
fn writable(log: &Path) -> Result<(), (String, String)> {
    let shown = bounded(&log.to_string_lossy());
    let help = || "choose a file in a folder that this user can write to".to_owned();
    match regular_file::open(log) {
        Ok(_) => access(log, false).map_err(|error| (format!("the log `{shown}` cannot be written: {error}"), help())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let folder = log.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let place = bounded(&folder.to_string_lossy());
            match folder.metadata() {
                Ok(metadata) if metadata.is_dir() => access(folder, false)
                    .map_err(|error| (format!("the folder `{place}` of the log cannot be written: {error}"), help())),
                Ok(_) => Err((format!("`{place}`, the folder of the log, is not a folder"), help())),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    let message = format!("the folder `{place}` of the log does not exist");
                    Err((message, format!("create it: `mkdir -p {place}`")))
                }
                Err(error) => Err((format!("the folder `{place}` of the log cannot be read: {error}"), help())),
            }
        }
        Err(error) => Err((format!("the log `{shown}` cannot be opened: {error}"), help())),
    }
}

/// Checks that this user may run a file, or write to a file or folder.
fn access(path: &Path, run: bool) -> io::Result<()> {
    #[cfg(unix)]
    rustix::fs::access(path, if run { rustix::fs::Access::EXEC_OK } else { rustix::fs::Access::WRITE_OK })?;
    #[cfg(not(unix))]
    let _ = (path, run);
    Ok(())
}
