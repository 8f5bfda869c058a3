//! The gate, the steps of a request, turns of several steps, and the tasks of an episode.

mod audit_queue;
mod bridge;
mod builder;
mod context;
mod directive;
mod discoveries;
pub mod dry_run;
mod file_rule_threads;
mod gate;
mod messages;
pub mod pipeline;
pub mod plan;
mod reload;
pub mod replay;
mod restart_only;
mod restart_state;
mod rules;
mod sibling;
mod stamp;
mod state;
mod stopped;
mod turn;
mod turn_registry;
pub mod turn_steps;
mod user_inputs;

pub use bridge::MAX_RAW_ANSWER;
pub use builder::{BuildError, Builder};
pub use dry_run::DryRun;
pub use gate::Gate;
pub use messages::EpisodeRefusal;
pub use pipeline::{Request, Way};
pub use reload::{ReloadError, Reloaded};
pub use state::{Authorized, Conformant, Dispatched, Grounded, Planned, Received, Screened, Terminal, Typed, Untyped};
pub use stopped::Stopped;
pub use turn::Turn;
pub use turn_registry::MAX_TURNS;
