//! Session of a client with one or several servers.
//!
//! Each server has a separate session ([`ServerSession`](crate::server::ServerSession)), in which its calls are judged by the
//! same steps, under the server's and tool's own names. The code in between only decides where a message goes.
//!
//! With one server, everything that is not judged passes unchanged. With several, the client sees them as a single server: its
//! tools and prompts are named `SERVER__NAME`; ids and tokens are changed if two servers could choose the same; lists,
//! capabilities and instructions are merged.
//!
//! Architecture invariant: no rule is judged here, and no server's answer to a call is read or changed.
//! Architecture invariant: nothing guesses which server is meant. Ambiguous messages are refused.

mod answer_tasks;
mod broadcast;
mod from_client;
mod from_server;
mod handshake;
mod lists;
mod member;
mod open_requests;
mod resources;
mod routing;
mod run_server;
mod server_descriptions;
mod session;
mod shared;

pub(crate) use session::{ClientInput, ClientSession, ClientSessions};
