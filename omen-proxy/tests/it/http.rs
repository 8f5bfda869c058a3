//! The proxy over Streamable HTTP: servers that the tests play, and a client over plain TCP.

mod access;
pub(crate) mod client;
mod ends;
mod fail_open;
mod floods;
pub(crate) mod sessions;
mod shared_gate;
mod stateless;
pub(crate) mod world;
