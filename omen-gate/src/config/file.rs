//! Serialized form of a configuration file, with the documentation of its keys. The JSON Schema of the file is derived
//! from these types.
//!
//! A file is checked against the schema, ranges included, before it is deserialized.

pub(super) mod argument;
pub(super) mod order;

use std::collections::BTreeMap;

use argument::Argument;
use omen_order::rules::config::Max;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::base::Permission;
use crate::call::arguments::ArgumentRecording;
use crate::catalog::ListLimits;

/// Configuration of a gate. Anything that it does not allow is denied.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct File {
    /// Requests to halt before any tool is looked up (PG-0).
    pub(super) policy: PolicyTable,
    /// Limits on sizes and waiting times.
    pub(super) limits: Limits,
    /// The tool servers, by the names used for them in the rest of the file.
    pub(super) servers: BTreeMap<String, ServerTable>,
    /// The allowlist (PG-3): one entry for each tool that may be called.
    pub(super) allow: Vec<AllowTable>,
    /// The default grants (G1), in force from the start. An allowed tool runs only if each of its permissions is granted.
    pub(super) grants: Vec<GrantsTable>,
    /// Circuit breakers (R1): when the gate stops calling a tool that keeps failing.
    pub(super) breaker: BreakerTable,
    /// Limits on the failures of a turn (R2), and on the calls of a turn and a session.
    pub(super) budget: BudgetTable,
    /// Confirmations (G3): how long to wait for one, and how long it is valid.
    pub(super) confirm: ConfirmTable,
    /// How long a call waits for a premise of the order rules (O-5), and how long a session lasts.
    pub(super) order: order::OrderTable,
    /// Settings for the episodes of `omen gate proxy --episode enforce`.
    pub(super) episode: EpisodeTable,
    /// The audit log. Without one, no tool runs.
    #[schemars(with = "AuditTable")]
    pub(super) audit: Option<AuditTable>,
}

#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct PolicyTable {
    /// A request that matches one of these patterns is halted before any tool is looked up.
    #[schemars(length(max = 1000))]
    pub(super) patterns: Vec<HaltPattern>,
    /// Whether some rules are only tried: the patterns, the `where`, `max` and order rules of `allow`, and the call limits
    /// of `budget`. A call that they would refuse passes, and the audit log records this. All other rules still refuse.
    pub(super) shadow: bool,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct HaltPattern {
    /// A regular expression in the syntax of the Rust crate `regex`, without look-around. `(?i)` at its start makes it
    /// ignore case.
    #[schemars(length(min = 1, max = 10_000))]
    pub(super) pattern: String,
    /// Why such a request is halted. The reason is shown to the user.
    #[schemars(length(min = 1, max = 1000))]
    pub(super) reason: String,
}

#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct EpisodeTable {
    /// What the proxy does if the episode exceeds its budgets without approval, or its model proposes to act and states that
    /// this violates the constitution. With `halt`, it sends a CRITICAL alert: the episode is in safe mode until an operator
    /// ends it or another session begins. With `refuse`, it refuses what the rules refuse, and nothing more.
    pub(super) on_veto: Veto,
}

/// Reaction of the proxy when an episode exceeds its budgets without approval, or its model proposes to act and states
/// that this violates the constitution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnVeto {
    /// Halts the episode: a CRITICAL alert leads to safe mode.
    #[default]
    Halt,
    /// Refuses what the rules refuse, and nothing more.
    Refuse,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Veto {
    #[default]
    Halt,
    Refuse,
}

impl From<Veto> for OnVeto {
    fn from(veto: Veto) -> Self {
        match veto {
            Veto::Halt => Self::Halt,
            Veto::Refuse => Self::Refuse,
        }
    }
}

/// Limits on sizes and waiting times.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Limits {
    /// Maximum size of a request, in bytes.
    #[schemars(range(min = 1, max = 16_777_216))]
    pub request_bytes: u32,
    /// Maximum size of a plan, in bytes (PG-1).
    #[schemars(range(min = 1, max = 2_097_152))]
    pub plan_bytes: u32,
    /// Maximum nesting depth of arrays and objects in a plan (PG-1).
    #[schemars(range(min = 2, max = 100))]
    pub plan_depth: u32,
    /// Maximum size of a tool's answer, in bytes.
    #[schemars(range(min = 1, max = 1_073_741_824))]
    pub answer_bytes: u32,
    /// Maximum number of tools that a server may list.
    #[schemars(range(min = 1, max = 100_000))]
    pub catalog_tools: u32,
    /// Maximum size of a server's entire tool list, in bytes.
    #[schemars(range(min = 1, max = 1_073_741_824))]
    pub catalog_bytes: u32,
    /// Maximum time for starting a server and listing its tools, in seconds.
    #[schemars(range(min = 1, max = 3600))]
    pub list_timeout_seconds: u32,
    /// Maximum duration of a call, in seconds.
    #[schemars(range(min = 1, max = 3600))]
    pub call_timeout_seconds: u32,
    /// Maximum number of steps in a turn (R4).
    #[schemars(range(min = 1, max = 1024))]
    pub turn_steps: u32,
}

impl Limits {
    /// Returns the limits on one server's tool list (PG-2).
    pub(crate) fn catalog(&self) -> ListLimits {
        ListLimits { tools: self.catalog_tools as usize, bytes: u64::from(self.catalog_bytes) }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            request_bytes: 65_536,
            plan_bytes: 65_536,
            plan_depth: 32,
            answer_bytes: 1_048_576,
            catalog_tools: 1000,
            catalog_bytes: 4_194_304,
            list_timeout_seconds: 30,
            call_timeout_seconds: 30,
            turn_steps: 16,
        }
    }
}

/// A tool server. An empty table stands for a server that the program itself provides.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ServerTable {
    /// The program to start: a path, relative to the folder of this file, or a name that is in `PATH`. It speaks the Model
    /// Context Protocol on its standard streams, and runs in the folder of this file.
    #[schemars(with = "String", length(min = 1))]
    pub(super) command: Option<String>,
    /// The program's arguments.
    pub(super) args: Vec<String>,
    /// Environment variables to set.
    pub(super) env: BTreeMap<String, String>,
    /// Names of environment variables to inherit in addition to `PATH`. No others are inherited. The variable with the
    /// log's key must not be among them.
    pub(super) pass_env: Vec<String>,
    /// The address of a server reached over Streamable HTTP instead of started with `command`: `https://example.com/mcp`,
    /// or `http://…` on this machine.
    #[schemars(with = "String", length(min = 1, max = 8192))]
    pub(super) url: Option<String>,
    /// With `url`: headers sent with each request. A value is a text or, for the value of an environment variable,
    /// `{ env = "NAME", prefix = "Bearer " }`. The variable with the log's key must not be among them.
    #[schemars(schema_with = "headers")]
    pub(super) headers: BTreeMap<String, Header>,
    /// With `url`: a file with certificates (PEM) to trust instead of the system's, relative to the folder of this file.
    #[schemars(with = "String", length(min = 1))]
    pub(super) ca_file: Option<String>,
    /// With `url`: whether `http` may be used to reach another machine. Anyone in between can then read and change all
    /// messages.
    pub(super) plain_http: bool,
    /// What a client of `omen gate proxy` sees when the server answers a call with an error (R3). With `typed`: the class of
    /// the fault, whether the tool ran, whether a retry makes sense, and the protocol's error code; the server's own words only
    /// if the code says that the request was invalid or the tool itself reports a failure, up to 64 KiB and without control
    /// characters. With `raw`: the error exactly as the server sent it.
    pub(super) errors: Errors,
}

/// Form in which clients of the proxy see a server's errors (R3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerErrors {
    /// Class of the fault, whether the tool ran, whether a retry makes sense, and the protocol's code; the server's own
    /// message only if it is about the request or the tool itself reported the failure.
    #[default]
    Typed,
    /// The server's bytes, unchanged.
    Raw,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Errors {
    #[default]
    Typed,
    Raw,
}

impl From<Errors> for ServerErrors {
    fn from(errors: Errors) -> Self {
        match errors {
            Errors::Typed => Self::Typed,
            Errors::Raw => Self::Raw,
        }
    }
}

/// The value of a header.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Header {
    Text(String),
    Env {
        env: String,
        #[serde(default)]
        prefix: String,
    },
}

fn headers(_: &mut SchemaGenerator) -> Schema {
    let header = json_schema!({
        "type": ["string", "object"],
        "description": "A string, or `{ env = \"NAME\", prefix = \"Bearer \" }` for the value of a variable.",
        "maxLength": 8192,
        "additionalProperties": false,
        "required": ["env"],
        "properties": {
            "env": { "type": "string", "minLength": 1, "description": "Name of the variable that holds the value." },
            "prefix": { "type": "string", "description": "Text before the value, such as `Bearer `." },
        },
    });
    json_schema!({ "type": "object", "maxProperties": 64, "additionalProperties": header })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AllowTable {
    /// The name of a server of this file.
    pub(super) server: String,
    /// The tool's name as listed by its server.
    pub(super) tool: String,
    /// What the tool can do. Its server's annotations do not count (D47).
    #[schemars(length(min = 1), extend("uniqueItems" = true))]
    pub(super) permissions: Vec<Permission>,
    /// The pin of the approved form of the tool: `v1:` and 64 lower-case hexadecimal digits. Without it, no form of
    /// the tool is approved, so it does not run.
    #[schemars(with = "String", regex(pattern = "^v1:[0-9a-f]{64}$"))]
    #[serde(default)]
    pub(super) pin: Option<String>,
    /// Whether every call needs a confirmation, even if it is pre-granted or needs only `READ`.
    #[serde(default)]
    pub(super) always_confirm: bool,
    /// Rules on the arguments of a call, by JSON pointers such as `/path`. A `*` stands for every array element:
    /// `/paths/*`. A call on which a rule cannot be decided is refused.
    #[serde(default, rename = "where")]
    pub(super) arguments: BTreeMap<String, Argument>,
    #[schemars(schema_with = "order::max")]
    #[serde(default)]
    pub(super) max: Option<Max<Argument>>,
    #[schemars(schema_with = "order::after")]
    #[serde(default)]
    pub(super) after: order::Premises,
    #[schemars(schema_with = "order::never_after")]
    #[serde(default)]
    pub(super) never_after: order::Premises,
    #[schemars(schema_with = "order::before_end")]
    #[serde(default)]
    pub(super) before_end: order::Premises,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GrantsTable {
    /// The server of an allowed tool.
    pub(super) server: String,
    /// The name of an allowed tool.
    pub(super) tool: String,
    /// The permissions to grant, out of those that the tool's entry in `allow` lists.
    #[schemars(length(min = 1), extend("uniqueItems" = true))]
    pub(super) permissions: Vec<Permission>,
    /// The time when the grant expires (RFC 3339, such as `2027-01-01T00:00:00Z`).
    #[schemars(with = "String", extend("format" = "date-time"))]
    #[serde(default)]
    pub(super) expires: Option<String>,
    /// Number of calls that the grant allows, counted from the start of the gate. Without it, there is no limit.
    #[schemars(with = "u32", range(min = 1, max = 1_000_000_000))]
    #[serde(default)]
    pub(super) uses: Option<u32>,
    /// Whether calls need no confirmation (G3).
    #[serde(default)]
    pub(super) pre_granted: bool,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct BreakerTable {
    /// Number of failures in a row after which the gate stops calling a tool.
    #[schemars(range(min = 1, max = 1000))]
    pub(super) failures: u32,
    /// Time during which the tool is not called, in seconds. After that, one call is let through as a probe.
    #[schemars(range(min = 1, max = 86_400))]
    pub(super) cooldown_seconds: u32,
}

impl Default for BreakerTable {
    fn default() -> Self {
        Self { failures: 5, cooldown_seconds: 60 }
    }
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct BudgetTable {
    /// Maximum number of failures in a turn. The default can only be lowered.
    #[schemars(range(min = 1, max = 3))]
    pub(super) failures: u32,
    /// Maximum number of failures in a row in a turn. The default can only be lowered.
    #[schemars(range(min = 1, max = 2))]
    pub(super) in_a_row: u32,
    /// Maximum number of calls in a turn. Without it, there is no limit.
    #[schemars(with = "u32", range(min = 1, max = 1_000_000_000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) turn_calls: Option<u32>,
    /// Maximum number of calls in a client's session, e.g. with `omen gate proxy`. Without it, there is no limit.
    #[schemars(with = "u32", range(min = 1, max = 1_000_000_000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) session_calls: Option<u32>,
    /// The member of `_meta` in which a client of `omen gate proxy` names the turn of its user, such as `example.com/turn`: a
    /// text of 1 to 64 characters without blanks. Calls with the same text in one session form one turn: their failures and
    /// calls are counted together (R2), they run one after another, and their audit log entries have it as `user_turn` (A2).
    /// A call without it is refused. Without this key, each call is a separate turn.
    #[schemars(with = "String", length(min = 1, max = 256))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) user_turn: Option<String>,
}

impl Default for BudgetTable {
    fn default() -> Self {
        Self { failures: 3, in_a_row: 2, turn_calls: None, session_calls: None, user_turn: None }
    }
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ConfirmTable {
    /// How long to wait for an answer, in seconds. No answer is a denial.
    #[schemars(range(min = 1, max = 3600))]
    pub(super) timeout_seconds: u32,
    /// How long an answer is valid, in seconds.
    #[schemars(range(min = 1, max = 3600))]
    pub(super) valid_seconds: u32,
    /// The Unix socket on which `omen gate confirm` answers, relative to the folder of this file. Only its owner may have
    /// access to the socket's folder. Without this key, the socket is `.omen-gate/confirm.sock`.
    #[schemars(with = "String", length(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) socket: Option<String>,
}

impl Default for ConfirmTable {
    fn default() -> Self {
        Self { timeout_seconds: 60, valid_seconds: 30, socket: None }
    }
}

/// The audit log. Its key comes from either `key_file` or `key_env`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AuditTable {
    /// The log file, relative to the folder of this file. It is created if it does not exist.
    #[schemars(length(min = 1))]
    pub(super) log: String,
    /// A file with the key that only its owner can read, as created by `omen audit new-key`; relative to the folder of
    /// this file.
    #[schemars(with = "String", length(min = 1))]
    #[serde(default)]
    pub(super) key_file: Option<String>,
    /// The name of an environment variable that holds the key. No server inherits it.
    #[schemars(with = "String", length(min = 1))]
    #[serde(default)]
    pub(super) key_env: Option<String>,
    /// Whether each entry is flushed to disk before the gate continues. Otherwise, the last entries can be lost if the
    /// machine crashes.
    #[serde(default = "yes")]
    pub(super) sync: bool,
    /// The size in bytes at which the log continues in another file: `audit.000002.jsonl` after `audit.jsonl`.
    /// Without it, the log is a single file.
    #[schemars(with = "u32", range(min = 4096, max = 4_294_967_295_u32))]
    #[serde(default)]
    pub(super) rotate_bytes: Option<u32>,
    /// The age of a log file, in seconds, at which the log continues in another file.
    #[schemars(with = "u32", range(min = 1, max = 315_360_000))]
    #[serde(default)]
    pub(super) rotate_seconds: Option<u32>,
    /// How much of a call's arguments is recorded: `full`; `redacted`, which omits texts that no rule of the tool checks; or
    /// `hash`, which records only the hash of the call. Secrets are never recorded.
    #[serde(default)]
    pub(super) arguments: ArgumentRecording,
    /// JSON pointers to secret arguments, in addition to those that are recognized by their names: `/headers/*/value`.
    #[schemars(length(max = 1000))]
    #[serde(default)]
    pub(super) secrets: Vec<String>,
    /// Regular expressions for texts that are secret, in addition to the known forms of keys and tokens.
    #[schemars(length(max = 1000))]
    #[serde(default)]
    pub(super) secret_patterns: Vec<String>,
    /// A file with an anchor printed by `omen audit export-anchor`, relative to the folder of this file. A gate starts
    /// only if the log contains the entries that the anchor covers, so a log that was reset or rewritten is not
    /// continued. Replace the anchor with a newer one as often as you can.
    #[schemars(with = "String", length(min = 1))]
    #[serde(default)]
    pub(super) require_anchor: Option<String>,
}

fn yes() -> bool {
    true
}
