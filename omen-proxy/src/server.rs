//! Session with one server: messages to it, messages from it, and the gate in front of its tools.

mod connection;
mod failed;
mod known_list;
mod list;
mod policy_text;
mod session;
mod source;
mod tool_call;
mod tool_list;
mod unlisted;
mod upstream;

pub(crate) use connection::{Connection, Output, http_fault};
pub(crate) use session::{ServerSession, SpawnInSpan};
pub use source::Source;
pub(crate) use tool_call::ClientCall;
pub(crate) use tool_list::listed;
pub(crate) use upstream::{Absent, AskError, Behind, Upstream};
