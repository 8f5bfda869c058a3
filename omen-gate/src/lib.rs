//! The tool boundary: no tool runs but through the gate.
//!
//! Architecture invariant: the gate knows no command line, and no rule of an episode; what an episode
//! demands of a call was judged before it came here.
//! Architecture invariant: time comes from a [`Clock`], and nothing here draws random numbers.

mod blocked;
mod clock;
mod code;
mod fault;
mod names;
pub mod server;
pub mod tool;

pub use blocked::Blocked;
pub use clock::{Clock, ManualClock, SystemClock};
pub use code::{Code, UnknownCode};
pub use fault::Fault;
pub use names::{BadName, ServerName, ToolId, ToolName, TurnId};
