//! Options of `omen check` for the gate's audit logs.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct OrderArgs {
    /// Check audit logs instead: judge their calls by the order rules of this configuration (O-1 to O-6)
    ///
    /// Each call is judged where it was made, with the calls that were made before it. FILE is then an audit log with all its
    /// files: `omen check --order gate.toml --key-file audit.key audit.jsonl`. A call that cannot
    /// be decided from the log is reported as a warning.
    #[arg(
        long = "order",
        value_name = "GATE.TOML",
        conflicts_with_all = [
            "baseline", "write_baseline", "now", "stage", "fix", "diff", "unsafe_fixes", "layout", "field", "prefix",
            "exclude", "no_ignore", "join", "follow", "checkpoint", "pretty",
        ]
    )]
    pub(crate) gate: Option<PathBuf>,

    /// With `--order`, report what cannot be decided as an error
    #[arg(long, requires = "gate")]
    pub(crate) strict: bool,

    /// With `--order`, treat the end of a log as the end of its sessions, and report their open obligations
    #[arg(long, requires = "gate")]
    pub(crate) ended: bool,

    /// With `--order`, a file with the key of the logs, readable by its owner only: the logs are verified first
    ///
    /// Without the key, the logs are not verified, and members of arguments are compared only where the logs have keys of them.
    #[arg(long, value_name = "FILE", requires = "gate", conflicts_with = "key_env")]
    pub(crate) key_file: Option<PathBuf>,

    /// With `--order`, an environment variable with the key
    #[arg(long, value_name = "NAME", requires = "gate")]
    pub(crate) key_env: Option<String>,
}
