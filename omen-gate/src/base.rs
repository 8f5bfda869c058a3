//! Types shared by all modules: refusals, their codes, and permissions. Other shared types are in `omen-base`.

pub(crate) mod blocked;
pub(crate) mod code;
pub(crate) mod permission;

pub use blocked::Blocked;
pub use code::{GateCode, UnknownCode};
pub use omen_base::{
    BadName, GateClock, MAX_DEPTH, MAX_TEXT, ManualClock, NotExact, START, ServerName, StepId, SystemClock, ToolId,
    ToolName, TurnId, bounded, canonical, regular_file,
};
pub(crate) use omen_base::{Ratchet, clock, json, secret, size};
pub use permission::{NoPermission, Permission, Permissions};
