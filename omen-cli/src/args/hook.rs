//! Arguments and help texts of `omen hook`.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand, ValueEnum};
use omen_hook::Dialect;
use omen_proxy::episode::Mode;

use super::Format;

#[derive(Debug, Subcommand)]
pub(crate) enum HookCommand {
    /// Answer one event of a coding agent; this is the hook itself
    #[command(after_help = RUN_EXIT_CODES, after_long_help = RUN_HELP)]
    Run(HookRunArgs),

    /// Add the hook to the settings of a coding agent
    #[command(after_help = INSTALL_EXIT_CODES, after_long_help = INSTALL_HELP)]
    Install(HookInstallArgs),

    /// Check that an installed hook decides when it is called as the agent would
    #[command(after_help = DOCTOR_EXIT_CODES, after_long_help = DOCTOR_HELP)]
    Doctor(HookDoctorArgs),

    /// Answer events of `omen hook run` over a socket, each within milliseconds
    #[command(after_help = SERVE_EXIT_CODES, after_long_help = SERVE_HELP)]
    Serve(HookServeArgs),

    /// Print the tools of a coding agent, or allowlist entries for them
    #[command(after_long_help = TOOLS_HELP)]
    Tools(HookToolsArgs),
}

#[derive(Debug, Args)]
pub(crate) struct HookRunArgs {
    /// The coding agent whose hook this is; events and answers are in its dialect
    #[arg(long, value_name = "AGENT", value_parser = agents())]
    pub(crate) agent: String,

    /// The configuration of the gate: a regular file, in TOML
    #[arg(long, value_name = "FILE", default_value = "gate.toml")]
    pub(crate) config: PathBuf,

    /// Whether `omen hook serve` answers for this process: `start` starts one for the next events if none runs, `use` starts
    /// none, `off` does not ask it [default: OMEN_HOOK_RESIDENT, or start]
    #[arg(long, value_name = "WHEN", hide_possible_values = true)]
    pub(crate) resident: Option<ResidentUse>,

    /// The tools of MCP servers, as `omen gate catalog` prints them; without it, none of their tools is allowed
    #[arg(long, value_name = "FILE")]
    pub(crate) catalog: Option<PathBuf>,

    /// The folder below which calls may be made [default: the folder of the configuration]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) root: Option<PathBuf>,

    /// The agent's timeout for a hook, in seconds; the call is denied at 80 % of it [default: that of the agent]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) timeout: Option<u64>,

    /// Record each call as an episode, which `omen check` judges: `observe`; the log is in the folder named after the audit log, with the
    /// extension `episodes`
    #[arg(long, value_name = "MODE")]
    pub(crate) episode: Option<Mode>,

    /// Record decisions in this folder instead of the audit log, as `omen hook doctor` does
    #[arg(long, value_name = "FOLDER", hide = true)]
    pub(crate) rehearse: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct HookDoctorArgs {
    /// The coding agent [default: all that have a hook of omen]
    #[arg(value_name = "AGENT", value_parser = agents())]
    pub(crate) agent: Option<String>,

    /// The folder of the project [default: the working directory]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) root: Option<PathBuf>,

    /// The output format; `json` prints one object
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct HookInstallArgs {
    /// The coding agent
    #[arg(value_name = "AGENT", value_parser = agents())]
    pub(crate) agent: String,

    /// Whose settings to edit
    #[arg(long, value_name = "SCOPE", value_enum, default_value = "user")]
    pub(crate) scope: SettingsScope,

    /// The configuration of the gate
    #[arg(long, value_name = "FILE", default_value = "gate.toml", conflicts_with = "undo")]
    pub(crate) config: PathBuf,

    /// The tools of MCP servers, as `omen gate catalog` prints them
    #[arg(long, value_name = "FILE", conflicts_with = "undo")]
    pub(crate) catalog: Option<PathBuf>,

    /// The folder of the project, below which calls may be made [default: the working directory]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) root: Option<PathBuf>,

    /// The agent's timeout for the hook, in seconds [default: that of the agent]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400), conflicts_with = "undo")]
    pub(crate) timeout: Option<u64>,

    /// Have the hook record each call as an episode: `observe`
    #[arg(long, value_name = "MODE", conflicts_with = "undo")]
    pub(crate) episode: Option<Mode>,

    /// Print the difference, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Remove the hook from the settings
    #[arg(long)]
    pub(crate) undo: bool,

    /// With --scope managed: write the file instead of printing it
    #[arg(long)]
    pub(crate) write: bool,
}

/// Scope of settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SettingsScope {
    /// The user's settings, for all projects
    User,
    /// The project's settings, which are shared with it
    Project,
    /// The administrator's settings, which the user cannot undo; the file is printed
    Managed,
}

impl SettingsScope {
    /// Returns the name of the scope in the dialects' data.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Managed => "managed",
        }
    }

    pub(crate) fn is_managed(self) -> bool {
        self == Self::Managed
    }
}

/// Use of a resident process by `omen hook run`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ResidentUse {
    /// Ask the one that runs, or start one for the next events.
    Start,
    /// Ask the one that runs.
    Use,
    /// Decide in this process.
    Off,
}

#[derive(Debug, Args)]
pub(crate) struct HookServeArgs {
    /// The configuration of the gate: a regular file, in TOML
    #[arg(long, value_name = "FILE", default_value = "gate.toml")]
    pub(crate) config: PathBuf,

    /// Seconds without an event after which the process exits
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) idle: u64,

    /// Record each call as an episode, whether or not its hook asks for it: `observe`
    #[arg(long, value_name = "MODE")]
    pub(crate) episode: Option<Mode>,

    /// Also answer HTTP hooks of Claude Code, on loopback; the process then never exits when idle
    #[arg(long)]
    pub(crate) http: bool,
}

#[derive(Debug, Args)]
pub(crate) struct HookToolsArgs {
    /// The coding agent
    #[arg(value_name = "AGENT", value_parser = agents())]
    pub(crate) agent: String,

    /// Print allowlist entries with pins, and their grants, instead of the catalogue
    #[arg(long)]
    pub(crate) pins: bool,
}

fn agents() -> PossibleValuesParser {
    PossibleValuesParser::new(Dialect::agents())
}

macro_rules! exit_codes {
    () => {
        "\
Exit codes:
  0  the answer is on standard output, in the dialect of the agent; no output means no objection
  2  the call is denied, or a call ran that was not allowed; the reason is on standard error"
    };
}

const RUN_EXIT_CODES: &str = exit_codes!();

const RUN_HELP: &str = concat!(
    "\
The event is read from standard input. Before a tool call, the gate decides as it does in `omen gate proxy`: \
     it sees the agent as a server with the agent's name, whose tools are `claude-code/Bash` and others. A \
     patch is judged file by file. After a tool call, the outcome is recorded with the call. Any failure \
     denies the call: an unknown event, an unusable configuration or log, a panic, a timeout.

A call that ran although it was denied, without a decision, or with other arguments gets its own entry in the \
     audit log, which `omen audit verify --policy` reports.

With `--episode observe`, each call is also an episode, and the session its campaign: a log that `omen check` \
     judges, in the folder `audit.episodes` beside the log `audit.jsonl`. Nothing more is refused. `enforce` \
     needs tools with which the model states what it believes and decides, which a hook cannot offer: use \
     `omen gate proxy --episode enforce`.

Examples:
  omen hook run --agent claude-code --config gate.toml < event.json
  omen hook run --agent codex --config gate.toml --root /home/dev/project
  omen hook run --agent codex --config gate.toml --episode observe

",
    exit_codes!()
);

macro_rules! install_exit_codes {
    () => {
        "\
Exit codes:
  0  the hook is installed, or already was; with --undo, it is removed
  2  usage error, or the settings cannot be edited safely; they are unchanged
  3  the output could not be written"
    };
}

const INSTALL_EXIT_CODES: &str = install_exit_codes!();

const INSTALL_HELP: &str = concat!(
    "\
Adds `omen hook run`, with the path of this program, to each event of the agent that the gate must see. \
     Everything else in the file stays as it is, byte for byte, including other hooks. If the agent has an \
     option to refuse calls when a hook fails, it is set. For OpenCode, a plug-in that does the same is \
     written.

A file FILE.omen-undo beside the settings records what was added. --undo removes exactly that, even if the \
     file was changed elsewhere since. What the agent cannot guarantee is printed, with what remains to be \
     done.

Examples:
  omen hook install claude-code --scope project --config /home/dev/gate/gate.toml --dry-run
  omen hook install codex --config /home/dev/gate/gate.toml --root /home/dev/project
  omen hook install claude-code --scope managed --config /etc/omen/gate.toml > managed-settings.json
  omen hook install codex --undo

",
    install_exit_codes!()
);

macro_rules! doctor_exit_codes {
    () => {
        "\
Exit codes:
  0  no problem was found
  1  a problem was found, or no hook is installed
  2  usage error, or settings of the agent cannot be read
  3  the output could not be written"
    };
}

const DOCTOR_EXIT_CODES: &str = doctor_exit_codes!();

const DOCTOR_HELP: &str = concat!(
    "\
Looks for the hook in the settings of the user, the project and the administrator, and for settings that \
     disable hooks. Then it starts exactly the installed command, as the agent does, with a call that the \
     policy refuses, one that it allows, and a change of settings, and reports what the agent would do with \
     each answer. These rehearsals call no tool, and do not change the audit log.

The agent itself is not started: until the audit log has an event from it, the hook is configured, but not \
     seen to be called.

Examples:
  omen hook doctor
  omen hook doctor codex --format json

",
    doctor_exit_codes!()
);

macro_rules! serve_exit_codes {
    () => {
        "\
Exit codes:
  0  the process was idle or was terminated, or a hook has another version
  2  usage error
  3  the configuration or its socket cannot be used"
    };
}

const SERVE_EXIT_CODES: &str = serve_exit_codes!();

const SERVE_HELP: &str = concat!(
    "\
`omen hook run` asks this process if one with the same version and configuration is running, and otherwise \
     decides by itself. It also starts this process when needed; both give the same answers and share the log. \
     Only processes of the same user can connect to the socket, which is beside that of `omen gate confirm`.

With `--http`, Claude Code's hooks of the type `http` are answered, too. The address and the token, which they send as \
     `Authorization: Bearer TOKEN`, are in files beside the socket, `confirm.hook.url` and `confirm.hook.token`.

Examples:
  omen hook serve --config gate.toml
  omen hook serve --config gate.toml --http

",
    serve_exit_codes!()
);

const TOOLS_HELP: &str = "\
The pins cover the names and arguments of the tools that this version knows; the agent is not started.

Examples:
  omen hook tools claude-code > catalog.json
  omen hook tools codex --pins > review.toml

Exit codes:
  0  the tools were printed
  2  usage error
  3  the output could not be written";
