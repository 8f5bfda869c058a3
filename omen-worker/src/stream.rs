//! The server: how it is reached, what is stored on it under which names, and what a worker asks of it.

mod ask;
pub(crate) mod broker;
pub(crate) mod bucket;
pub mod connect;
mod jetstream;
pub(crate) mod link;
pub mod names;
pub mod setup;

pub(crate) use self::jetstream::JetStream;
