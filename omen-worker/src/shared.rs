//! What all partitions of a worker share.

use std::sync::Arc;

use async_nats::jetstream::Context;
use async_nats::jetstream::kv::Store;
use async_nats::jetstream::stream::Stream;
use omen::validator::ValidatorOptions;
use tokio::sync::Semaphore;

use crate::agreement::Agreement;
use crate::feed::Feed;
use crate::link::Link;
use crate::metrics::Metrics;
use crate::names::Names;

/// What all partitions of a worker share.
pub(crate) struct Shared {
    pub(crate) context: Context,
    pub(crate) link: Link,
    pub(crate) names: Names,
    pub(crate) packets: Stream,
    /// From where partitions have their messages.
    pub(crate) feed: Feed,
    pub(crate) findings: Stream,
    pub(crate) bucket: Store,
    pub(crate) agreement: Agreement,
    pub(crate) partitions: u16,
    pub(crate) options: ValidatorOptions,
    /// Whether messages that were deleted before they were judged are no reason to stop.
    pub(crate) accepts_gaps: bool,
    /// The worker's name.
    pub(crate) id: String,
    pub(crate) metrics: Arc<Metrics>,
    /// A server has 50 batches of a stream open at a time.
    pub(crate) batches: Semaphore,
    /// Receives what a person should know.
    pub(crate) notice: Arc<dyn Fn(&str) + Send + Sync>,
}

/// The most batches of one worker that are on their way.
pub(crate) const BATCHES: usize = 8;
