//! C1: the single configuration file of a gate, in TOML.
//!
//! ```
//! use omen_gate::Config;
//!
//! let errors = Config::parse("[limits]\nplan_byte = 1000\n").unwrap_err();
//! assert_eq!(errors.0[0].to_string(), "line 2, column 1: unknown key `limits.plan_byte`");
//! assert_eq!(errors.0[0].help, "did you mean `plan_bytes`?");
//! ```
//!
//! Everything not listed in the file is denied: an empty text is a configuration that allows nothing, and no default
//! allows anything. A missing or invalid file yields errors and no configuration.

mod check;
mod endpoint;
mod error;
mod file;
mod inspect;
mod load;
mod named_paths;
mod order_keys;
mod query_policy;
mod schema;
mod source;

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde::{Serialize, Serializer};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use crate::base::{NotExact, ServerName, ToolId, canonical};
use crate::call::arguments::Recorder;
use crate::call::{BreakerLimits, BudgetLimits, CallLimits, Demand};
use crate::catalog::Allowlist;
use crate::grant::{ConfirmLimits, Grant};

pub use endpoint::{BadEndpoint, Endpoint, HeaderSource};
pub use error::{ConfigError, ConfigErrors, MAX_ERRORS};
pub use file::{Limits, OnVeto, ServerErrors};
pub use inspect::Inspection;
pub use query_policy::{BadPolicy, Policy};
pub use source::MAX_BYTES;

/// Sample configuration with every key, with comments. Its pins match no tool.
pub const SAMPLE: &str = include_str!("../examples/gate.toml");

/// Valid configuration, created only from text.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// Patterns that screen requests, and the maximum request length (PG-0).
    pub policy: Policy,
    /// Whether shadow mode is on, in which violations are recorded but pass. It covers the patterns (PG-0), the argument rules
    /// and rate limits (PG-3), the order rules (O-1 to O-6), and the call budgets (R2); all other rules stay enforced.
    pub shadow: bool,
    /// Limits on sizes and waiting times.
    pub limits: Limits,
    /// Tool servers.
    pub servers: BTreeMap<ServerName, Server>,
    /// Operator's allowlist (PG-3).
    pub allow: Allowlist,
    /// Default grants (G1).
    pub grants: Vec<Grant>,
    /// Breaker limits (R1).
    pub breaker: BreakerLimits,
    /// Failure budget of a turn (R2).
    pub budget: BudgetLimits,
    /// Limits on the calls of a turn and of a session (R2).
    pub calls: CallLimits,
    /// Member of `_meta` in which a client of the proxy names its user's turn (A2, R2).
    pub user_turn: Option<String>,
    /// Reaction of the proxy when an episode driven by its model must be vetoed.
    pub on_veto: OnVeto,
    /// Time limits for confirmations (G3).
    pub confirm: ConfirmLimits,
    /// Unix socket through which people confirm calls (G3), if configured.
    pub confirm_socket: Option<PathBuf>,
    /// Audit log. Without one, the gate runs no tool: unrecorded actions are not allowed (D49).
    pub audit: Option<Audit>,
    /// Folder of the file, against which relative paths are resolved. `None` for a configuration from text, whose paths
    /// are relative to the working directory.
    pub folder: Option<PathBuf>,
    /// Rules on the order of calls (O-1 to O-6).
    pub(crate) order: Arc<omen_order::Policy>,
    /// Folder against which the paths of the order rules are resolved, once it is known.
    pub(crate) order_folder: Arc<OnceLock<PathBuf>>,
    pub(crate) hash: PolicyHash,
    /// Whether `shadow` stays on regardless of the file.
    pub(crate) keeps_shadow: bool,
}

impl Config {
    /// Returns the path of the first order rule about the calls of a turn, such as `allow[1].after[0]`.
    #[must_use]
    pub fn rule_per_turn(&self) -> Option<&str> {
        self.order.rule_per_turn()
    }

    /// Returns the path of the first order rule about the calls of a session.
    #[must_use]
    pub fn rule_per_session(&self) -> Option<&str> {
        self.order.rule_per_session()
    }
}

/// Tool server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Server {
    /// Command that starts the server. Without it and without an `endpoint`, the program that runs the gate provides
    /// the server.
    pub command: Option<Command>,
    /// HTTP endpoint, used instead of a command.
    pub endpoint: Option<Endpoint>,
    /// Form in which clients see the server's errors.
    pub errors: ServerErrors,
}

/// Command that starts a server: a child process that speaks the Model Context Protocol on its standard streams.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Command {
    /// Program to run.
    pub program: String,
    /// Arguments passed to the program.
    pub args: Vec<String>,
    /// Environment variables to set.
    pub env: BTreeMap<String, String>,
    /// Environment variables inherited from the gate in addition to `PATH`. No others are inherited.
    pub pass_env: Vec<String>,
    /// Working directory: the folder of the configuration, or the gate's own working directory if `None`.
    pub dir: Option<PathBuf>,
}

/// Shows only the names of variables, because their values may be secrets.
impl std::fmt::Debug for Command {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let env: Vec<_> = self.env.keys().collect();
        let mut command = f.debug_struct("Command");
        command.field("program", &self.program).field("args", &self.args);
        command.field("env", &env).field("pass_env", &self.pass_env).field("dir", &self.dir).finish()
    }
}

/// Settings of the audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Audit {
    /// Log file.
    pub log: PathBuf,
    /// Source of the key.
    pub key: KeySource,
    /// Whether each entry is flushed to disk before the gate continues.
    pub sync: bool,
    /// Size in bytes at which a log file is rotated.
    pub rotate_bytes: Option<NonZeroU64>,
    /// Age at which a log file is rotated.
    pub rotate_after: Option<Duration>,
    /// Redactor of arguments in the log.
    pub recorder: Recorder,
    /// File with an anchor that the log must contain.
    pub require_anchor: Option<PathBuf>,
}

/// Source of the audit log's key. The configuration never contains the key itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// File that only its owner can read.
    File(PathBuf),
    /// Environment variable.
    Env(String),
}

impl KeySource {
    /// Returns whether text passed to a program at start reveals the key: it contains the key, or names the key file as a path
    /// relative to this folder, including after an option (`--key=PATH`), in a list, or as a URL (`file://PATH`).
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
    /// Returns the operator's statement of a tool's requirements; `None` if the tool is not allowed (PG-3).
    #[must_use]
    pub fn demand(&self, tool: &ToolId) -> Option<&Demand> {
        Some(&self.allow.get(tool)?.demand)
    }

    /// Turns on `shadow`, even across reloads of the file.
    #[must_use]
    pub fn always_shadow(self) -> Self {
        Self { shadow: true, keeps_shadow: true, ..self }
    }

    /// Returns whether shadow mode stays on even if a reloaded file turns it off.
    pub(crate) fn keeps_shadow(&self) -> bool {
        self.keeps_shadow
    }

    /// Returns the hash that identifies the configuration.
    #[must_use]
    pub fn hash(&self) -> PolicyHash {
        self.hash
    }

    /// Returns the Unix socket through which people confirm calls: the configured socket, or `.omen-gate/confirm.sock`
    /// in the folder of the configuration (G3).
    #[must_use]
    pub fn confirm_socket(&self) -> PathBuf {
        let in_folder = || self.folder.as_deref().unwrap_or(Path::new("")).join(CONFIRM_SOCKET);
        self.confirm_socket.clone().unwrap_or_else(in_folder)
    }

    /// Returns the Unix socket of `omen hook serve`, which is next to the confirmation socket.
    #[must_use]
    pub fn hook_socket(&self) -> PathBuf {
        self.confirm_socket().with_extension(HOOK_SOCKET)
    }
}

const HOOK_SOCKET: &str = "hook.sock";

const CONFIRM_SOCKET: &str = ".omen-gate/confirm.sock";

pub(crate) use omen_base::names::INHERITED;

/// Hash of a configuration: SHA-256 of `omen-gate-policy/v1`, a line feed, and the canonical form (RFC 8785) of the
/// file as JSON, with dates as text.
///
/// Comments, formatting and key order do not count. Everything else does, including a key that only repeats its
/// default, and the order of `[[allow]]` and `[[grants]]`. Paths count as written, so a file has the same hash in every
/// folder. The values of variables in `env` are part of the hash.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PolicyHash([u8; 32]);

impl PolicyHash {
    fn from_value(value: &Value) -> Result<Self, NotExact> {
        let mut hash = Sha256::new_with_prefix(DOMAIN);
        hash.update(canonical(value)?);
        Ok(Self(hash.finalize().into()))
    }

    /// Returns the digest.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// Domain separator that keeps hashes of other data from being valid policy hashes.
const DOMAIN: &[u8] = b"omen-gate-policy/v1\n";

/// Writes the hash in lower-case hexadecimal.
impl fmt::Display for PolicyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for PolicyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PolicyHash({self})")
    }
}

impl Serialize for PolicyHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
