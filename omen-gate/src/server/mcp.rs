//! Tool servers that are child processes and speak the Model Context Protocol over standard input and output.
//!
//! The official SDK (`rmcp`) does the handshake, numbers the requests and matches answers to them. This module reads
//! the bytes itself, for four reasons:
//!
//! - A line is rejected as soon as it exceeds [`ServerLimits::line_bytes`], not after it has been read, and the call is
//!   notified that the answer was too large. The SDK drops such a line and leaves the call open.
//! - An invalid message, or a response to an unknown request, ends the connection, because it is unknown which call it
//!   belongs to. The SDK skips it and leaves the call open.
//! - Results are kept as the server wrote them. The SDK's types drop unknown members, but a pin covers everything that
//!   a tool says about itself.
//! - Requests from a server are answered at once, within [`ServerLimits::unread_bytes`]. The SDK starts a task for each
//!   request, without a bound.
//!
//! [`ServerProcess`] is the process alone, for programs that relay its messages as bytes; [`Lines`], [`Listing`],
//! [`result_of`] and [`fault_of`] read its output by the same rules. [`Line`] is written to it.
//!
//! Of the unsolicited messages from a server, a ping is answered, `notifications/tools/list_changed` is counted
//! ([`revision`](crate::server::ToolServer::revision)), and all others are ignored.

use std::time::Duration;

mod answer;
mod connection;
mod current;
mod discover;
mod link;
mod listing;
mod message;
mod requests;
mod server;
mod transport;

pub(crate) use answer::answer_of;
pub use answer::{fault_of, result_of};
pub use discover::discover;
pub use listing::Listing;
#[cfg(feature = "test-util")]
pub use omen_mcp::guard_servers_through;
pub use omen_mcp::{Broken, Launch, Line, Lines, ServerLimits, ServerProcess, guard_servers};
pub use server::StdioServer;

use crate::config::{Command, Limits};

impl From<&Limits> for ServerLimits {
    /// Takes the limits of the configuration, and defaults for the others.
    fn from(limits: &Limits) -> Self {
        let bytes = |bytes: u32| usize::try_from(bytes).unwrap_or(usize::MAX);
        Self {
            // A message is an answer or a page of a list, plus its envelope.
            line_bytes: bytes(limits.answer_bytes.max(limits.catalog_bytes)).saturating_add(64 << 10),
            tools: bytes(limits.catalog_tools),
            list_bytes: bytes(limits.catalog_bytes),
            start: Duration::from_secs(u64::from(limits.list_timeout_seconds)),
            ..Self::default()
        }
    }
}

/// Returns the command line of a server, as configured.
#[must_use]
pub fn launch(command: &Command, limits: &Limits) -> Launch {
    let launch = Launch::new(command.to_path()).limits(limits.into()).args(&command.args);
    let launch = command.dir.iter().fold(launch, Launch::dir);
    let launch = command.env.iter().fold(launch, |launch, (name, value)| launch.env(name, value));
    command.pass_env.iter().fold(launch, |launch, name| launch.pass(name))
}
