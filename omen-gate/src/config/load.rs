//! Loading of configurations from text and files.

use std::path::Path;

use serde_json::Value;

use super::error::{self, ConfigErrors};
use super::source::{MAX_BYTES, TomlSource};
use super::{Config, check, paths, schema};
use crate::base::regular;

impl Config {
    /// Parses a text.
    ///
    /// # Errors
    /// If it is invalid. Errors are reported in groups: of TOML; then of keys, types and ranges; then of meaning, such
    /// as a grant for a tool that is not allowed.
    pub fn parse(text: &str) -> Result<Self, ConfigErrors> {
        let source = TomlSource::read(text)?;
        schema::check(&source)?;
        check::build(&source)
    }

    /// Loads a file of at most [`MAX_BYTES`]. Its paths are relative to its folder, in which its servers run.
    ///
    /// # Errors
    /// If it cannot be read, is not a regular file, or is invalid; also if `log` and `key_file` are one file under two
    /// names, or the file itself contains the key.
    pub fn load(path: &Path) -> Result<Self, ConfigErrors> {
        let text = read(path)?;
        judge(&TomlSource::read(&text)?, path)
    }

    /// Parses a text as if it were the content of this file, which need not exist.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn parse_as(text: &str, file: &Path) -> Result<Self, ConfigErrors> {
        judge(&TomlSource::read(text)?, file)
    }

    /// JSON Schema (2020-12) of the file, derived from the types that it is deserialized into.
    #[must_use]
    pub fn json_schema() -> Value {
        schema::json_schema()
    }
}

/// Reads the text of a file.
pub(super) fn read(path: &Path) -> Result<String, ConfigErrors> {
    use std::io::Read as _;

    let mut bytes = Vec::new();
    // One byte beyond the limit shows that the file is too long.
    let read = regular::open(path).and_then(|file| file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes));
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
    paths::resolve(&mut config, path);
    check::surroundings(source, &config)?;
    Ok(config)
}
