//! The arguments, and the help that goes with them.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Arg, ArgAction, ArgMatches, Args, FromArgMatches, Parser, Subcommand, ValueEnum};
use omen::validator::{Level, Levels, NotAdjustable};
use omen_types::{Code, Instant};

/// A macro, for `concat!` takes no constants.
macro_rules! exit_codes {
    () => {
        "\
Exit codes:
  0  no error found (warnings do not count)
  1  errors found
  2  the arguments make no sense
  3  an input could not be read, or the output not be written"
    };
}

/// Checks logs of AI agents against the OMEN protocol.
///
/// A log is JSON Lines: one packet a line, episodes interleaved. `omen check` says which packets
/// break the protocol, where, why, and what would be legal instead.
#[derive(Debug, Parser)]
#[command(name = "omen", version, after_help = EXIT_CODES, after_long_help = MORE_HELP, max_term_width = 100)]
pub(crate) struct Cli {
    /// When to use colours; `auto` means on a terminal, unless NO_COLOR is set
    #[arg(long, value_name = "WHEN", global = true, default_value = "auto")]
    pub(crate) color: Color,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Judge logs: every packet against its schema, the state machine and the invariants
    #[command(after_help = EXIT_CODES, after_long_help = CHECK_HELP)]
    Check(CheckArgs),

    /// Explain a code; with a refused and a fixed example, if it is one of packets
    #[command(after_help = "Examples:\n  omen explain INV-007\n  omen explain PG-3")]
    Explain {
        /// A code that a finding carries, such as SCHEMA, E4 or INV-007, or one of the gate, such as PG-3
        code: AnyCode,
    },

    /// List all codes
    Rules {
        /// How to print them; `json` gives one array with the full texts
        #[arg(long, value_name = "FORMAT", default_value = "human")]
        format: Format,
    },

    /// Print the schema of a packet, or of any definition
    #[command(after_help = "Examples:\n  omen schema\n  omen schema DecisionPacket\n  omen schema TokenId")]
    Schema {
        /// A file or a definition, in any case of letters; without it, the files are listed
        name: Option<String>,
    },

    /// Follow a log state by state: what each packet did
    #[command(after_help = EXIT_CODES)]
    Trace(TraceArgs),

    /// Draw the state machine
    #[command(after_help = "Example:\n  omen graph --format dot | dot -Tsvg -o episode.svg")]
    Graph {
        /// The language of the drawing
        #[arg(long, value_name = "FORMAT", default_value = "mermaid")]
        format: GraphFormat,
    },

    /// Verify the audit log of the tool boundary
    #[command(subcommand)]
    Audit(AuditCommand),

    /// Try plans against the tool boundary, and prepare its configuration
    #[command(subcommand)]
    Gate(GateCommand),

    /// Print a script that completes this command's arguments in a shell
    #[command(after_help = "Example:\n  omen completions bash > ~/.local/share/bash-completion/completions/omen")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// A code of packets, or one of the gate. No code is both; the lint of the schema files sees to that.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AnyCode {
    Packet(Code),
    Gate(omen_gate::GateCode),
}

impl FromStr for AnyCode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text.parse::<Code>(), text.parse::<omen_gate::GateCode>()) {
            (Ok(code), _) => Ok(Self::Packet(code)),
            (_, Ok(code)) => Ok(Self::Gate(code)),
            // What is only like a code is rather like one of packets, of which there are longer ones.
            (Err(unknown), Err(gate)) => match (unknown.near(), gate.near()) {
                (None, Some(near)) => Err(format!("{unknown}; did you mean `{near}`?")),
                _ => Err(unknown.to_string()),
            },
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// How to print findings: `human`, or `json` for JSON Lines with a summary at the end
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) format: Format,

    #[command(flatten)]
    pub(crate) clock: ClockArgs,

    #[command(flatten)]
    pub(crate) levels: LevelArgs,

    /// Logs to judge, each a stream of its own; `-`, or none at all, means standard input
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct TraceArgs {
    #[command(flatten)]
    pub(crate) clock: ClockArgs,

    /// The log to follow; `-` means standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Tell whether a log is sound, incomplete, tampered (and where) or truncated
    #[command(after_help = AUDIT_EXIT_CODES, after_long_help = AUDIT_VERIFY_HELP)]
    Verify(AuditVerifyArgs),

    /// Make a new key, in a file that only its owner can read
    #[command(after_help = NEW_KEY_EXIT_CODES, after_long_help = NEW_KEY_HELP)]
    NewKey(NewKeyArgs),

    /// Print where a sound log stands, as one line of JSON to be kept elsewhere
    #[command(after_help = AUDIT_EXIT_CODES, after_long_help = AUDIT_EXPORT_HELP)]
    ExportAnchor(AuditExportArgs),
}

#[derive(Debug, Args)]
pub(crate) struct NewKeyArgs {
    /// The file to make; one that is there already is left alone
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct AuditVerifyArgs {
    #[command(flatten)]
    pub(crate) key: KeyArgs,

    /// An anchor of this log that was kept elsewhere, in a regular file
    #[arg(long, value_name = "FILE")]
    pub(crate) anchor: Option<PathBuf>,

    /// How to print the verdict; `json` gives one object
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) format: Format,

    /// The log; its head record is next to it, with `.head` behind its name
    #[arg(value_name = "LOG")]
    pub(crate) log: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct AuditExportArgs {
    #[command(flatten)]
    pub(crate) key: KeyArgs,

    /// The log; its head record is next to it, with `.head` behind its name
    #[arg(value_name = "LOG")]
    pub(crate) log: PathBuf,
}

/// Where the key of the audit log is. It never stands among the arguments, which everybody can see.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct KeyArgs {
    /// The file with the key: hexadecimal digits, readable by its owner alone
    #[arg(long, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,

    /// The environment variable that holds the key's hexadecimal digits
    #[arg(long, value_name = "NAME")]
    pub(crate) key_env: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GateCommand {
    /// Say of each plan what the gate would do; no tool is called
    #[command(after_help = DRY_RUN_EXIT_CODES, after_long_help = DRY_RUN_HELP)]
    DryRun(DryRunArgs),

    /// Start the configured servers, and print what tools they list
    #[command(after_help = CATALOG_EXIT_CODES, after_long_help = CATALOG_HELP)]
    Catalog(CatalogArgs),

    /// Print the JSON Schema of the configuration
    #[command(after_help = "Example:\n  omen gate schema > gate.schema.json")]
    Schema,
}

#[derive(Debug, Args)]
pub(crate) struct DryRunArgs {
    /// The configuration of the gate, in TOML; a regular file
    #[arg(long, value_name = "FILE")]
    pub(crate) config: PathBuf,

    /// The tools that there are, in JSON, as `omen gate catalog` prints them; a regular file
    #[arg(long, value_name = "FILE")]
    pub(crate) catalog: PathBuf,

    /// The plans, one a line, in a regular file; `-`, or none at all, means standard input
    #[arg(value_name = "PLANS")]
    pub(crate) plans: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct CatalogArgs {
    /// The configuration of the gate, in TOML; a regular file
    #[arg(long, value_name = "FILE")]
    pub(crate) config: PathBuf,

    /// Write the catalogue to a file, instead of to standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,

    /// Print entries for the allowlist, with pins; the catalogue is written with `--out` only
    #[arg(long)]
    pub(crate) pins: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ClockArgs {
    /// Judge as if it were this time throughout, instead of by the packets' own times
    ///
    /// An RFC 3339 time with an offset, such as 2026-03-01T10:00:00Z. Without it, the clock of an
    /// episode is the latest `created_at` in it: a log gets the same verdict on every day.
    #[arg(long, value_name = "TIME")]
    pub(crate) now: Option<Instant>,
}

/// `-A`, `-W` and `-D`, in the order in which they were given: the last one for a code wins.
#[derive(Debug, Default)]
pub(crate) struct LevelArgs(pub(crate) Levels);

impl LevelArgs {
    const FLAGS: [(Level, &'static str, char, &'static str); 3] = [
        (Level::Allow, "allow", 'A', "Do not report an invariant"),
        (Level::Warn, "warn", 'W', "Report an invariant as a warning, and accept the packet"),
        (Level::Deny, "deny", 'D', "Report an invariant as an error, and reject the packet"),
    ];
}

impl Args for LevelArgs {
    fn augment_args(command: clap::Command) -> clap::Command {
        command.args(Self::FLAGS.map(|(_, name, short, help)| {
            Arg::new(name)
                .short(short)
                .long(name)
                .value_name("CODE")
                .value_parser(adjustable)
                .action(ArgAction::Append)
                .help(help)
        }))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for LevelArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut given = Vec::new();
        for (level, name, ..) in Self::FLAGS {
            let indices = matches.indices_of(name).into_iter().flatten();
            let codes = matches.get_many::<Code>(name).into_iter().flatten();
            given.extend(indices.zip(codes).map(|(index, code)| (index, *code, level)));
        }
        given.sort_unstable_by_key(|(index, ..)| *index);
        let mut levels = Levels::default();
        for (_, code, level) in given {
            levels
                .set(code, level)
                .map_err(|error| clap::Error::raw(clap::error::ErrorKind::ValueValidation, format!("{error}\n")))?;
        }
        Ok(Self(levels))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn adjustable(text: &str) -> Result<Code, String> {
    let code: Code = text.parse().map_err(|error: omen_types::code::UnknownCode| error.to_string())?;
    if code.is_adjustable() { Ok(code) } else { Err(NotAdjustable(code).to_string()) }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Human,
    /// For programs
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    /// A Mermaid `stateDiagram-v2`
    Mermaid,
    /// A Graphviz digraph
    Dot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Even in a pipe
    Always,
    /// Not even on a terminal
    Never,
}

const EXIT_CODES: &str = exit_codes!();

const MORE_HELP: &str = concat!(
    "\
Examples:
  omen check episode.jsonl
  omen explain E4
  omen trace episode.jsonl

",
    exit_codes!()
);

/// A macro, for `concat!` takes no constants.
macro_rules! audit_exit_codes {
    () => {
        "\
Exit codes:
  0  the log is sound
  1  it is incomplete, tampered or truncated
  2  the arguments make no sense
  3  the log, the key or the anchor could not be read, or the output not be written"
    };
}

const AUDIT_EXIT_CODES: &str = audit_exit_codes!();

/// A macro, for `concat!` takes no constants.
macro_rules! new_key_exit_codes {
    () => {
        "\
Exit codes:
  0  the key is made
  2  the arguments make no sense
  3  the file is there already or cannot be written, or there are no random bytes"
    };
}

const NEW_KEY_EXIT_CODES: &str = new_key_exit_codes!();

const NEW_KEY_HELP: &str = concat!(
    "\
The key is 32 random bytes of the operating system, written as hexadecimal digits. Whoever has it can
write the log anew: keep it where neither the agent nor its tools can read it. A log is of no use
without its key.

Example:
  omen audit new-key audit.key

",
    new_key_exit_codes!()
);

const AUDIT_VERIFY_HELP: &str = concat!(
    "\
A log that was set back together with its head record looks sound, and so does one that was written
anew by somebody who has the key. An anchor that was kept elsewhere shows both.

While a gate has the log open it is in use, and is not looked at. A copy of the log and its head
record can be, if nothing was written between the two.

All files must be regular ones. A pipe, such as `<(command)` gives, is refused: write what comes out of
it to a file first.

Examples:
  omen audit verify --key-file audit.key audit.jsonl
  omen audit verify --key-file audit.key --anchor monday.anchor --format json audit.jsonl

",
    audit_exit_codes!()
);

const AUDIT_EXPORT_HELP: &str = concat!(
    "\
Keep the anchor where whoever can write to the log cannot. What is in the log when it is taken
cannot be removed or changed unseen from then on. While a gate has the log open it is in use, and the
program takes its anchors itself (`Gate::anchor`).

Example:
  omen audit export-anchor --key-file audit.key audit.jsonl > monday.anchor

",
    audit_exit_codes!()
);

/// A macro, for `concat!` takes no constants.
macro_rules! dry_run_exit_codes {
    () => {
        "\
Exit codes:
  0  no plan is blocked (a plan that needs a confirmation, or asks the user, is not)
  1  plans are blocked
  2  the arguments make no sense
  3  an input could not be read or is broken, or the output not be written"
    };
}

const DRY_RUN_EXIT_CODES: &str = dry_run_exit_codes!();

const DRY_RUN_HELP: &str = concat!(
    "\
A line of PLANS is a JSON string that holds what the planner wrote, fences, chatter and broken JSON
included; or it is an object, which is taken as it stands. Blank lines are no plans. For each plan
there is one line of JSON, in the same order. Plans are such as these:

  {\"type\":\"call_tool\",\"server\":\"files\",\"tool\":\"read\",\"args\":{\"path\":\"a.txt\"}}
  {\"type\":\"final_answer\",\"answer\":\"Which file?\",\"needs_more_info\":true}

and what comes out is

  {\"index\":0,\"verdict\":\"allow|block|needs_confirmation|terminal\",\"code\":…,\"message\":…,\"help\":…}

The configuration and the catalogue must be regular files, and so must PLANS if it is named. A pipe,
such as `<(command)` gives, is refused: write what comes out of it to a file first, or send plans
through standard input.

Each plan is judged by itself, as if it were the first. No tool is called, no server is started and
nothing is recorded. Not looked at are the request (PG-0), failures so far (R1, R2), answers (PG-4,
PG-5), and whether the audit log can be written (A1).

Examples:
  omen gate dry-run --config gate.toml --catalog catalog.json plans.jsonl
  planner | omen gate dry-run --config gate.toml --catalog catalog.json -

",
    dry_run_exit_codes!()
);

/// A macro, for `concat!` takes no constants.
macro_rules! catalog_exit_codes {
    () => {
        "\
Exit codes:
  0  every server that has a `command` has listed its tools
  2  the arguments make no sense
  3  the configuration or a server is of no use, or the output could not be written"
    };
}

const CATALOG_EXIT_CODES: &str = catalog_exit_codes!();

const CATALOG_HELP: &str = concat!(
    "\
The catalogue is one JSON object, {\"server\": [tool, …]}. If a server fails there is no catalogue at
all, for one with a gap would look like a server without tools. No tool is called. A server without a
`command` is the program's own and is not asked; the program can write its part of the catalogue.

A pin stands for a tool's name, description and schemas. Look at a tool before you allow it: whoever
adds its pin to the allowlist approves it. The permissions are left to you; what a server claims of
its tools grants nothing.

Examples:
  omen gate catalog --config gate.toml --out catalog.json
  omen gate catalog --config gate.toml --out catalog.json --pins > review.toml

",
    catalog_exit_codes!()
);

const CHECK_HELP: &str = concat!(
    "\
Findings go to standard output, everything else to standard error. -A, -W and -D take the codes of
invariants (INV-001 ...); of several for one code, the last one holds. Codes of lines that are no
packet, or not legal where they stand (JSON, SCHEMA, ID, FSM, E1 ...), are always errors.

Examples:
  omen check episode.jsonl
  omen check -D INV-012 -A INV-011 monday.jsonl tuesday.jsonl
  agent | omen check --format json -

",
    exit_codes!()
);
