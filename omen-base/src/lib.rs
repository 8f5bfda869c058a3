//! Shared types of the tool boundary: names, time, canonical JSON, bounded foreign text, regular files.
//!
//! Architecture invariant: this crate knows nothing about tools, rules or logs.

pub mod canonical;
pub mod clock;
pub mod foreign_text;
pub mod json;
pub mod lock;
pub mod names;
pub mod regular_file;
pub mod secret;
pub mod size;

pub use canonical::{MAX_DEPTH, NotExact, canonical};
pub use clock::{GateClock, ManualClock, Ratchet, SystemClock};
pub use foreign_text::{MAX_TEXT, bounded};
pub use lock::Mutex;
pub use names::{BadName, START, ServerName, StepId, ToolId, ToolName, TurnId};
