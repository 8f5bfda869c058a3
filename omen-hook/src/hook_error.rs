//! Errors of hooks.

use omen_base::{BadName, ServerName};
use omen_gate::BuildError;
use omen_gate::audit::AuditError;

use crate::answer::HELP;

/// Reason why a hook cannot decide or record anything.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HookError {
    /// The configuration has no server for the agent.
    #[error("the configuration has no server `{0}`; help: add a table `[servers.{0}]`")]
    NoServer(ServerName),
    /// The gate cannot be built, or its log cannot be used.
    #[error("{0}")]
    Gate(String),
    /// An entry cannot be recorded.
    #[error("A1: {0}")]
    Audit(#[from] AuditError),
    /// A name is invalid.
    #[error(transparent)]
    Name(#[from] BadName),
}

impl From<BuildError> for HookError {
    fn from(error: BuildError) -> Self {
        Self::Gate(with_help(&error.to_string(), &error.help()))
    }
}

/// Combines a message with its help text, if there is one.
pub(crate) fn with_help(message: &str, help: &str) -> String {
    if help.is_empty() { message.to_owned() } else { format!("{message}{HELP}{help}") }
}
