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
use crate::roster::{Member, Roster, Round};
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
        'read: loop {
            for part in source.some().await?.parts(position) {
                let (gap, last) = (part.gap(position), part.messages.last().map(|last| last.sequence));
                let (lost, round) = self.take_turn(id, gap, last);
                for (member, why) in lost {
                    member.queue.fail(&why);
                }
                match round {
                    Round::End => break 'read,
                    Round::Rewind(after) => {
                        source.close().await;
                        source = Source::after(&self.context, &self.packets, after).await?;
                        position = after;
                        continue 'read;
                    }
                    Round::Give(members) => delivery.give(part, &members).await,
                }
                position = last.unwrap_or(position);
                if self.roster().has_reached(id) {
                    break 'read;
                }
            }
            if self.roster().is_followed(id) {
                // The one behind has to be faster than this one.
                sleep(YIELD).await;
            }
        }
        source.close().await;
        Ok(())
    }

    /// Returns what to do with messages that were read, and the partitions that lose this reader, each with the reason.
    ///
    /// Messages that are missing before them were deleted, and may have belonged to any partition. What follows a missing packet looks
    /// like a mistake of the agent, so a partition that has not judged them goes on only with `--accept-gaps`.
    fn take_turn(&self, id: u64, gap: Option<(u64, u64)>, last: Option<u64>) -> (Vec<(Member, String)>, Round) {
        // At once: a partition that joined in between would not learn of the gap.
        let mut roster = self.roster();
        let Some((first, end)) = gap else { return (Vec::new(), roster.round(id, last)) };
        let count = end - first + 1;
        let what = format!("{count} messages from {first} to {end} were deleted before they were judged");
        if self.accepts_gaps {
            self.metrics.missed(count);
            (self.notice)(&format!("{what}: what is found without them may be wrong"));
            return (Vec::new(), roster.round(id, last));
        }
        let why = format!("{what}; to go on without them, start with `--accept-gaps`");
        let lost = roster.lose(id, end).into_iter().map(|member| (member, why.clone())).collect();
        (lost, roster.round(id, last))
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
