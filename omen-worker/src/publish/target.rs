//! Where logs are published.

use std::time::Duration;

use async_nats::jetstream::Context;
use async_nats::jetstream::kv::Store;
use async_nats::jetstream::stream::Stream;

/// The stream of packets, and the bucket with the notes of how far each log is.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) context: Context,
    pub(super) packets: Stream,
    pub(super) bucket: Store,
    pub(super) max_payload: usize,
}

/// How often a batch is sent …
pub(super) const ATTEMPTS: u32 = 5;

/// … and how long to wait in between.
pub(super) const PAUSE: Duration = Duration::from_secs(1);
