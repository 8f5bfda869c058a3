//! What all rooms share: refusals and their codes, names, time, and JSON in one spelling.

pub(crate) mod blocked;
pub(crate) mod bounded;
pub(crate) mod canonical;
pub(crate) mod clock;
pub(crate) mod code;
pub(crate) mod json;
pub(crate) mod names;
pub(crate) mod permission;
pub mod regular;
pub(crate) mod secret;
pub(crate) mod size;

pub use blocked::Blocked;
pub use bounded::{MAX_TEXT, bounded};
pub use canonical::{MAX_DEPTH, NotExact, canonical};
pub(crate) use clock::Ratchet;
pub use clock::{GateClock, ManualClock, SystemClock};
pub use code::{GateCode, UnknownCode};
pub use names::{BadName, START, ServerName, StepId, ToolId, ToolName, TurnId};
pub use permission::{NoPermission, Permission, Permissions};
