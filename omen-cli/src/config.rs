//! `omen.toml`: defaults for the options of `omen check`, and for the same options of `omen report`.
//!
//! The keys are listed once, in `keys`: parsing, errors and the JSON Schema are derived from that list. A key for an option
//! becomes the default of the option, so that it is validated like the option, and the command line takes precedence.

pub(crate) mod content;
mod file;
mod ignores;
mod keys;
mod schema;

use std::fmt;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use omen::render::human::clean;
use omen_gate::regular;

use crate::args::{Command, ConfigArgs};
use content::Config;

pub(crate) use schema::json_schema;

/// Error for the command line or the configuration.
pub(crate) enum Refused {
    /// The arguments are invalid, or ask for help.
    Arguments(clap::Error),
    /// The configuration is invalid.
    Config(ConfigErrors),
}

impl From<clap::Error> for Refused {
    fn from(error: clap::Error) -> Self {
        Self::Arguments(error)
    }
}

/// Errors of a configuration file, one line each.
#[derive(Debug)]
pub(crate) struct ConfigErrors(Vec<String>);

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\nomen: "))
    }
}

impl Config {
    /// Makes the values for options the defaults of a command line, if its subcommand has the options. `None` if there are none.
    pub(crate) fn with_defaults(&mut self, command: clap::Command, given: &Command) -> Option<clap::Command> {
        let mut defaults = std::mem::take(&mut self.defaults);
        let name = match given {
            Command::Check(given) => {
                // An output to standard output replaces the format.
                if given.formats.outputs.iter().any(|output| output.file.is_none()) {
                    defaults.retain(|(id, _)| *id != "format");
                }
                "check"
            }
            Command::Report(_) => {
                defaults.retain(|(id, _)| *id == "now");
                "report"
            }
            _ => return None,
        };
        if defaults.is_empty() {
            return None;
        }
        Some(command.mut_subcommand(name, |mut subcommand| {
            for (id, values) in defaults {
                // Defaults of arguments live as long as the process. They are few, and set once.
                let values: Vec<&'static str> = values.into_iter().map(|value| &*value.leak()).collect();
                subcommand = subcommand.mut_arg(id, |arg| arg.default_values(values));
            }
            subcommand
        }))
    }

    /// Reads the named file, or the nearest one in the working directory and its parent directories.
    pub(crate) fn find(args: &ConfigArgs) -> Result<Option<Self>, ConfigErrors> {
        if args.no_config {
            return Ok(None);
        }
        if let Some(path) = &args.config {
            return Self::read(path).map(Some);
        }
        let Ok(directory) = std::env::current_dir() else { return Ok(None) };
        let mut above = PathBuf::new();
        for directory in directory.ancestors() {
            if directory.join(FILE_NAME).symlink_metadata().is_ok() {
                return Self::read(&above.join(FILE_NAME)).map(Some);
            }
            above.push("..");
        }
        Ok(None)
    }

    fn read(path: &Path) -> Result<Self, ConfigErrors> {
        let name = clean(&path.to_string_lossy()).into_owned();
        let text = text(path).map_err(|error| ConfigErrors(vec![format!("cannot read {name}: {error}")]))?;
        let root = path.parent().unwrap_or(Path::new(""));
        file::read(&text, root).map(|config| Self { name: name.clone(), ..config }).map_err(|errors| {
            let line = |error: file::Mistake| {
                let (message, help) = (clean(&error.message), clean(&error.help));
                format!("{name}:{}:{}: {message}; {help}", error.line, error.column)
            };
            ConfigErrors(errors.into_iter().map(line).collect())
        })
    }
}

/// Returns the text of a regular file of limited size.
fn text(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    regular::open(path)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it is longer than {MOST_BYTES} bytes")));
    }
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.utf8_error()))
}

const FILE_NAME: &str = "omen.toml";
const MOST_BYTES: u64 = 1 << 20;
