//! The gate as a proxy: a server of the Model Context Protocol for its client, and a client for the servers behind it.
//!
//! Messages are passed on byte for byte, and are read only to be judged. A `tools/call` takes the steps of a request, as in
//! any program with a gate ([`omen_gate::pipeline`]): what the gate lets through is the client's own message, under one of
//! the proxy's ids, and what the client gets is the server's own answer, once the gate has recorded it and let it pass. A
//! `tools/list` passes without the tools that may not be called. Everything else passes unchanged, except for messages that
//! could act without being a call ([`Passage`]).
//!
//! Architecture invariant: no rule is judged here. The gate decides, by the steps that every program takes; this crate reads
//! messages and knows which of them are calls.
//! Architecture invariant: messages that readers could interpret in two ways do not pass: those with a repeated key, a key
//! that differs from one of the protocol's only in case, or an id that readers round.

mod client;
#[cfg(unix)]
pub mod confirm;
mod end;
pub mod episode;
pub mod error;
mod hub;
mod messages;
mod proxy;
mod server;
mod settings;
pub mod watch;

pub use client::Transport;
pub use end::Ended;
pub use messages::Passage;
pub use proxy::{Proxy, ProxyBuilder};
pub use server::Source;
