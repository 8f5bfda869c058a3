//! The Model Context Protocol as bytes: messages that keep their bytes, ids, and transports: lines on standard streams, Streamable
//! HTTP (with the feature `http`, as client and as server) and server processes.
//!
//! The relayed message must be the one that was judged, so a message is read in place ([`Frame`]), written as a single line
//! for every line reader ([`Line`]), and refused if two readers could read it differently ([`json`]).
//!
//! Architecture invariant: this crate knows nothing about gates, rules or configurations.

mod call_tool_request;
pub mod edit;
pub mod frame;
mod guard;
pub mod handshake;
#[cfg(feature = "http")]
pub mod http;
mod id;
pub mod json;
mod launch;
mod limits;
mod line;
mod lines;
pub mod methods;
pub mod outbox;
pub mod process;
#[cfg(target_os = "linux")]
mod process_tree;
mod server_process;
mod stderr_tail;
pub mod stdio;

pub use call_tool_request::CallToolRequest;
pub use frame::Frame;
pub use guard::guard_servers;
#[cfg(feature = "test-util")]
pub use guard::guard_servers_through;
pub use id::{Id, OURS};
pub use launch::Launch;
pub use limits::ServerLimits;
pub use line::Line;
pub use lines::{Broken, Lines};
pub use server_process::ServerProcess;
pub use stderr_tail::StderrTail;
