//! The tool boundary: no tool runs but through the gate.
//!
//! Architecture invariant: the gate knows no command line, and no rule of an episode; what an episode
//! demands of a call was judged before it came here.
//! Architecture invariant: time comes from a [`Clock`], and random numbers are drawn for new keys alone.

mod abort;
pub mod audit;
mod blocked;
mod bounded;
pub mod breaker;
mod bridge;
mod budget;
mod call;
mod canonical;
pub mod catalog;
mod clock;
mod code;
pub mod config;
pub mod confirm;
mod decision;
pub mod dry_run;
pub mod fault;
mod gate;
pub mod grant;
pub mod health;
mod json;
#[cfg(feature = "mcp")]
pub mod mcp;
mod names;
pub mod output;
mod permission;
pub mod pipeline;
pub mod plan;
mod policy;
mod schema;
pub mod server;
pub mod steps;
mod stopped;
pub mod summary;
pub mod tool;
mod turn;
mod turns;

pub use abort::{Abort, Missing};
pub use blocked::Blocked;
pub use bounded::{MAX_TEXT, bounded};
pub use budget::{Attempt, BudgetLimits, FailureBudget};
pub use call::{Call, CallHash, Demand};
pub use canonical::{MAX_DEPTH, NotExact, canonical};
pub use clock::{Clock, ManualClock, SystemClock};
pub use code::{Code, UnknownCode};
pub use config::Config;
pub use confirm::{Confirmations, Confirmed, Confirmer};
pub use decision::{Decision, Outcome, Ruling, Stage};
pub use dry_run::DryRun;
pub use fault::{Fault, FaultClass, Ran, guarded};
pub use gate::{BuildError, Builder, Gate};
pub use grant::{Grant, GrantId, Grants, Lease, Redeemed, Source};
pub use names::{BadName, ServerName, StepId, ToolId, ToolName, TurnId};
pub use permission::{NoPermission, Permission, Permissions};
pub use policy::{BadPolicy, Policy};
pub use stopped::Stopped;
pub use turn::Turn;
pub use turns::MAX_TURNS;
