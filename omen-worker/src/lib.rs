//! The validator past one machine: judges packets from NATS JetStream, and publishes what it finds exactly once.
//!
//! Packets are in one stream, whose server maps each episode to one of a fixed number of partitions. A worker reads the stream from
//! one end to the other, and judges the packets of each of its partitions in their order, with one validator. What it finds goes into a second stream, together with the
//! *commit*: up to which packet the partition was judged. Both are one atomic batch, which the server takes only if the last
//! commit is the one that the worker knows. So a finding is stored exactly once, whatever dies, and a worker that lost its
//! partition publishes nothing. `docs/scale.md` has the whole argument.
//!
//! | Module | Contains |
//! |---|---|
//! | [`connect`] | how to reach a server: address, credentials, TLS, contexts |
//! | [`names`] | streams, subjects and the bucket |
//! | [`setup`] | makes the streams, or checks those that are there |
//! | [`worker`] | `omen worker` |
//! | [`publish`] | `omen publish` |
//! | [`tail`] | `omen tail` |
//!
//! Architecture invariant: whatever is found is a function of the stream alone. No clock decides, and nothing of the worker does.

mod agreement;
mod ask;
mod batch;
mod checkpoint;
mod clock;
mod commit;
pub mod connect;
mod crew;
mod deliver;
mod failure;
mod feed;
mod fit;
mod help;
mod http;
mod idle;
mod intake;
mod judge;
mod latest;
mod link;
mod members;
mod metrics;
pub mod names;
mod outbox;
mod partition;
pub mod publish;
mod reader;
mod roster;
pub mod setup;
mod shared;
mod source;
pub mod tail;
mod tenure;
pub mod worker;

pub use failure::Failure;
