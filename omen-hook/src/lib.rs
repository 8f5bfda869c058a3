//! Hooks of coding agents behind the gate.
//!
//! Coding agents run shell commands and edit files without an MCP server in between, but call a *hook* before and after each
//! tool. A [`Dialect`] describes, as data, what an agent sends and which bytes it accepts as a denial. A [`Hook`] lets the gate
//! decide, and records in the audit log what ran.
//!
//! ```
//! use omen_hook::{Dialect, Event};
//!
//! let codex = Dialect::from_agent("codex")?;
//! let event = br#"{"session_id":"s","turn_id":"t","transcript_path":null,"cwd":"/home/dev","hook_event_name":"PreToolUse",
//!     "tool_name":"Bash","tool_input":{"command":"git status"},"tool_use_id":"call_1"}"#;
//! let Event::Before(call) = codex.read(event, |_| None)? else { return Ok(()) };
//! assert_eq!(call.tool, "Bash");
//! assert!(codex.deny("not allowed").stdout.contains(r#""permissionDecision":"deny""#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Architecture invariant: the gate decides; this crate only reads and writes the agents' dialects.

mod answer;
mod call_key;
mod calls;
mod dialect;
mod episodes;
mod event;
mod hook;
mod hook_error;
mod outcomes;
mod simulated_agent;

pub use answer::HookAnswer;
pub use calls::{CallError, HookCall, PatchError};
pub use dialect::install::{InstallForm, InstalledCommand, OffSwitch, SettingsPlace, TrustStore};
pub use dialect::{Dialect, EventRole, ReportedOutcome, UnknownAgent};
pub use event::{Event, EventError, MAX_EVENT_BYTES, ToolEvent};
pub use hook::{Hook, HookReport, HookVerdict, OpenCalls};
pub use hook_error::HookError;
pub use simulated_agent::{AgentReaction, HookEnd};
