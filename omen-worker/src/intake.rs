//! What a reader has for a partition: a queue of limited size, and how far the reader is.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::source::Received;

/// Both ends of a queue, for a partition that has everything up to a message.
pub(crate) fn queue(after: u64) -> (Queue, Intake) {
    let (sender, receiver) = unbounded_channel();
    let room = Arc::new(Semaphore::new(ROOM));
    let (passed, pending) = (AtomicU64::new(after), AtomicU64::new(UNKNOWN));
    let progress = Arc::new(Progress { passed, pending, ..Progress::default() });
    (Queue { sender, room: Arc::clone(&room), progress: Arc::clone(&progress) }, Intake { receiver, room, progress })
}

/// How far the reader of a partition is in the stream.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// Up to this message, all that the partition has to judge is in its queue.
    passed: AtomicU64,
    /// Bytes of all messages that were read, of other partitions, too.
    bytes: AtomicU64,
    /// Messages in the stream behind `passed`.
    pending: AtomicU64,
    /// Up to this message, what the partition has found is committed.
    committed: AtomicU64,
    /// The last message that was put into the queue.
    queued: AtomicU64,
}

impl Progress {
    /// How many messages of the stream are behind what the partition has committed.
    pub(crate) fn lag(&self) -> u64 {
        let load = |value: &AtomicU64| value.load(Ordering::Acquire);
        let (passed, committed) = (load(&self.passed), load(&self.committed));
        let waiting = if committed < load(&self.queued) { passed.saturating_sub(committed) } else { 0 };
        waiting + load(&self.pending)
    }
}

/// The end of the reader. Clones put into the same queue.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    sender: UnboundedSender<Event>,
    room: Arc<Semaphore>,
    progress: Arc<Progress>,
}

/// The end of the partition.
#[derive(Debug)]
pub(crate) struct Intake {
    receiver: UnboundedReceiver<Event>,
    room: Arc<Semaphore>,
    progress: Arc<Progress>,
}

#[derive(Debug)]
enum Event {
    Messages(Chunk),
    Failed(String),
}

/// Some messages in order. They take room in the queue as long as they are there.
#[derive(Debug)]
pub(crate) struct Chunk {
    pub(crate) messages: Vec<Received>,
    _room: OwnedSemaphorePermit,
}

/// What comes next.
#[derive(Debug)]
pub(crate) enum Next {
    Messages(Chunk),
    /// Nothing within the time.
    Nothing,
    /// The reader goes on without this partition, which holds up the others. What was in the queue has come.
    Expelled,
    /// The stream cannot be read, for this reason.
    Failed(String),
}

impl Queue {
    /// Waits until there is room for messages; `None` if the partition is gone.
    pub(crate) async fn room(&self, messages: &[Received]) -> Option<OwnedSemaphorePermit> {
        let bytes: usize = messages.iter().map(Received::memory).sum();
        // What is larger than the queue fills it.
        let bytes = u32::try_from(bytes.min(ROOM)).unwrap_or(u32::MAX);
        Arc::clone(&self.room).acquire_many_owned(bytes).await.ok()
    }

    /// Puts messages into the room that was made for them.
    pub(crate) fn put(&self, messages: Vec<Received>, room: OwnedSemaphorePermit) {
        if let Some(last) = messages.last() {
            self.progress.queued.fetch_max(last.sequence, Ordering::AcqRel);
        }
        // If the partition is gone, so is the queue.
        let _ = self.sender.send(Event::Messages(Chunk { messages, _room: room }));
    }

    /// Notes that everything up to a message was put there, and how much that was and how many messages follow.
    pub(crate) fn passed(&self, sequence: u64, bytes: usize, pending: u64) {
        self.progress.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        self.progress.pending.store(pending, Ordering::Relaxed);
        // After the messages, so that who reads it finds them.
        self.progress.passed.fetch_max(sequence, Ordering::AcqRel);
    }

    /// Reports that the stream cannot be read.
    pub(crate) fn fail(&self, why: &str) {
        let _ = self.sender.send(Event::Failed(why.to_owned()));
    }

    /// Whether the partition has judged everything that was put there.
    pub(crate) fn is_idle(&self) -> bool {
        self.room.available_permits() == ROOM
    }

    /// Whether the partition is gone.
    pub(crate) fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }
}

impl Intake {
    /// What comes next, within some time. It loses nothing if it is dropped.
    pub(crate) async fn next(&mut self, within: Duration) -> Next {
        match timeout(within, self.receiver.recv()).await {
            Ok(Some(Event::Messages(chunk))) => Next::Messages(chunk),
            Ok(Some(Event::Failed(why))) => Next::Failed(why),
            Ok(None) => Next::Expelled,
            Err(_) => Next::Nothing,
        }
    }

    /// Up to which message the partition has received everything, if all that was in the queue was taken out.
    pub(crate) fn passed(&self) -> Option<u64> {
        // In this order: what was put there before is in the queue then.
        let passed = self.progress.passed.load(Ordering::Acquire);
        self.receiver.is_empty().then_some(passed)
    }

    /// Whether the stream has nothing behind that.
    pub(crate) fn is_at_end(&self) -> bool {
        self.progress.pending.load(Ordering::Relaxed) == 0
    }

    /// Bytes of all messages that its readers have read.
    pub(crate) fn bytes(&self) -> u64 {
        self.progress.bytes.load(Ordering::Relaxed)
    }

    /// Notes that everything up to a message is committed.
    pub(crate) fn committed(&self, sequence: u64) {
        self.progress.committed.fetch_max(sequence, Ordering::AcqRel);
    }

    /// For those who show it.
    pub(crate) fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }
}

impl Drop for Intake {
    fn drop(&mut self) {
        // Nobody waits for room that will not be.
        self.room.close();
    }
}

/// Messages behind, as long as nobody has seen the end: there may be one.
const UNKNOWN: u64 = 1;

/// How many bytes of messages a queue has room for.
const ROOM: usize = 1024 * 1024;

#[cfg(test)]
#[expect(clippy::unwrap_used, clippy::panic, reason = "tests")]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_millis(20);

    fn message(sequence: u64, bytes: usize) -> Received {
        Received::of("omen.partition.0.corr_a", vec![b' '; bytes], sequence)
    }

    #[tokio::test]
    async fn a_queue_that_is_full_makes_its_reader_wait() {
        let (queue, mut intake) = queue(0);
        for sequence in 1..=3 {
            let messages = vec![message(sequence, 2 * ROOM)];
            assert!(queue.is_idle());
            let room = queue.room(&messages).await.unwrap();
            queue.put(messages, room);
            assert!(!queue.is_idle());
            assert!(timeout(SOON, queue.room(&[message(9, 1)])).await.is_err(), "it is full");
            let Next::Messages(chunk) = intake.next(SOON).await else { panic!("there is one") };
            assert_eq!(chunk.messages.iter().map(|message| message.sequence).collect::<Vec<_>>(), [sequence]);
            assert!(timeout(SOON, queue.room(&[message(9, 1)])).await.is_err(), "it is being judged");
        }
        drop(intake);
        assert!(queue.room(&[message(9, 1)]).await.is_none() && queue.is_closed());
    }

    #[tokio::test]
    async fn a_partition_without_messages_moves_on() {
        let (queue, mut intake) = queue(0);
        assert_eq!(intake.passed(), Some(0));
        let messages = vec![message(5, 1)];
        let room = queue.room(&messages).await.unwrap();
        queue.put(messages, room);
        queue.passed(8, 100, 3);
        assert_eq!((intake.passed(), intake.progress().lag()), (None, 11), "message 5 is not committed");
        assert!(matches!(intake.next(SOON).await, Next::Messages(_)));
        intake.committed(5);
        assert_eq!((intake.passed(), intake.bytes(), intake.progress().lag()), (Some(8), 100, 3));
        queue.passed(11, 10, 0);
        assert_eq!((intake.passed(), intake.bytes(), intake.progress().lag()), (Some(11), 110, 0));
        queue.fail("gone");
        assert!(matches!(intake.next(SOON).await, Next::Failed(why) if why == "gone"));
        assert!(matches!(intake.next(SOON).await, Next::Nothing));
        drop(queue);
        assert!(matches!(intake.next(SOON).await, Next::Expelled));
    }
}
