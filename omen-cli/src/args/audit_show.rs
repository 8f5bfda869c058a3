//! Arguments of `omen audit show`, `stats` and `settle`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::common::{Format, KeyArgs};
use super::when::{When, when};

#[derive(Debug, Args)]
pub(crate) struct AuditShowArgs {
    #[command(flatten)]
    pub(crate) key: KeyArgs,

    /// Only entries of this turn
    #[arg(long, value_name = "ID")]
    pub(crate) turn: Option<String>,

    /// Only entries about this tool: its name, or `server/tool`
    #[arg(long, value_name = "TOOL")]
    pub(crate) tool: Option<String>,

    /// Only entries about tools of this server
    #[arg(long, value_name = "NAME")]
    pub(crate) server: Option<String>,

    /// Only entries about this call: its hash or the beginning of it, as a refusal states it (`call`)
    #[arg(long, value_name = "ID")]
    pub(crate) call: Option<String>,

    /// Only refusals with this code, such as PG-3
    #[arg(long, value_name = "CODE")]
    pub(crate) code: Option<String>,

    /// Only entries of this kind, such as intent
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Option<String>,

    /// Only this outcome: allowed, waits (for a confirmation), denied, shadow, answered, stopped, settled, or the class of a fault, such as timeout
    #[arg(long, value_name = "OUTCOME")]
    pub(crate) outcome: Option<String>,

    /// Only entries at or after this time: 2026-03-01 or 2026-03-01T10:00:00Z in UTC, or 30m, 2h or 7d ago
    #[arg(long, value_name = "TIME", value_parser = when)]
    pub(crate) since: Option<When>,

    /// Only entries before this time
    #[arg(long, value_name = "TIME", value_parser = when)]
    pub(crate) until: Option<When>,

    /// Only calls in doubt: they may have run, and their outcome is unknown
    #[arg(long, conflicts_with = "follow")]
    pub(crate) in_doubt: bool,

    /// Keep printing as the log grows, until interrupted
    #[arg(short, long)]
    pub(crate) follow: bool,

    /// The output format; `json` prints the entries as they are in the log
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) format: Format,

    /// The log, with all its files
    #[arg(value_name = "LOG")]
    pub(crate) log: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct AuditStatsArgs {
    #[command(flatten)]
    pub(crate) key: KeyArgs,

    /// The output format; `json` prints one object
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) format: Format,

    /// The log, with all its files
    #[arg(value_name = "LOG")]
    pub(crate) log: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct AuditSettleArgs {
    #[command(flatten)]
    pub(crate) key: KeyArgs,

    /// Whether the tool actually ran
    #[arg(long, value_name = "yes|no", hide_possible_values = true)]
    pub(crate) ran: YesNo,

    /// The log, with all its files; no gate may have it open
    #[arg(value_name = "LOG")]
    pub(crate) log: PathBuf,

    /// The number of the intent, as `omen audit show --in-doubt` prints it
    #[arg(value_name = "ENTRY")]
    pub(crate) entry: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum YesNo {
    Yes,
    No,
}

pub(crate) const SHOW_HELP: &str = "\
The log is verified as it is read: an entry is shown only if its seal is valid. If the log as a whole is not \
     sound, this is reported at the end.

The arguments of a call, even of a refused one, are shown as far as the log contains them. A call that needs a \
     confirmation `waits for confirmation` before it is allowed or denied. A value that occurs nowhere in the \
     log, such as a mistyped tool name, is reported on standard error.

Examples:
  omen audit show --key-file audit.key audit.jsonl
  omen audit show --key-file audit.key --code PG-3 --since 2h audit.jsonl
  omen audit show --key-file audit.key --call b9770a90 audit.jsonl
  omen audit show --key-file audit.key --tool files/write_file --outcome timeout audit.jsonl
  omen audit show --key-file audit.key --follow --format json audit.jsonl

Exit codes:
  0  the log is sound
  1  the log is incomplete, tampered with or truncated
  2  usage error
  3  the log or the key could not be read, or the output could not be written";

pub(crate) const STATS_HELP: &str = "\
Example:
  omen audit stats --key-file audit.key audit.jsonl

Exit codes:
  0  the log is sound
  1  the log is incomplete, tampered with or truncated
  2  usage error
  3  the log or the key could not be read, or the output could not be written";

pub(crate) const SETTLE_HELP: &str = "\
A gate that died while a tool was being called leaves an intent without an outcome: the call is in doubt, and \
     a gate refuses to repeat it (PG-6). Find out what the tool did, stop the gate, record the outcome, and \
     start the gate again.

Example:
  omen audit show --key-file audit.key --in-doubt audit.jsonl
  omen audit settle --key-file audit.key --ran no audit.jsonl 17

Exit codes:
  0  the outcome was recorded
  2  usage error
  3  there is no such call in doubt, or the log could not be read or written";
