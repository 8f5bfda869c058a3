//! The episodes of `omen gate proxy`.

use omen::log_file::{LogFile, LogFileError};
use omen_proxy::episode::{Budgets, Recording};

use crate::args::EpisodeArgs;

/// What is written, if anything is; or why the log cannot be.
pub(super) fn recording(args: &EpisodeArgs) -> Result<Option<Recording>, LogFileError> {
    let (Some(mode), Some(path)) = (args.mode, &args.log) else { return Ok(None) };
    let log = LogFile::open(path)?;
    let budgets = Budgets { tool_calls: args.calls, seconds: args.seconds };
    Ok(Some(Recording::new(mode, log).budgets(budgets)))
}
