//! The validator past one machine: judges packets from NATS JetStream, and publishes what it finds exactly once.
//!
//! Episodes are divided into partitions, each with a stream of packets. A worker reads the streams of its partitions, and judges
//! each in its order, with one validator. What it finds goes into another stream, as one message that also says up to which packet
//! these findings are complete: the *commit*. The server takes it only if the last commit of the partition is the one that the
//! worker knows. So a finding is stored exactly once, whatever dies, and a worker that lost its partition publishes nothing.
//! `docs/scale.md` has the whole argument.
//!
//! | Module | Contains |
//! |---|---|
//! | [`connect`] | how to reach a server: address, credentials, TLS, contexts |
//! | [`names`] | streams, subjects and buckets |
//! | [`setup`] | makes the streams, or checks those that are there |
//! | [`worker`] | `omen worker` |
//! | [`publish`] | `omen publish` |
//! | [`tail`] | `omen tail` |
//!
//! Inside, `stream` knows the server, `partition` judges, `membership` says who has which partition, and `serve` says how it goes.
//!
//! Architecture invariant: whatever is found is a function of the streams alone. No clock decides, and nothing of the worker does.

mod failure;
mod membership;
mod partition;
pub mod publish;
mod serve;
#[cfg(test)]
#[expect(clippy::expect_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]
mod simulation;
mod stream;
pub mod tail;
pub mod worker;

pub use failure::Failure;
pub use stream::{connect, names, setup};
