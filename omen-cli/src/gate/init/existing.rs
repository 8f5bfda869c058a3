//! A configuration that a server is added to.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use omen_gate::{Config, ServerName};

use crate::gate::commands;
use crate::output::{Color, Output};

/// A configuration that exists, as it was read.
pub(super) struct Existing {
    path: PathBuf,
    text: String,
}

impl Existing {
    /// Reads a configuration that has no such server yet.
    pub(super) fn read(path: &Path, server: &ServerName) -> Result<Self, String> {
        let shown = path.display();
        let text = fs::read_to_string(path).map_err(|error| {
            format!("cannot add to {shown}: {error}; leave out `--add` to write a new configuration")
        })?;
        let config = Config::parse_as(&text, path).map_err(|_| {
            let check = format!("omen gate check --config {}", commands::quoted(&path.to_string_lossy()));
            format!("cannot add to {shown}: it has errors, which `{check}` lists; correct them first")
        })?;
        if config.servers.contains_key(server) {
            return Err(format!(
                "{shown} has a server `{server}` already; give the other one another name with `--server NAME`"
            ));
        }
        Ok(Self { path: path.to_owned(), text })
    }

    /// The text with an addition at its end.
    pub(super) fn with(&self, addition: &str) -> String {
        let end = if self.text.is_empty() || self.text.ends_with('\n') { "" } else { "\n" };
        format!("{}{end}{addition}", self.text)
    }

    /// Puts another text in its place, unless somebody has changed it since.
    pub(super) fn replace(self, text: &str) -> Result<(), String> {
        let shown = self.path.display();
        if !fs::read(&self.path).is_ok_and(|now| now == self.text.as_bytes()) {
            return Err(format!("{shown} was changed in the meantime, and is left as it is; run the command again"));
        }
        put(&self.path, text).map_err(|error| format!("cannot write {shown}: {error}"))
    }
}

/// Puts a file in the place of another one, whole or not at all.
pub(super) fn put(path: &Path, text: &str) -> io::Result<()> {
    let mut file = Output::to_file(path, false, Color::Never)?;
    file.write_all(text.as_bytes())?;
    file.finish()
}
