//! C1: the one configuration file of a gate, in TOML.
//!
//! ```
//! use omen_gate::Config;
//!
//! let errors = Config::parse("[limits]\nplan_byte = 1000\n").unwrap_err();
//! assert_eq!(errors.0[0].to_string(), "line 2, column 1: unknown key `limits.plan_byte`");
//! assert_eq!(errors.0[0].help, "did you mean `plan_bytes`?");
//! ```
//!
//! What stands in no file is not allowed: an empty text is a configuration that allows nothing, and there is no
//! default one that allows something. A file that is missing or wrong in any way gives errors, and no configuration.

mod check;
mod endpoint;
mod error;
mod file;
mod hash;
mod inspect;
mod load;
mod named_paths;
mod paths;
mod query_policy;
mod schema;
mod source;

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::time::Duration;

use zeroize::Zeroizing;

use crate::base::{ServerName, ToolId};
use crate::call::arguments::Recorder;
use crate::call::{BreakerLimits, BudgetLimits, CallLimits, Demand};
use crate::catalog::Allowlist;
use crate::grant::{ConfirmLimits, Grant};

pub use endpoint::{BadEndpoint, Endpoint, HeaderSource};
pub use error::{ConfigError, ConfigErrors, MAX_ERRORS};
pub use file::{Limits, OnVeto, ServerErrors};
pub use hash::PolicyHash;
pub use inspect::Inspection;
pub use query_policy::{BadPolicy, Policy};
pub use source::MAX_BYTES;

/// A sample of a configuration, with every key and comments. Its pins fit no tool.
pub const SAMPLE: &str = include_str!("../examples/gate.toml");

/// A configuration without a mistake in it. It comes from a text only.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// What a request must not ask for, and how long it may be (PG-0).
    pub policy: Policy,
    /// Whether the rules on what a call says are only tried: what they would refuse is recorded, and passes. These are the
    /// patterns (PG-0), the rules on arguments and the rates (PG-3), and the budgets of calls (R2); everything else refuses as
    /// ever.
    pub shadow: bool,
    /// Limits of what is read and waited for.
    pub limits: Limits,
    /// The tool servers.
    pub servers: BTreeMap<ServerName, Server>,
    /// The operator's allowlist (PG-3).
    pub allow: Allowlist,
    /// The default grants (G1).
    pub grants: Vec<Grant>,
    /// When breakers open (R1).
    pub breaker: BreakerLimits,
    /// The failure budget of a turn (R2).
    pub budget: BudgetLimits,
    /// How many calls a turn and a session may make (R2).
    pub calls: CallLimits,
    /// The member of `_meta` by which a client behind the proxy names the turn of its user (A2, R2).
    pub user_turn: Option<String>,
    /// What the proxy does with an episode that its model drives where it has to be vetoed.
    pub on_veto: OnVeto,
    /// How long confirmations take and hold (G3).
    pub confirm: ConfirmLimits,
    /// The Unix socket where people answer (G3), if the configuration names one.
    pub confirm_socket: Option<PathBuf>,
    /// The audit log. Without it the gate runs no tool: what cannot be recorded is not done (D49).
    pub audit: Option<Audit>,
    /// The folder of the file, from which its paths start. A configuration that comes from a text has none: its paths
    /// start from the working directory.
    pub folder: Option<PathBuf>,
    hash: PolicyHash,
    /// Whether `shadow` holds whatever a file says.
    keeps_shadow: bool,
}

/// A tool server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Server {
    /// How to start it. Without it and without an `endpoint`, the program that runs the gate provides the server itself.
    pub command: Option<Command>,
    /// How to reach it over HTTP, in place of starting it.
    pub endpoint: Option<Endpoint>,
    /// What a client reads where the server answers a call with an error.
    pub errors: ServerErrors,
}

/// How a server is started: a child process that speaks the Model Context Protocol on its standard streams.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Command {
    /// The program.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables of its environment.
    pub env: BTreeMap<String, String>,
    /// Variables that it inherits from the gate's environment, beside `PATH`. It inherits no others.
    pub pass_env: Vec<String>,
    /// The folder that it runs in, which is that of the configuration. Without it, the gate's own.
    pub dir: Option<PathBuf>,
}

/// Values of variables may be secrets, so only their names are shown.
impl std::fmt::Debug for Command {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let env: Vec<_> = self.env.keys().collect();
        let mut command = f.debug_struct("Command");
        command.field("program", &self.program).field("args", &self.args);
        command.field("env", &env).field("pass_env", &self.pass_env).field("dir", &self.dir).finish()
    }
}

/// Where decisions and calls are recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Audit {
    /// The log file.
    pub log: PathBuf,
    /// Where the key comes from.
    pub key: KeySource,
    /// Whether each entry is forced to the disk before the gate goes on.
    pub sync: bool,
    /// How long a file of the log becomes, in bytes, before another one continues it.
    pub rotate_bytes: Option<NonZeroU64>,
    /// How old a file of the log becomes before another one continues it.
    pub rotate_after: Option<Duration>,
    /// What of a call's arguments is recorded.
    pub recorder: Recorder,
    /// A file with an anchor that the log must hold.
    pub require_anchor: Option<PathBuf>,
}

/// Where the key of the audit log comes from. The configuration never holds the key itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// A file that only its owner can read.
    File(PathBuf),
    /// A variable of the environment.
    Env(String),
}

impl KeySource {
    /// Whether a text that a program is started with hands it the key: it holds the key, or names the file of the key, as a path
    /// from this folder, also behind an option (`--key=PATH`), in a list, or as a URL (`file://PATH`).
    #[must_use]
    pub fn is_in(&self, text: &str, folder: &Path) -> bool {
        match self {
            Self::File(file) => {
                named_paths::named_paths(text).iter().any(|path| named_paths::is_same_file(&folder.join(path), file))
            }
            Self::Env(variable) => {
                let key = std::env::var(variable).map(Zeroizing::new).unwrap_or_default();
                let key = key.trim_ascii();
                !key.is_empty() && text.contains(key)
            }
        }
    }
}

impl Config {
    /// What the operator says that a tool needs; nothing if the tool is not allowed (PG-3).
    #[must_use]
    pub fn demand(&self, tool: &ToolId) -> Option<&Demand> {
        Some(&self.allow.get(tool)?.demand)
    }

    /// The same with `shadow`, also after a reload of the file.
    #[must_use]
    pub fn always_shadow(self) -> Self {
        Self { shadow: true, keeps_shadow: true, ..self }
    }

    /// Whether rules on what a call says are only tried, whatever the file says when it is loaded again.
    pub(crate) fn keeps_shadow(&self) -> bool {
        self.keeps_shadow
    }

    /// Identifies what the configuration says.
    #[must_use]
    pub fn hash(&self) -> PolicyHash {
        self.hash
    }

    /// The Unix socket where people confirm calls (G3): the one that the configuration names, or `.omen-gate/confirm.sock`
    /// in its folder.
    #[must_use]
    pub fn confirm_socket(&self) -> PathBuf {
        let in_folder = || self.folder.as_deref().unwrap_or(Path::new("")).join(CONFIRM_SOCKET);
        self.confirm_socket.clone().unwrap_or_else(in_folder)
    }
}

const CONFIRM_SOCKET: &str = ".omen-gate/confirm.sock";

pub(crate) use omen_base::names::INHERITED;
