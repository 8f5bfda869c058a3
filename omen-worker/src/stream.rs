//! The server: connections, names, set-up, and the operations that workers need.

pub(crate) mod broker;
pub(crate) mod bucket;
pub mod connect;
mod jetstream;
pub(crate) mod link;
pub mod names;
mod retry;
pub mod setup;

pub(crate) use self::jetstream::JetStream;
