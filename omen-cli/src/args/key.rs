//! Key of an audit log, as arguments.

use std::path::PathBuf;

use clap::Args;

/// Where the key of the audit log is. The key itself is never an argument: all processes can read those.
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
