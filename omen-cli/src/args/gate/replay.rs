//! Arguments and help text of `omen gate replay`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::args::{Format, When, when};

#[derive(Debug, Args)]
pub(crate) struct GateReplayArgs {
    /// The configuration in force
    #[arg(long, value_name = "FILE")]
    pub(crate) old: PathBuf,

    /// The configuration to try
    #[arg(long, value_name = "FILE")]
    pub(crate) new: PathBuf,

    /// The tools of the servers, as `omen gate catalog` prints them
    #[arg(long, value_name = "FILE")]
    pub(crate) catalog: Option<PathBuf>,

    /// For an audit log: a file with its key in hexadecimal digits, readable by its owner only
    #[arg(long, value_name = "FILE", conflicts_with = "key_env")]
    pub(crate) key_file: Option<PathBuf>,

    /// For an audit log: an environment variable with its key in hexadecimal digits
    #[arg(long, value_name = "NAME")]
    pub(crate) key_env: Option<String>,

    /// For an audit log: only calls at or after this time: 2026-03-01 or 2026-03-01T10:00:00Z in UTC, or 30m, 2h or 7d ago
    #[arg(long, value_name = "TIME", value_parser = when)]
    pub(crate) since: Option<When>,

    /// For an audit log: only calls before this time
    #[arg(long, value_name = "TIME", value_parser = when)]
    pub(crate) until: Option<When>,

    /// The differences that set the exit code to 1
    #[arg(long, value_name = "WHAT", value_delimiter = ',', default_value = "deny-to-allow")]
    pub(crate) fail_on: Vec<FailOn>,

    /// The output format; `json` prints one object
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) format: Format,

    /// With a key: an audit log, with all its files; otherwise a file with one plan per line
    #[arg(value_name = "AUDIT|PLANS")]
    pub(crate) input: PathBuf,
}

/// Change of a verdict that sets the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// A call that was refused would be made
    DenyToAllow,
    /// A call that was made would be refused
    AllowToDeny,
    /// A call that needed a confirmation would need none
    Unconfirmed,
    /// A call cannot be judged from what was recorded
    Undecidable,
    /// Nothing does
    Never,
}

macro_rules! exit_codes {
    () => {
        "\
Exit codes:
  0  no difference that `--fail-on` names
  1  a difference that `--fail-on` names (by default, a call that was refused would be made); or the log is not sound
  2  usage error
  3  an input could not be read, or the output could not be written"
    };
}

pub(crate) const REPLAY_EXIT_CODES: &str = exit_codes!();

pub(crate) const REPLAY_HELP: &str = concat!(
    "\
Judges the calls of an audit log, or the plans in a file, under two policies, and prints the calls on which \
     they differ, with the reasons. Calls of one tool that differ for the same reasons are grouped, and the \
     first three are shown; `--format json` lists each. No tool is called, and nothing is written.

The verdicts are ALLOW: the call is made; CONFIRM: it is made once somebody has confirmed it; and DENY: it is \
     refused. A difference is written OLD→NEW: for CONFIRM→DENY, the old policy asks somebody to confirm the \
     call, and the new one refuses it without asking.

Relative paths in rules start from the folder of their configuration: keep both in the same folder.

`[audit] arguments` sets how much of the arguments is recorded; by default, only a hash. A call whose verdict \
     depends on something that was not recorded is counted as undecidable, and never guessed. Paths are \
     resolved with the links that exist now. Not judged: the patterns of queries (PG-0), since a log contains \
     no queries; how often a grant may be used; and budgets of turns and sessions.

The order rules (O-1 to O-6) judge each call of a log after the calls that were actually made before it: \
     what would have happened after a call that only one policy allows is not shown. A call for which such a \
     rule cannot be decided is listed with the rule. A plan is judged as the first call of its session.

Examples:
  omen gate replay --old gate.toml --new tighter.toml --key-file audit.key audit.jsonl
  omen gate replay --old gate.toml --new looser.toml --catalog catalog.json plans.jsonl
  omen gate replay --old a.toml --new b.toml --fail-on deny-to-allow,undecidable --format json --key-file audit.key logs

",
    exit_codes!()
);
