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

    /// Explain a code; with a refused and a mended example, if it is one of packets
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
    Gate(omen_gate::Code),
}

impl FromStr for AnyCode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text.parse::<Code>(), text.parse::<omen_gate::Code>()) {
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
