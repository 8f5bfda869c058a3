//! The session with one server: what goes to it, what comes from it, and the gate in front of its tools.

mod answer;
mod connection;
mod expected;
mod failed;
mod known_list;
mod list;
mod run;
mod screened;
mod session;
mod source;
mod tool_call;
mod tool_list;
mod unlisted;
mod upstream;

pub(crate) use answer::{fault, input_requests, result};
pub(crate) use connection::{Connection, Output, Said};
pub(crate) use run::{Absent, start};
pub(crate) use session::{ServerSession, SpawnInSpan};
pub use source::Source;
pub(crate) use tool_call::ToolCall;
pub(crate) use tool_list::listed;
pub(crate) use upstream::AskError;
