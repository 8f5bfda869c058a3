//! Arguments shared by several subcommands.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use omen_types::Instant;

use crate::config::content::Config;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Text
    Human,
    /// JSON
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct ClockArgs {
    /// Check all packets as of this time
    ///
    /// An RFC 3339 time with an offset, such as 2026-03-01T10:00:00Z. By default, the clock of an
    /// episode is the latest `created_at` in it, so a log gets the same verdict on every day.
    #[arg(long, value_name = "TIME")]
    pub(crate) now: Option<Instant>,
}

#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    /// The configuration [default: the nearest omen.toml in this directory and those above]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Use no configuration, not even an omen.toml in this directory
    #[arg(long, conflicts_with = "config")]
    pub(crate) no_config: bool,

    /// Configuration that was found.
    #[arg(skip)]
    pub(crate) found: Config,
}

/// Source of the audit log's key. The key itself is never an argument, since all processes can read arguments.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct KeyArgs {
    /// A file with the key in hexadecimal digits, readable by its owner only
    #[arg(long, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,

    /// An environment variable with the key in hexadecimal digits
    #[arg(long, value_name = "NAME")]
    pub(crate) key_env: Option<String>,
}
