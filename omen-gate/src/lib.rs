//! The tool boundary: no tool runs but through the gate.
//!
//! Architecture invariant: the gate knows no command line, and no rule of an episode; what an episode
//! demands of a call was judged before it came here.
//! Architecture invariant: time comes from a [`Clock`], and nothing here draws random numbers.

mod blocked;
mod bounded;
mod canonical;
pub mod catalog;
mod clock;
mod code;
mod fault;
mod json;
mod names;
pub mod output;
mod permission;
pub mod plan;
mod policy;
mod schema;
pub mod server;
pub mod summary;
pub mod tool;

pub use blocked::Blocked;
pub use bounded::{MAX_TEXT, bounded};
pub use canonical::{MAX_DEPTH, NotExact, canonical};
pub use clock::{Clock, ManualClock, SystemClock};
pub use code::{Code, UnknownCode};
pub use fault::Fault;
pub use names::{BadName, ServerName, ToolId, ToolName, TurnId};
pub use permission::{NoPermission, Permission, Permissions};
pub use policy::{BadPolicy, Policy};
