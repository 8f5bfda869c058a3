//! How fast a log is published.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use crate::batch;

/// Keeps to a rate.
pub(super) struct Pace {
    rate: u32,
    next: Instant,
}

impl Pace {
    pub(super) fn new(rate: u32) -> Self {
        Self { rate: rate.max(1), next: Instant::now() }
    }

    /// How many lines go together: a tenth of a second.
    pub(super) fn batch(&self) -> usize {
        usize::try_from(self.rate / 10).unwrap_or(usize::MAX).clamp(1, batch::MOST)
    }

    pub(super) async fn wait(&mut self, count: usize) {
        sleep_until(self.next).await;
        let time = Duration::from_secs_f64(count as f64 / f64::from(self.rate));
        self.next = Instant::now().max(self.next) + time;
    }
}
