//! Tool servers that are child processes and speak the Model Context Protocol over their standard input and
//! output.
//!
//! The handshake, the numbering of requests and the pairing of answers are the official SDK's (`rmcp`). The bytes
//! are read here, for four reasons:
//!
//! - A line is given up as soon as it is longer than [`ServerLimits::line_bytes`], not after it was read, and the call
//!   learns that the answer was too large. The SDK drops such a line and leaves the call open.
//! - An invalid message, or a response to an unknown request, ends the connection: it is unknown which call it was for.
//!   The SDK skips it and leaves the call open.
//! - Results are kept as the server wrote them. The SDK's types forget the members that they do not know, and a tool
//!   is pinned by all that it says of itself.
//! - Requests of a server are answered at once, within [`ServerLimits::unread_bytes`]. The SDK starts a task for each, without
//!   bound.
//!
//! [`ServerProcess`] is the process alone, for programs that relay its messages as bytes; [`Lines`], [`Listing`] and
//! [`read_answer`] read what it says by the same rules. [`Line`] is what is written to it.
//!
//! Of what a server sends unasked, a ping is answered, `notifications/tools/list_changed` is counted
//! ([`revision`](crate::server::ToolServer::revision)), and nothing else has an effect.

mod answer;
mod child;
mod connection;
mod current;
#[cfg(target_os = "linux")]
mod descent;
mod discover;
mod guard;
mod launch;
mod limits;
mod line;
mod lines;
mod link;
mod listing;
mod message;
mod process;
mod requests;
mod server;
mod tail;
mod transport;
mod writer;

pub use answer::read as read_answer;
pub use child::ServerProcess;
pub use discover::discover;
pub use guard::guard_servers;
#[cfg(feature = "test-util")]
pub use guard::guard_servers_through;
pub use launch::Launch;
pub use limits::ServerLimits;
pub use line::Line;
pub use lines::{Broken, Lines};
pub use listing::Listing;
pub use server::StdioServer;
