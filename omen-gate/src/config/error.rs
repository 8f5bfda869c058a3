//! Configuration errors with their positions.

use std::fmt;
use std::path::Path;

use crate::base::{Blocked, GateCode, bounded};

/// Error in a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigError {
    /// Line, starting from 1; 0 for the text as a whole.
    pub line: usize,
    /// Column in characters, starting from 1; 0 for the text as a whole.
    pub column: usize,
    /// Key at fault, such as `allow[0].tool`; empty if none.
    pub path: String,
    /// Message in lower case, with input in backticks.
    pub message: String,
    /// Help: how to fix the error.
    pub help: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "line {}, column {}: ", self.line, self.column)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for ConfigError {}

/// Errors found in a configuration: at least one and at most [`MAX_ERRORS`]. Until they are fixed, nothing is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigErrors(pub Vec<ConfigError>);

/// Writes one line per error, with its help.
impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            write!(f, "{}{error}; {}", if index == 0 { "" } else { "\n" }, error.help)?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigErrors {}

/// Represents all errors by the first one.
impl From<ConfigErrors> for Blocked {
    fn from(errors: ConfigErrors) -> Self {
        let more = errors.0.len().saturating_sub(1);
        let more = if more == 0 { String::new() } else { format!(" (and {more} more)") };
        let (first, help) = errors.0.first().map(|error| (error.to_string(), error.help.clone())).unwrap_or_default();
        Self::new(GateCode::C1, format!("invalid configuration: {first}{more}"), help)
    }
}

/// Maximum number of errors reported at once.
pub const MAX_ERRORS: usize = 100;

pub(super) fn unreadable(path: &Path, why: &str) -> ConfigErrors {
    let message = format!("the configuration `{}` cannot be read: {}", path.display(), bounded(why));
    let help = "specify a readable TOML file; without a configuration, nothing is allowed".to_owned();
    ConfigErrors(vec![ConfigError { line: 0, column: 0, path: String::new(), message, help }])
}
