//! Lines to one side, in order, with back-pressure.

use std::sync::Arc;
use std::time::Duration;

use crate::Line;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Where lines are queued. Clones are the same queue. What waits is bounded by its bytes: a sender waits until there is room,
/// and so does the side that it reads from.
#[derive(Clone, Debug)]
pub struct Outbox {
    queue: mpsc::UnboundedSender<Item>,
    room: Arc<Semaphore>,
    /// As much as there is room for.
    most: u32,
}

#[derive(Debug)]
enum Item {
    Line(Line, Option<OwnedSemaphorePermit>),
    End,
}

/// The other side cannot be written to any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed;

/// The other side does not read, or cannot be written to any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

/// What a line costs beside its bytes, so that many small ones are bounded, too.
const EACH: usize = 256;

impl Outbox {
    /// Writes lines to an output, which is closed after [`end`](Self::end).
    pub fn new(mut output: impl AsyncWrite + Send + Unpin + 'static, bytes: usize) -> (Self, OutboxWriter) {
        let most = u32::try_from(bytes.min(Semaphore::MAX_PERMITS)).unwrap_or(u32::MAX);
        let room = Arc::new(Semaphore::new(usize::try_from(most).unwrap_or(usize::MAX)));
        let (queue, mut lines) = mpsc::unbounded_channel();
        let writer = tokio::spawn(async move {
            while let Some(Item::Line(line, permit)) = lines.recv().await {
                // Closing the queue is how those who wait for room learn of it.
                if line.write_to(&mut output).await.is_err() {
                    return;
                }
                drop(permit);
            }
            let _ = output.shutdown().await;
        });
        (Self { queue, room, most }, OutboxWriter(writer))
    }

    /// Queues a line, once there is room.
    pub async fn send(&self, line: impl Into<Line>) -> Result<(), Closed> {
        let line = line.into();
        let cost = self.cost(&line);
        let permit = tokio::select! {
            biased;
            permit = Arc::clone(&self.room).acquire_many_owned(cost) => permit.map_err(|_| Closed)?,
            () = self.queue.closed() => return Err(Closed),
        };
        self.queue.send(Item::Line(line, Some(permit))).map_err(|_| Closed)
    }

    /// Queues a line if there is room now.
    pub fn try_send(&self, line: impl Into<Line>) -> Result<(), Full> {
        let line = line.into();
        let cost = self.cost(&line);
        let permit = Arc::clone(&self.room).try_acquire_many_owned(cost).map_err(|_| Full)?;
        self.queue.send(Item::Line(line, Some(permit))).map_err(|_| Full)
    }

    /// Queues a short line at once, where nobody can wait. There is one for each call at most.
    pub fn send_now(&self, line: impl Into<Line>) {
        let _ = self.queue.send(Item::Line(line.into(), None));
    }

    fn cost(&self, line: &Line) -> u32 {
        u32::try_from(line.as_bytes().len().saturating_add(EACH)).unwrap_or(u32::MAX).min(self.most)
    }

    /// Closes the output, once what was queued before is written.
    pub fn end(&self) {
        let _ = self.queue.send(Item::End);
    }

    /// Comes when the other side cannot be written to any more.
    pub async fn closed(&self) {
        self.queue.closed().await;
    }
}

/// The task that writes.
#[derive(Debug)]
pub struct OutboxWriter(JoinHandle<()>);

impl OutboxWriter {
    /// Waits for the last line to be written, but not longer than this: the other side may not read.
    pub async fn finish(mut self, limit: Duration) {
        if timeout(limit, &mut self.0).await.is_err() {
            self.0.abort();
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::time::Duration;

    use tokio::io::{AsyncReadExt as _, duplex};
    use tokio::time::timeout;

    use super::{Closed, EACH, Outbox};

    #[tokio::test]
    async fn lines_are_written_in_order_and_the_output_is_closed_at_the_end() {
        let (near, mut far) = duplex(4);
        let (outbox, writer) = Outbox::new(near, 1 << 20);
        for n in 0..9 {
            outbox.send(format!("line {n}")).await.unwrap();
        }
        outbox.end();
        let mut read = String::new();
        far.read_to_string(&mut read).await.unwrap();
        assert_eq!(read, (0..9).map(|n| format!("line {n}\n")).collect::<String>());
        writer.finish(Duration::from_secs(60)).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_sender_waits_for_room_and_a_line_longer_than_the_room_goes_alone() {
        let (near, mut far) = duplex(1);
        let (outbox, _writer) = Outbox::new(near, 2 * EACH + 10);
        outbox.send("a").await.unwrap();
        outbox.send("b").await.unwrap();
        let third = outbox.send("x".repeat(10_000));
        tokio::pin!(third);
        assert!(timeout(Duration::from_secs(1), &mut third).await.is_err(), "there is no room");
        far.read_exact(&mut [0; 4]).await.unwrap();
        third.await.unwrap();
        far.read_exact(&mut [0; 10_001]).await.unwrap();
    }

    #[tokio::test]
    async fn a_sender_is_not_left_waiting_for_a_side_that_is_gone() {
        let (near, far) = duplex(1);
        let (outbox, _writer) = Outbox::new(near, EACH);
        outbox.send("a").await.unwrap();
        let second = outbox.send("b");
        drop(far);
        assert_eq!(second.await, Err(Closed));
        outbox.closed().await;
    }
}
