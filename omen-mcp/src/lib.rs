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
pub mod handshake;
#[cfg(feature = "http")]
pub mod http;
pub mod json;
mod limits;
mod line;
pub mod methods;
pub mod outbox;
pub mod process;
pub mod stdio;

pub use call_tool_request::CallToolRequest;
pub use frame::Frame;
pub use frame::id::{Id, OURS};
pub use limits::ServerLimits;
pub use line::{Broken, Line, Lines};
pub use process::guard::guard_servers;
#[cfg(feature = "test-util")]
pub use process::guard::guard_servers_through;
pub use process::launch::Launch;
pub use process::server_process::ServerProcess;
pub use process::stderr_tail::StderrTail;
