//! Recording of episodes by `omen gate proxy`.

mod target;

use std::fs::OpenOptions;
use std::io::{BufReader, Seek as _, SeekFrom};
use std::sync::Arc;

use omen::log_file::{LogFile, LogFileError};
use omen::render::human::clean;
use omen_gate::{Config, GateClock};
use omen_proxy::episode::{Budgets, Recording, partial_write};

use crate::args::ProxyArgs;
use crate::exit::complain;

/// Opens the episode log, if one is configured, or returns the reason why it cannot be written. First repairs a partial write and
/// ends the episodes that a killed proxy left behind.
pub(super) fn recording(
    args: &ProxyArgs,
    config: &Config,
    clock: &Arc<dyn GateClock>,
) -> Result<Option<Recording>, String> {
    let (Some(mode), Some(path)) = (args.episode.mode, &args.episode.log) else { return Ok(None) };
    // Checked before anything is created, and again once open: the path may refer to another file by then.
    target::check(path, args, config)?;
    let failed = |error| LogFileError::Io(path.clone(), error).to_string();
    let file = OpenOptions::new().read(true).append(true).create(true).open(path).map_err(failed)?;
    target::check_opened(&file, path, args, config)?;
    let same = || file.try_clone().map_err(failed);
    let log = match LogFile::from_file(same()?, path) {
        Err(LogFileError::Torn { whole, .. }) => {
            let kept = partial_write::set_aside(&file, path, whole).map_err(failed)?;
            complain(clean(&format!(
                "repaired a partial write at the end of `{}`; the removed bytes are in `{}`",
                path.display(),
                kept.display()
            )));
            LogFile::from_file(same()?, path).map_err(|error| error.to_string())?
        }
        opened => opened.map_err(|error| error.to_string())?,
    };
    let budgets = Budgets { tool_calls: args.episode.calls, seconds: args.episode.seconds };
    let mut recording = Recording::new(mode, log).budgets(budgets);
    if config.audit.as_ref().is_none_or(|audit| audit.sync) {
        let file = same()?;
        recording = recording.synced(move || file.sync_data());
    }
    // The file is opened for appending, so reading from another position does not affect writes.
    let read = || {
        (&file).seek(SeekFrom::Start(0))?;
        Ok(BufReader::new(&file))
    };
    for interrupted in recording.end_interrupted(read, is_own, clock).map_err(failed)? {
        complain(clean(&interrupted.to_string()));
    }
    omen_gate::regular_file::sync_folder(path).map_err(failed)?;
    Ok(Some(recording))
}

/// Prefix of session names, which are also part of their episodes' names.
pub(super) const SESSION: &str = "proxy-";

/// Returns whether an episode was written by a proxy, which names it after its session.
fn is_own(episode: &str) -> bool {
    episode.strip_prefix("corr_").is_some_and(|name| name.starts_with(SESSION))
}
