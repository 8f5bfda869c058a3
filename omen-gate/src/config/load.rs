//! Loading of configurations from text and files.

use std::path::{self, Path, PathBuf};

use serde_json::Value;

use super::error::{self, ConfigErrors};
use super::source::{MAX_BYTES, TomlSource};
use super::{CONFIRM_SOCKET, Command, Config, HOOK_SOCKET, KeySource, check, schema};
use crate::base::regular_file;

impl Config {
    /// Parses a configuration.
    ///
    /// # Errors
    /// If the text is invalid. Errors are reported in groups: TOML errors first; then keys, types and ranges; then
    /// semantic errors, such as a grant for a tool that is not allowed.
    pub fn parse(text: &str) -> Result<Self, ConfigErrors> {
        let source = TomlSource::read(text)?;
        schema::check(&source)?;
        check::build(&source)
    }

    /// Loads a file of at most [`MAX_BYTES`]. Its paths are relative to its folder, in which its servers run.
    ///
    /// # Errors
    /// If the file cannot be read, is not a regular file, or is invalid; also if `log` and `key_file` name the same
    /// file, or the configuration file itself contains the key.
    pub fn load(path: &Path) -> Result<Self, ConfigErrors> {
        let text = read(path)?;
        judge(&TomlSource::read(&text)?, path)
    }

    /// Parses a text as if it were the content of this file, which need not exist.
    ///
    /// # Errors
    /// As for [`load`](Self::load).
    pub fn parse_as(text: &str, file: &Path) -> Result<Self, ConfigErrors> {
        judge(&TomlSource::read(text)?, file)
    }

    /// Returns the path that [`hook_socket`](Self::hook_socket) has for the configuration with this text, without checking
    /// the rest of the configuration: for a process that must be fast. Returns `None` if the text is not TOML.
    #[must_use]
    pub fn hook_socket_of(text: &str, file: &Path) -> Option<PathBuf> {
        let source = TomlSource::read(text).ok()?;
        let named = source.value.pointer("/confirm/socket").and_then(Value::as_str).unwrap_or(CONFIRM_SOCKET);
        Some(path::absolute(file).ok()?.parent()?.join(named).with_extension(HOOK_SOCKET))
    }

    /// Returns the JSON Schema (2020-12) of the file, derived from the types that it is deserialized into.
    #[must_use]
    pub fn json_schema() -> Value {
        schema::SCHEMA.clone()
    }
}

/// Reads the text of a file.
pub(super) fn read(path: &Path) -> Result<String, ConfigErrors> {
    use std::io::Read as _;

    let mut bytes = Vec::new();
    // A byte beyond the limit shows that the file is too long.
    let read = regular_file::open(path).and_then(|file| file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes));
    let text = match read {
        Ok(_) => String::from_utf8(bytes).map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    text.map_err(|why| error::unreadable(path, &why))
}

/// Builds the configuration from the text of a file.
pub(super) fn judge(source: &TomlSource<'_>, path: &Path) -> Result<Config, ConfigErrors> {
    schema::check(source)?;
    let mut config = check::build(source)?;
    resolve(&mut config, path);
    check::surroundings(source, &config)?;
    Ok(config)
}

/// Makes all paths in a configuration relative to the folder of its file.
fn resolve(config: &mut Config, file: &Path) {
    // Made absolute, so that changing the working directory has no effect. Without a working directory, the path stays
    // unchanged.
    let file = path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let folder = file.parent().unwrap_or(Path::new("")).to_owned();
    for command in config.servers.values_mut().filter_map(|server| server.command.as_mut()) {
        command.dir = Some(folder.clone());
    }
    for file in config.servers.values_mut().filter_map(|server| server.endpoint.as_mut()?.ca_file.as_mut()) {
        *file = folder.join(&*file);
    }
    if let Some(audit) = &mut config.audit {
        audit.log = folder.join(&audit.log);
        if let KeySource::File(file) = &mut audit.key {
            *file = folder.join(&*file);
        }
        if let Some(anchor) = &mut audit.require_anchor {
            *anchor = folder.join(&*anchor);
        }
    }
    if let Some(socket) = &mut config.confirm_socket {
        *socket = folder.join(&*socket);
    }
    config.allow.start_from(&folder);
    let _ = config.order_folder.set(folder.clone());
    config.folder = Some(folder);
}

/// Resolves a text as a path passed to a server.
fn resolve_path(command: &Command, text: &str) -> PathBuf {
    command.dir.as_deref().unwrap_or(Path::new("")).join(text)
}

impl Command {
    /// Returns the program to start: a path relative to the working directory, or a bare name to search for in `PATH`.
    #[must_use]
    pub fn to_path(&self) -> PathBuf {
        if self.is_bare() { PathBuf::from(&self.program) } else { resolve_path(self, &self.program) }
    }

    /// Returns whether the program is given as a bare name, without a folder.
    pub(super) fn is_bare(&self) -> bool {
        !self.program.contains(path::is_separator)
    }
}
