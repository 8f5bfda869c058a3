//! The session of a client, with one server or with several.
//!
//! Each server has a session of its own ([`ServerSession`](crate::server::ServerSession)), in which its calls are judged, by the same steps, under the server's own
//! name and the tool's own name. What stands between those sessions and the client decides only to which of them a message goes.
//!
//! With one server, everything passes as it is that is not judged. With several, they are one server to the client: its tools and
//! prompts are named `SERVER__NAME`; ids and tokens are changed where two servers could choose the same; lists, capabilities and
//! instructions are put together.
//!
//! Architecture invariant: no rule is judged here, and nothing that a server has answered to a call is read or changed.
//! Architecture invariant: nobody guesses which server is meant. What leaves a doubt is refused.

mod answers;
mod everywhere;
mod from_client;
pub(crate) mod from_server;
mod handshake;
mod lists;
mod member;
mod merged;
mod names;
mod open;
mod resources;
mod routing;
mod session;
mod shared;

pub use names::BadServers;
pub(crate) use names::{check as check_names, prefixed, split};
pub(crate) use session::{ClientInput, ClientSession, ClientSessions};
pub(crate) use shared::Hub;
