//! Path of the configuration of `omen check`, as an argument.

use std::path::PathBuf;

use clap::Args;

use crate::config::content::Config;

#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    /// The configuration [default: the nearest omen.toml in this directory and those above]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Use no configuration, not even an omen.toml in this directory
    #[arg(long, conflicts_with = "config")]
    pub(crate) no_config: bool,

    /// What was found there.
    #[arg(skip)]
    pub(crate) found: Config,
}
