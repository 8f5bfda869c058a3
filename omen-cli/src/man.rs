//! `omen man`: manual pages.

use std::fs;
use std::path::Path;

use clap::CommandFactory as _;

use crate::args::Cli;
use crate::exit::{Exit, Failure};
use crate::output::FileError;

/// Writes a page for the command and each subcommand into a folder.
pub(crate) fn run(folder: &Path) -> Result<Exit, Failure> {
    fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), folder))
        .map_err(|error| FileError::wrap(folder, error))?;
    Ok(Exit::Clean)
}
