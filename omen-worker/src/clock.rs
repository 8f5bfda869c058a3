//! Marks of time in the stream of packets, at which idle episodes end.

use std::time::{Duration, Instant};

use async_nats::HeaderMap;
use async_nats::jetstream::Context;

use crate::batch::{self, Outgoing};
use crate::judge::Tick;
use crate::{members, names};

/// Marks time in the stream of packets. The time itself is that of the server: this worker only measures how long ago it sent the
/// last mark, so its clock may be set to anything.
pub(crate) struct Clock<'c> {
    context: &'c Context,
    every: Duration,
    /// When the last mark was sent, or the worker began to send them.
    last: Option<Instant>,
    body: Vec<u8>,
}

impl<'c> Clock<'c> {
    pub(crate) fn new(context: &'c Context, tick: Duration, episode_ttl: Option<Duration>) -> Self {
        let every = episode_ttl.map_or(tick, |ttl| tick.min(ttl / 4)).max(members::BEAT);
        let idle_seconds = episode_ttl.map(|ttl| u32::try_from(ttl.as_secs()).unwrap_or(u32::MAX));
        Self { context, every, last: None, body: serde_json::to_vec(&Tick { idle_seconds }).unwrap_or_default() }
    }

    /// To be called as long as this worker is the one that marks time.
    pub(crate) async fn mark(&mut self) {
        // Another one may have marked it a moment ago.
        if self.last.get_or_insert_with(Instant::now).elapsed() < self.every {
            return;
        }
        self.last = Some(Instant::now());
        let mark =
            Outgoing { subject: names::TICK.to_owned(), headers: HeaderMap::new(), body: self.body.clone().into() };
        // Another one follows.
        let _ = batch::store(self.context, vec![mark], "the time").await;
    }

    /// To be called when another worker marks time.
    pub(crate) fn rest(&mut self) {
        self.last = None;
    }
}
