//! Command-line arguments and their help texts.

/// Exit codes for help texts. A macro rather than a constant, because `concat!` accepts only literals.
macro_rules! exit_codes {
    () => {
        "\
Exit codes:
  0  no errors (there may be warnings)
  1  errors found
  2  usage error, in the arguments or in omen.toml
  3  an input could not be read, or the output could not be written"
    };
}

macro_rules! audit_exit_codes {
    () => {
        "\
Exit codes:
  0  the log is sound
  1  the log is incomplete, tampered with or truncated, or a file of it is missing or misplaced
  2  usage error
  3  the log, the key or the anchor could not be read, or the output could not be written"
    };
}

mod audit_show;
mod audit_sign;
#[cfg(feature = "otel")]
mod audit_spans;
mod audit_verify;
mod codes;
mod common;
mod diff;
mod fix;
mod gate;
mod hook;
mod inputs;
mod levels;
#[cfg(feature = "nats")]
mod nats;
mod new;
mod order;
mod proxy;
mod remote;
mod report;
mod stage;
mod trace;
mod when;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, FromArgMatches as _, Parser, Subcommand};

use crate::config::content::Config;
use crate::explain::{AnyCode, WhichExample};
use crate::formats::FormatArgs;
use crate::output::Color;

pub(crate) use self::audit_show::{AuditSettleArgs, AuditShowArgs, AuditStatsArgs, YesNo};
pub(crate) use self::audit_sign::{AuditSignArgs, AuditVerifySignedArgs, NewSigningKeyArgs};
#[cfg(feature = "otel")]
pub(crate) use self::audit_spans::AuditSpansArgs;
use self::audit_verify::AUDIT_VERIFY_HELP;
pub(crate) use self::audit_verify::AuditVerifyArgs;
pub(crate) use self::common::{ClockArgs, ConfigArgs, Format, KeyArgs};
pub(crate) use self::diff::DiffArgs;
pub(crate) use self::fix::FixArgs;
pub(crate) use self::gate::{
    CatalogArgs, FailOn, FileFormat, GateCheckArgs, GateConfirmArgs, GateInitArgs, GateProveArgs, GateReplayArgs,
    GateWrapArgs,
};
pub(crate) use self::hook::{
    HookCommand, HookDoctorArgs, HookInstallArgs, HookRunArgs, HookServeArgs, HookToolsArgs, ResidentUse,
};
pub(crate) use self::inputs::{BaselineArgs, InputArgs};
pub(crate) use self::levels::LevelArgs;
#[cfg(feature = "nats")]
pub(crate) use self::nats::{NatsArgs, PublishArgs, StreamArgs, TailArgs, WorkerArgs};
pub(crate) use self::new::NewArgs;
pub(crate) use self::proxy::{HttpArgs, ProxyArgs};
use self::proxy::{PROXY_EXIT_CODES, PROXY_HELP};
pub(crate) use self::remote::RemoteArgs;
pub(crate) use self::report::{ReportArgs, ReportAuditArgs};
pub(crate) use self::stage::Stage;
pub(crate) use self::trace::{GraphArgs, GraphFormat, TraceArgs};
pub(crate) use self::when::{When, when};

/// Check logs of AI agents against the OMEN protocol.
///
/// A log is in JSON Lines format: each line is one packet, and packets of several episodes may
/// alternate. `omen check` reports which packets break the protocol, where and why, and what is
/// legal instead.
#[derive(Debug, Parser)]
#[command(name = "omen", version, after_help = EXIT_CODES, after_long_help = MORE_HELP, max_term_width = 100)]
pub(crate) struct Cli {
    /// When to use colours: auto, always or never
    #[arg(long, value_name = "WHEN", global = true, default_value = "auto", hide_possible_values = true)]
    pub(crate) color: Color,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check logs: each packet against its schema, the state machine and the invariants
    #[command(after_help = EXIT_CODES, after_long_help = CHECK_HELP)]
    Check(CheckArgs),

    /// Show which findings are new since an earlier run, and which are gone
    #[command(after_help = diff::HELP)]
    Diff(DiffArgs),

    /// Explain a code, with a rejected and a fixed example
    #[command(after_help = "Examples:
  omen explain INV-007
  omen explain PG-3
  omen explain E4 --example rejected | omen check
  omen explain E4 --rust")]
    Explain {
        /// The code of a finding, such as SCHEMA, E4 or INV-007, of the gate, such as PG-3, or a decision, such as D29
        #[arg(value_parser = codes::any(), hide_possible_values = true)]
        code: AnyCode,

        /// Print a log of the example instead; only codes of `omen check` have one
        #[arg(long, value_name = "WHICH")]
        example: Option<WhichExample>,

        /// Print programs that break the rule and do not compile, each with the error of rustc and a fixed program
        #[arg(long, conflicts_with = "example")]
        rust: bool,
    },

    /// Print packets to start from: complete, and valid by their schema
    #[command(after_help = new::HELP)]
    New(NewArgs),

    /// List all codes
    Rules {
        /// The output format; `json` prints one array with the full texts
        #[arg(long, value_name = "FORMAT", default_value = "human")]
        format: Format,
    },

    /// Print a schema file, or one definition
    #[command(after_help = "Examples:\n  omen schema\n  omen schema DecisionPacket\n  omen schema TokenId")]
    Schema {
        /// The name of a schema file or a definition, case-insensitive; without it, the files are listed
        #[arg(value_parser = codes::schema(), hide_possible_values = true)]
        name: Option<String>,
    },

    /// Show how each packet of a log changed the state of its episode
    #[command(after_help = EXIT_CODES)]
    Trace(TraceArgs),

    /// Write a report on logs: one HTML file, with each episode as a timeline
    #[command(after_help = EXIT_CODES, after_long_help = report::HELP)]
    Report(ReportArgs),

    /// Print the state machine as a diagram, with the path of an episode
    #[command(after_help = "Examples:
  omen graph --format dot | dot -Tsvg -o machine.svg
  omen graph --episode corr_7 episode.jsonl > path.mmd")]
    Graph(GraphArgs),

    /// Verify the audit log of the gate, and manage its key and anchors
    #[command(subcommand)]
    Audit(AuditCommand),

    /// Try plans against the gate, and prepare its configuration
    #[command(subcommand)]
    Gate(GateCommand),

    /// Run the gate as a hook of coding agents
    #[command(subcommand)]
    Hook(HookCommand),

    /// Judge packets from NATS JetStream, together with other workers
    #[cfg(feature = "nats")]
    #[command(after_help = nats::EXIT_CODES, after_long_help = nats::WORKER_HELP)]
    Worker(WorkerArgs),

    /// Publish logs to NATS JetStream, each line exactly once
    #[cfg(feature = "nats")]
    #[command(after_help = nats::EXIT_CODES, after_long_help = nats::PUBLISH_HELP)]
    Publish(PublishArgs),

    /// Print the findings of the workers as they arrive
    #[cfg(feature = "nats")]
    #[command(after_help = nats::TAIL_EXIT_CODES)]
    Tail(TailArgs),

    /// Serve an editor: findings while typing, fixes, completion and descriptions
    ///
    /// A server of the Language Server Protocol on standard input and output, which an editor starts. It checks logs,
    /// omen.toml and gate.toml as `omen check` and `omen gate check` do.
    #[command(after_help = "docs/editor.md describes how to set up VS Code, Neovim, Helix and Emacs.")]
    Lsp {
        /// Use standard input and output; this is always the case, but some editors pass the option
        #[arg(long, hide = true)]
        stdio: bool,
    },

    /// Generate a shell completion script
    #[command(after_help = "Example:\n  omen completions bash > ~/.local/share/bash-completion/completions/omen")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },

    /// Write manual pages, one for each command
    #[command(after_help = "Example:\n  omen man ~/.local/share/man/man1")]
    Man {
        /// The directory, which is created if it is missing
        #[arg(value_hint = clap::ValueHint::DirPath)]
        directory: PathBuf,
    },
}

/// Returns `omen check` with its options, by which values of a configuration are validated.
pub(crate) fn check_command() -> clap::Command {
    CheckArgs::augment_args(clap::Command::new("check"))
}

impl Command {
    /// Returns the command's configuration arguments, if it has any.
    pub(crate) fn config(&mut self) -> Option<&mut ConfigArgs> {
        match self {
            Self::Check(args) => Some(&mut args.config),
            Self::Report(args) => Some(&mut args.config),
            _ => None,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) formats: FormatArgs,

    #[command(flatten)]
    pub(crate) baseline: BaselineArgs,

    #[command(flatten)]
    pub(crate) clock: ClockArgs,

    #[command(flatten)]
    pub(crate) levels: LevelArgs,

    /// How far to check packets
    ///
    /// With `schema` and `packet`, the state machine and the order of packets are not checked, and no episode is
    /// judged: for packets that are not in a log yet.
    #[arg(long, value_name = "STAGE", value_enum, default_value_t)]
    pub(crate) stage: Stage,

    #[command(flatten)]
    pub(crate) fix: FixArgs,

    /// How many threads to use [default: as many as the system has]
    #[arg(short, long, value_name = "N", value_parser = threads)]
    pub(crate) jobs: Option<NonZeroUsize>,

    #[command(flatten)]
    pub(crate) config: ConfigArgs,

    #[command(flatten)]
    pub(crate) inputs: InputArgs,
}

impl CheckArgs {
    /// Returns the arguments with which `omen check` would check a single log under a configuration.
    pub(crate) fn from_config(mut config: Config) -> Result<Self, clap::Error> {
        let command = check_command().no_binary_name(true);
        let option = |id: &str| command.get_arguments().find(|arg| arg.get_id() == id).and_then(clap::Arg::get_long);
        let defaults = std::mem::take(&mut config.defaults);
        let words = defaults.iter().flat_map(|(id, values)| {
            let name = option(id).unwrap_or(id);
            values.iter().map(move |value| format!("--{name}={value}"))
        });
        let words: Vec<_> = words.collect();
        let mut args = Self::from_arg_matches(&command.try_get_matches_from(words)?)?;
        args.config.found = config;
        Ok(args)
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Report whether a log is sound, incomplete, tampered with (and where) or truncated
    #[command(after_help = AUDIT_EXIT_CODES, after_long_help = AUDIT_VERIFY_HELP)]
    Verify(AuditVerifyArgs),

    /// Create a key in a file that only its owner can read
    #[command(after_help = NEW_KEY_EXIT_CODES, after_long_help = NEW_KEY_HELP)]
    NewKey(NewKeyArgs),

    /// Print an anchor of a sound log: one line of JSON, to be stored elsewhere
    #[command(after_help = AUDIT_EXIT_CODES, after_long_help = AUDIT_EXPORT_HELP)]
    ExportAnchor(AuditExportArgs),

    /// Create a key pair for signed anchors: a secret key, and a public key for auditors
    #[command(after_long_help = audit_sign::NEW_SIGNING_KEY_HELP)]
    NewSigningKey(NewSigningKeyArgs),

    /// Print a signed anchor of a sound log, which can be verified without the log's key
    #[command(after_long_help = audit_sign::SIGN_HELP)]
    Sign(AuditSignArgs),

    /// Verify a log against a signed anchor, with only the public key
    #[command(after_long_help = audit_sign::VERIFY_SIGNED_HELP)]
    VerifySigned(AuditVerifySignedArgs),

    /// Show the entries of a log, verified, with filters
    #[command(after_long_help = audit_show::SHOW_HELP)]
    Show(AuditShowArgs),

    /// Count what is in a log: calls, failures and refusals by tool, refusals by code
    #[command(after_long_help = audit_show::STATS_HELP)]
    Stats(AuditStatsArgs),

    /// Export the calls of a log as OpenTelemetry spans
    #[cfg(feature = "otel")]
    #[command(after_long_help = audit_spans::SPANS_HELP)]
    Spans(AuditSpansArgs),

    /// Record the outcome of a call in doubt, so that the gate may repeat it
    #[command(after_long_help = audit_show::SETTLE_HELP)]
    Settle(AuditSettleArgs),
}

#[derive(Debug, Args)]
pub(crate) struct NewKeyArgs {
    /// The file to create; an existing file is not overwritten
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct AuditExportArgs {
    #[command(flatten)]
    pub(crate) key: KeyArgs,

    /// The log; its head record is the file `LOG.head` beside it
    #[arg(value_name = "LOG")]
    pub(crate) log: PathBuf,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GateCommand {
    /// Report what the gate would do with each plan, without calling a tool
    #[command(after_help = DRY_RUN_EXIT_CODES, after_long_help = DRY_RUN_HELP)]
    DryRun(DryRunArgs),

    /// Start the configured servers, and list their tools
    #[command(after_help = gate::CATALOG_EXIT_CODES, after_long_help = gate::CATALOG_HELP)]
    Catalog(CatalogArgs),

    /// Try a configuration on the calls of an audit log, or on plans, and compare it with the one in force
    #[command(after_help = gate::REPLAY_EXIT_CODES, after_long_help = gate::REPLAY_HELP)]
    Replay(GateReplayArgs),

    /// Find a call that a configuration allows and the one in force refuses, or prove that there is none
    #[command(after_help = gate::PROVE_EXIT_CODES, after_long_help = gate::PROVE_HELP)]
    Prove(GateProveArgs),

    /// Write a configuration for a server, with its tools to choose from
    #[command(after_help = gate::INIT_EXIT_CODES, after_long_help = gate::INIT_HELP)]
    Init(GateInitArgs),

    /// Check a configuration, and whether a gate can start with it
    #[command(after_help = gate::CHECK_EXIT_CODES, after_long_help = gate::CHECK_HELP)]
    Check(GateCheckArgs),

    /// Confirm or deny calls that are waiting at a gate
    #[command(after_help = gate::CONFIRM_EXIT_CODES, after_long_help = gate::CONFIRM_HELP)]
    Confirm(GateConfirmArgs),

    /// Run the gate as a proxy between an MCP client and its servers
    #[command(after_help = PROXY_EXIT_CODES, after_long_help = PROXY_HELP)]
    Proxy(ProxyArgs),

    /// Put the gate in front of the servers of an MCP client
    #[command(after_help = gate::WRAP_EXIT_CODES, after_long_help = gate::WRAP_HELP)]
    Wrap(GateWrapArgs),

    /// Print the JSON Schema of the configuration, or a sample with every key
    #[command(after_help = "Examples:\n  omen gate schema > gate.schema.json\n  omen gate schema --example")]
    Schema {
        /// Print a sample instead: TOML with every key and comments. A gate does not start with it unchanged: its pins match no tool
        #[arg(long)]
        example: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct DryRunArgs {
    /// The configuration of the gate: a regular file, in TOML
    #[arg(long, value_name = "FILE", default_value = "gate.toml")]
    pub(crate) config: PathBuf,

    /// The catalogue of tools: a regular file, as `omen gate catalog` prints it
    #[arg(long, value_name = "FILE")]
    pub(crate) catalog: PathBuf,

    /// A regular file with one plan per line; `-` means standard input [default: -]
    #[arg(value_name = "PLANS")]
    pub(crate) plans: Option<PathBuf>,
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

const AUDIT_EXIT_CODES: &str = audit_exit_codes!();

macro_rules! new_key_exit_codes {
    () => {
        "\
Exit codes:
  0  the key was created
  2  usage error
  3  the file exists or cannot be written, or the system has no random bytes"
    };
}

const NEW_KEY_EXIT_CODES: &str = new_key_exit_codes!();

const NEW_KEY_HELP: &str = concat!(
    "\
The key consists of 32 random bytes from the operating system, in hexadecimal digits. With the key, the log \
     can be rewritten unnoticed: keep it where neither the agent nor its tools can read it. Without the key, \
     the log cannot be verified.

Example:
  omen audit new-key audit.key

",
    new_key_exit_codes!()
);

const AUDIT_EXPORT_HELP: &str = concat!(
    "\
Store the anchor where no writer of the log can change it. From then on, the current content of the log cannot \
     be removed or changed unnoticed. If a gate has the log open, the anchor covers the entries up to the last \
     acknowledged one; the program can also create anchors itself (`Gate::anchor`).

Example:
  omen audit export-anchor --key-file audit.key audit.jsonl > monday.anchor

",
    audit_exit_codes!()
);

macro_rules! dry_run_exit_codes {
    () => {
        "\
Exit codes:
  0  no plan is blocked (plans that need a confirmation or ask the user are not blocked)
  1  at least one plan is blocked
  2  usage error
  3  an input could not be read or is invalid, or the output could not be written"
    };
}

const DRY_RUN_EXIT_CODES: &str = dry_run_exit_codes!();

const DRY_RUN_HELP: &str = concat!(
    "\
Each line of PLANS is a JSON string with the text that the planner wrote, including code fences, other \
     text and invalid JSON; or it is an object, which is the plan itself. Blank lines are skipped. Examples:

  {\"type\":\"call_tool\",\"server\":\"files\",\"tool\":\"read\",\"args\":{\"path\":\"a.txt\"}}
  {\"type\":\"final_answer\",\"answer\":\"Which file?\",\"needs_more_info\":true}

For each plan, one line of JSON is printed, in the same order:

  {\"index\":0,\"verdict\":\"allow|block|needs_confirmation|terminal\",\"code\":…,\"message\":…,\"help\":…}

The configuration, the catalogue and PLANS must be regular files. A pipe, such as `<(command)`, is \
     refused: write its content to a file first, or send the plans through standard input.

Each plan is checked independently, as if it were the first one; this includes the order rules (O-1 to \
     O-6). No tool is called, no server is started and nothing is recorded. A dry run does not check the \
     request (PG-0), earlier failures (R1, R2), results of tools (PG-4, PG-5), or whether the audit log can be \
     written (A1).

Examples:
  omen gate dry-run --config gate.toml --catalog catalog.json plans.jsonl
  planner | omen gate dry-run --config gate.toml --catalog catalog.json -

",
    dry_run_exit_codes!()
);

const CHECK_HELP: &str = concat!(
    "\
Findings go to standard output, everything else to standard error. -A, -W and -D take the codes of invariants \
     (INV-002, ...), LAYER, CHAIN, CLAIM and TIME, and `warnings` for all warnings; for each code, the last \
     option applies. The other codes (JSON, SCHEMA, ID, FSM, E1, ...) are always errors.

Settings that the arguments do not specify are taken from omen.toml, in this directory or the nearest parent \
     directory that has one; `omen schema config` prints its JSON Schema.

Examples:
  omen check episode.jsonl
  omen check -D warnings -A INV-011,INV-012 logs/
  omen check 'logs/**/*.jsonl.gz' --exclude 'old/'
  omen check --diff logs/ | git apply
  agent | omen check --format json -

",
    exit_codes!()
);

/// Parses a number of threads.
fn threads(text: &str) -> Result<NonZeroUsize, &'static str> {
    text.parse().map_err(|_| "expected a number of threads, at least 1; omit the option to use all cores")
}
