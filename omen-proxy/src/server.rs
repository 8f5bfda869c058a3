//! Session with one server: messages to it, messages from it, and the gate in front of its tools.

mod allowlist_check;
mod connection;
mod failed;
mod gated_list;
mod list_cache;
mod policy_text;
mod session;
mod source;
mod tool_call;
mod ungated_list;
mod upstream;

pub(crate) use connection::{Connection, Output, http_fault};
pub(crate) use gated_list::listed;
pub(crate) use session::{ServerSession, SpawnInSpan};
pub use source::Source;
pub(crate) use tool_call::ClientCall;
pub(crate) use upstream::{Absent, AskError, Behind, Upstream};
