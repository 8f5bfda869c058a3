//! The validator on several machines: judges packets from NATS JetStream and publishes each finding exactly once.
//!
//! Episodes are divided into partitions, each with a stream of packets. A worker owns some partitions, and judges the stream of
//! each in order, with one validator. It publishes findings to another stream, in messages that also state up to which packet the
//! findings are complete: the *commit*. The server accepts a commit only if the partition's last commit is the one that the
//! worker knows. So each finding is stored exactly once whatever fails, and a worker that has lost its partition publishes
//! nothing. `docs/scale.md` has the whole argument.
//!
//! | Module | Contains |
//! |---|---|
//! | [`connect`] | connection settings: address, credentials, TLS, contexts |
//! | [`names`] | names of streams, subjects and buckets |
//! | [`setup`] | creation of the streams, and checks of existing ones |
//! | [`worker`] | `omen worker` |
//! | [`publish`] | `omen publish` |
//! | [`tail`] | `omen tail` |
//!
//! Inside the crate, from the ground up: `stream` talks to the server, `metrics` counts, `membership` distributes partitions among
//! workers, `partition` judges one, `serve` has the health and metrics endpoints, and `worker` runs the partitions that it owns.
//!
//! Architecture invariant: findings are a function of the streams alone. They depend neither on a clock nor on the worker.

mod failure;
mod membership;
mod metrics;
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
