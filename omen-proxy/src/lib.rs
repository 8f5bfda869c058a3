//! The gate as a proxy: to its client a server of the Model Context Protocol, to the servers behind it a client.
//!
//! What passes is passed on byte for byte, and read for judging alone. A `tools/call` takes the steps of a request, as in any
//! program with a gate ([`omen_gate::pipeline`]): what the gate lets through is the client's own message, under an id of the
//! proxy's, and what the client gets is the server's own answer, once the gate has recorded it and let it pass. A
//! `tools/list` passes without the tools that may not be called. Everything else passes as it is, but for what could act
//! without being a call ([`Passage`]).
//!
//! Architecture invariant: no rule is judged here. The gate decides, by the steps that every program takes; this crate reads
//! messages, and knows which of them is a call.
//! Architecture invariant: what a reader could take in two ways does not pass: a repeated key, a key that differs from one
//! of the protocol only in case, an id that readers round.

mod answer;
mod asked;
#[cfg(unix)]
pub mod confirm;
mod connection;
mod downstream;
mod elicit;
mod end;
pub mod episode;
mod failed;
mod form;
mod from_client;
mod from_server;
mod front;
pub mod http;
mod list;
mod listed;
mod mrtr;
mod not_served;
mod policy;
mod proxy;
mod refusal;
mod relayed;
mod reload;
pub mod remote;
mod screened;
pub mod several;
mod shared;
mod source;
mod tools_call;
mod tools_list;
mod unlisted;
mod unserved;
mod upstream;
mod user_turns;
pub mod watch;

pub use end::Ended;
pub use list::list;
pub use not_served::NotServed;
pub use omen_mcp::stdio::{Input, Output, stdio};
pub use policy::{Passage, Passages, UnknownPassage};
pub use proxy::Proxy;
pub use source::Source;
pub use unserved::refuse;
