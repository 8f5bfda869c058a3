//! Arguments and help text of `omen audit verify`.

use std::path::PathBuf;

use clap::Args;

use super::{Format, KeyArgs};

#[derive(Debug, Args)]
pub(crate) struct AuditVerifyArgs {
    #[command(flatten)]
    pub(crate) key: KeyArgs,

    /// A regular file with an anchor of this log
    #[arg(long, value_name = "FILE")]
    pub(crate) anchor: Option<PathBuf>,

    /// Also report calls that ran despite the gate: after a refusal, without a decision, or with other arguments
    #[arg(long)]
    pub(crate) policy: bool,

    /// The output format; `json` prints one object
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) format: Format,

    /// The log, with all its files; a folder with a log; or several files, which are the whole log. The head record of a
    /// file is `FILE.head` beside it
    #[arg(value_name = "LOG", required = true)]
    pub(crate) logs: Vec<PathBuf>,
}

pub(super) const AUDIT_VERIFY_HELP: &str = concat!(
    "\
A log that was rolled back together with its head record looks sound, and so does a log that was rewritten \
     with the key. An anchor that was stored elsewhere reveals both.

A rotated log consists of several files: audit.jsonl, audit.000002.jsonl, and so on. They are verified \
     together, and any file that is missing, swapped, duplicated or from another log is reported.

If a gate has the log open, the log is verified up to the last acknowledged entry.

With `--policy`, a call that ran despite the gate is a finding, and the exit code is 1. The hooks of coding \
     agents record such calls, because an agent can ignore a denial. LOG must then be a single log.

All files must be regular files. A pipe, such as `<(command)`, is refused: write its content to a file \
     first.

Examples:
  omen audit verify --key-file audit.key audit.jsonl
  omen audit verify --key-file audit.key --anchor monday.anchor --format json audit.jsonl
  omen audit verify --key-file audit.key --policy audit.jsonl
  omen audit verify --key-file audit.key logs/

",
    audit_exit_codes!()
);
