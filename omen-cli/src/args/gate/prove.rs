//! Arguments and help text of `omen gate prove`.

use std::path::PathBuf;

use clap::Args;

use super::FileFormat;

#[derive(Debug, Args)]
pub(crate) struct GateProveArgs {
    /// The configuration in force
    #[arg(long, value_name = "FILE", required_unless_present = "never", conflicts_with = "never")]
    pub(crate) old: Option<PathBuf>,

    /// The configuration to try
    #[arg(long, value_name = "FILE")]
    pub(crate) new: PathBuf,

    /// Calls that must never be allowed, in place of `--old`: `tool=deploy /env=prod`
    #[arg(long, value_name = "CALL")]
    pub(crate) never: Option<String>,

    /// With `--never`: a tool whose success earlier in the session permits such a call
    #[arg(long, value_name = "TOOL", requires = "never")]
    pub(crate) unless_after: Option<String>,

    /// The output format; `json` and `sarif` print one object
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) format: FileFormat,
}

macro_rules! exit_codes {
    () => {
        "\
Exit codes:
  0  the new configuration allows nothing that the old one refuses, and reports every debt
  1  it allows such a call, or does not report such a debt, which is shown
  2  usage error
  3  the question could not be decided for some tool, a configuration could not be read, or a gate
     disagreed with the search, which is a bug"
    };
}

pub(crate) const PROVE_EXIT_CODES: &str = exit_codes!();

pub(crate) const PROVE_HELP: &str = concat!(
    "\
Does the new configuration allow a call that the old one refuses? If it does, the shortest sequence of calls \
     that shows it is printed: both configurations allow all of its calls but the last, which only the new one allows. Each \
     sequence is run through two gates in this process, with a fixed clock. No server is started, and nothing is written.

The comparison covers the allowlist, pins, permissions, rates, grants, the rules on arguments, and the order rules. \
     Calls are made one after the other, and each takes no time. What cannot be decided is listed with its reason, \
     never guessed: rules and patterns that need too many states, limits above 64 calls and some sums if they were \
     raised, rules that count refused calls beside one that is too large to search, and all rules if shadow mode is \
     turned on. If it is on already, rules are compared as if they were enforced, and a note says so. Paths are \
     compared as texts: links are not followed. Patterns of queries, budgets, breakers, how long calls wait, and when a \
     session is idle are not compared.

A session at whose end only the old configuration reports a debt (`before_end` without `within`) is shown as well.

`--never` asks about one configuration whether a call can ever be made: `tool=NAME`, and members of its arguments \
     with their values: JSON whose numbers are integers, or a text. With `--unless-after`, it may be made once the named \
     tool has succeeded in the same session.

Examples:
  omen gate prove --old gate.toml --new gate.new.toml
  omen gate prove --old gate.toml --new gate.new.toml --format sarif > prove.sarif
  omen gate prove --new gate.toml --never 'tool=deploy /env=prod' --unless-after run_tests

",
    exit_codes!()
);
