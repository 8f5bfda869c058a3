//! Logs on a server: an agent's packets are stored in a stream of NATS JetStream, where workers judge them.
//!
//! ```no_run
//! use omen::log::Nats;
//! # use omen::prelude::*;
//!
//! # fn demo(setup: Setup) -> Result<(), Box<dyn std::error::Error>> {
//! let log = Nats::connect("nats://127.0.0.1:4222")?;
//! let episode = setup.log(log).start()?; // Fails if the stream holds packets of this episode.
//! # drop(episode);
//! # Ok(())
//! # }
//! ```

#[doc(hidden)]
pub mod batch;
mod nats;
mod subject;

pub use nats::Nats;
pub use subject::{PACKETS, PARTITIONS_KEY, packets_of, partition_of, token};
