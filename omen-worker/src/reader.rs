//! Reads the stream for some partitions, each of which takes what is its own.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_nats::jetstream::Context;
use async_nats::jetstream::stream::Stream;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::deliver::Delivery;
use crate::failure::Failure;
use crate::link::Link;
use crate::metrics::Metrics;
use crate::roster::{Roster, Round};
use crate::source::Source;

/// What the readers of a worker share.
#[derive(Clone)]
pub(crate) struct Readers {
    pub(crate) context: Context,
    pub(crate) packets: Stream,
    pub(crate) link: Link,
    pub(crate) roster: Arc<Mutex<Roster>>,
    pub(crate) accepts_gaps: bool,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) notice: Arc<dyn Fn(&str) + Send + Sync>,
    /// How many partitions are being loaded.
    pub(crate) loading: watch::Sender<usize>,
}

impl Readers {
    pub(crate) fn roster(&self) -> MutexGuard<'_, Roster> {
        self.roster.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads until nobody needs this reader.
    pub(crate) async fn read(self, id: u64) {
        let mut entry = Entry { readers: &self, id, why: "the reader stopped".to_owned() };
        let lost = self.link.lost();
        let ended = tokio::select! {
            ended = self.run(id) => ended,
            // What the server sends to a connection that was lost does not come.
            () = lost => Err(Failure::server("read the stream")(&"the connection was lost")),
        };
        if let Err(failure) = ended {
            entry.why = match failure {
                Failure::Server { why, .. } => why,
                failure => failure.to_string(),
            };
        }
    }

    async fn run(&self, id: u64) -> Result<(), Failure> {
        // Those that are being loaded can be read for together.
        let _ = timeout(GATHERED, self.loading.subscribe().wait_for(|loading| *loading == 0)).await;
        let begin = self.roster().begin(id);
        let Some(after) = begin else { return Ok(()) };
        let mut source = Source::after(&self.context, &self.packets, after).await?;
        let mut delivery = Delivery::of(id, Arc::clone(&self.roster));
        let mut position = after;
        loop {
            let some = source.some().await?;
            if let Some(missing) = some.missing(position) {
                self.miss(id, missing);
            }
            position = some.messages.last().map_or(position, |last| last.sequence);
            let last = some.messages.last().map(|last| last.sequence);
            let round = self.roster().round(id, last);
            match round {
                Round::End => break,
                Round::Rewind(after) => {
                    source.close().await;
                    source = Source::after(&self.context, &self.packets, after).await?;
                    position = after;
                    continue;
                }
                Round::Give(members) => delivery.give(some, &members).await,
            }
            if self.roster().has_reached(id) {
                break;
            }
            if self.roster().is_followed(id) {
                // The one behind has to be faster than this one.
                sleep(YIELD).await;
            }
        }
        source.close().await;
        Ok(())
    }

    /// Messages were deleted before they were read. Each may have been of any partition, and what comes after a packet that is missing
    /// looks like a mistake of the agent: partitions that have not judged them go on only if they may.
    fn miss(&self, id: u64, (first, last, count): (u64, u64, u64)) {
        let what = format!("{count} messages from {first} to {last} were deleted before they were judged");
        if self.accepts_gaps {
            self.metrics.missed(count);
            (self.notice)(&format!("{what}: what is found without them may be wrong"));
            return;
        }
        for member in self.roster().lose(id, last) {
            member.queue.fail(&format!("{what}; to go on without them, start with `--accept-gaps`"));
        }
    }
}

/// A reader among the others. Its partitions learn when it ends, for whatever reason.
struct Entry<'r> {
    readers: &'r Readers,
    id: u64,
    why: String,
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        let members = self.readers.roster().remove(self.id);
        members.iter().for_each(|member| member.queue.fail(&self.why));
    }
}

/// How long a reader waits for partitions that are being loaded.
const GATHERED: Duration = Duration::from_secs(2);

/// How long the reader in front waits between two rounds while there is one behind it.
const YIELD: Duration = Duration::from_millis(5);
