//! Reads the stream for some partitions, each of which takes what is its own.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_nats::jetstream::Context;
use async_nats::jetstream::stream::Stream;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::{Instant, sleep, timeout};

use crate::failure::Failure;
use crate::roster::{Member, Roster, Round};
use crate::source::{Received, Some, Source};

/// What the readers of a worker share.
#[derive(Clone)]
pub(crate) struct Readers {
    pub(crate) context: Context,
    pub(crate) packets: Stream,
    pub(crate) roster: Arc<Mutex<Roster>>,
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
        if let Err(failure) = self.run(id).await {
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
        let mut held = Held::default();
        loop {
            let some = source.some().await?;
            let last = some.messages.last().map(|last| last.sequence);
            let round = self.roster().round(id, last);
            match round {
                Round::End => return Ok(()),
                Round::Rewind(after) => {
                    source = Source::after(&self.context, &self.packets, after).await?;
                    continue;
                }
                Round::Give(members) => self.give(id, some, &members, &mut held).await,
            }
            if self.roster().has_reached(id) {
                return Ok(());
            }
            if self.roster().is_followed(id) {
                // The one behind has to be faster than this one.
                sleep(YIELD).await;
            }
        }
    }

    /// Gives each partition what it has to judge, and waits where there is no room.
    async fn give(&self, id: u64, some: Some, members: &BTreeMap<u16, Member>, held: &mut Held) {
        let Some(last) = some.messages.last().map(|last| last.sequence) else {
            // Nothing has come: the stream ends here.
            members.values().for_each(|member| member.queue.passed(0, 0, 0));
            return;
        };
        let bytes = some.messages.iter().map(Received::bytes).sum();
        let mut without = BTreeSet::new();
        for (partition, messages) in sorted(some.messages, members) {
            let Some(member) = members.get(&partition) else { continue };
            match self.room(id, (partition, member), &messages, members, held).await {
                Some(room) => member.queue.put(messages, room),
                None => drop(without.insert(partition)),
            }
        }
        // A partition that did not take its messages has not passed them.
        for (_, member) in members.iter().filter(|(partition, _)| !without.contains(partition)) {
            member.queue.passed(last.max(member.after), bytes, some.pending);
        }
        if some.pending == 0 {
            *held = Held::default();
        }
    }

    /// Waits for room; `None` if the partition does not take the messages: it is gone, or it has held up the others for too long.
    async fn room(
        &self,
        id: u64,
        (partition, member): (u16, &Member),
        messages: &[Received],
        members: &BTreeMap<u16, Member>,
        held: &mut Held,
    ) -> Option<OwnedSemaphorePermit> {
        let room = member.queue.room(messages);
        tokio::pin!(room);
        loop {
            let begin = Instant::now();
            let is_there = timeout(PATIENCE, &mut room).await;
            if held.note(partition, begin, members) > TOO_LONG && self.roster().expel(id, partition) {
                held.0.remove(&partition);
                return None;
            }
            if let Ok(room) = is_there {
                return room;
            }
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

/// How long a reader has waited for each partition while all others had nothing to do.
#[derive(Debug, Default)]
struct Held(BTreeMap<u16, Duration>);

impl Held {
    fn note(&mut self, partition: u16, begin: Instant, members: &BTreeMap<u16, Member>) -> Duration {
        let waited = begin.elapsed();
        let is_alone = || members.iter().all(|(other, member)| *other == partition || member.queue.is_idle());
        let held = self.0.entry(partition).or_default();
        if is_alone() {
            *held += waited;
        }
        *held
    }
}

/// The messages of each partition, without what it has already.
fn sorted(messages: Vec<Received>, members: &BTreeMap<u16, Member>) -> BTreeMap<u16, Vec<Received>> {
    let mut sorted: BTreeMap<u16, Vec<Received>> = BTreeMap::new();
    for message in messages {
        match message.partition() {
            Some(partition) => {
                if members.get(&partition).is_some_and(|member| member.after < message.sequence) {
                    sorted.entry(partition).or_default().push(message);
                }
            }
            None => {
                for (partition, _) in members.iter().filter(|(_, member)| member.after < message.sequence) {
                    sorted.entry(*partition).or_default().push(message.clone());
                }
            }
        }
    }
    sorted
}

/// How long a reader waits for partitions that are being loaded.
const GATHERED: Duration = Duration::from_secs(2);

/// How long the reader in front waits between two rounds while there is one behind it.
const YIELD: Duration = Duration::from_millis(5);

/// How long to wait before it is checked whether a partition holds up the others …
const PATIENCE: Duration = Duration::from_millis(500);

/// … and for how long it may, since there was nothing to read.
const TOO_LONG: Duration = Duration::from_secs(2);
