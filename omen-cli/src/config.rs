//! `omen.toml`: defaults for the options of `omen check`, and for the same options of `omen report`.
//!
//! `keys` lists all keys; parsing, errors and the JSON Schema are derived from it. A key for an option becomes the option's
//! default: it is validated like the option, and the command line takes precedence.

pub(crate) mod content;
mod file;
mod ignores;
mod keys;
mod schema;

use std::fmt;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use omen::render::human::clean;
use omen_gate::regular_file;

use content::Config;

pub(crate) use file::Mistake;
pub(crate) use schema::json_schema;

/// Errors of a configuration file, one line each.
#[derive(Debug)]
pub(crate) struct ConfigErrors(Vec<String>);

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\nomen: "))
    }
}

impl Config {
    /// Sets the configured values that apply to a subcommand as defaults of its options. Returns `None` if there are none.
    pub(crate) fn with_defaults(
        &mut self,
        command: clap::Command,
        name: &'static str,
        applies: impl Fn(&str) -> bool,
    ) -> Option<clap::Command> {
        let mut defaults = std::mem::take(&mut self.defaults);
        defaults.retain(|(id, _)| applies(id));
        if defaults.is_empty() {
            return None;
        }
        Some(command.mut_subcommand(name, |mut subcommand| {
            for (id, values) in defaults {
                // clap needs `'static` defaults. They are few and set once, so leaking them is harmless.
                let values: Vec<&'static str> = values.into_iter().map(|value| &*value.leak()).collect();
                subcommand = subcommand.mut_arg(id, |arg| arg.default_values(values));
            }
            subcommand
        }))
    }

    /// Reads the named file, or the nearest one in the working directory and its parents. `check` is `omen check` with its options.
    pub(crate) fn find(named: Option<&Path>, check: &clap::Command) -> Result<Option<Self>, ConfigErrors> {
        if let Some(path) = named {
            return Self::read(path, check).map(Some);
        }
        let Ok(directory) = std::env::current_dir() else { return Ok(None) };
        let Some(path) = nearest(&directory) else { return Ok(None) };
        let levels = directory.ancestors().take_while(|directory| path.parent() != Some(directory)).count();
        let above: PathBuf = std::iter::repeat_n("..", levels).collect();
        Self::read(&above.join(FILE_NAME), check).map(Some)
    }

    /// Returns the path of the baseline, if one is configured.
    pub(crate) fn baseline(&self) -> Option<PathBuf> {
        let (_, values) = self.defaults.iter().find(|(id, _)| *id == "baseline")?;
        values.first().map(PathBuf::from)
    }

    pub(crate) fn read(path: &Path, check: &clap::Command) -> Result<Self, ConfigErrors> {
        let name = clean(&path.to_string_lossy()).into_owned();
        let text = text(path).map_err(|error| ConfigErrors(vec![format!("cannot read {name}: {error}")]))?;
        let root = path.parent().unwrap_or(Path::new(""));
        file::read(&text, root, check).map(|config| Self { name: name.clone(), ..config }).map_err(|errors| {
            let line = |error: file::Mistake| {
                let (message, help) = (clean(&error.message), clean(&error.help));
                format!("{name}:{}:{}: {message}; {help}", error.line, error.column)
            };
            ConfigErrors(errors.into_iter().map(line).collect())
        })
    }
}

/// Returns the path of the nearest configuration in a directory or its parents.
pub(crate) fn nearest(directory: &Path) -> Option<PathBuf> {
    let mut paths = directory.ancestors().map(|directory| directory.join(FILE_NAME));
    paths.find(|path| path.symlink_metadata().is_ok())
}

/// Returns the mistakes in a configuration text whose file would be in `directory`.
pub(crate) fn mistakes(text: &str, directory: &Path, check: &clap::Command) -> Vec<Mistake> {
    file::read(text, directory, check).err().unwrap_or_default()
}

/// Reads a regular file of limited size as text.
fn text(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    regular_file::open(path)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it is longer than {MOST_BYTES} bytes")));
    }
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.utf8_error()))
}

/// File name of the configuration.
pub(crate) const FILE_NAME: &str = "omen.toml";

/// Maximum size of a configuration file in bytes.
pub(crate) const MOST_BYTES: u64 = 1 << 20;
