//! Ordered lines to one side, with back-pressure.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use crate::line::Line;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Queue for lines. Clones are the same queue. The waiting lines are bounded by their bytes: a sender waits until there is
/// room, and so does the side from which it reads.
///
/// The SDK sends each message in a separate task; without an order, a cancellation could overtake its request.
#[derive(Clone, Debug)]
pub struct Outbox {
    queue: mpsc::UnboundedSender<Item>,
    room: Arc<Semaphore>,
    /// Total room in bytes.
    most: u32,
}

#[derive(Debug)]
enum Item {
    Line {
        line: Line,
        permit: Option<OwnedSemaphorePermit>,
        /// Receiver that waits until the line is written.
        written: Option<oneshot::Sender<io::Result<()>>>,
    },
    End,
}

/// Error: the other side can no longer be written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed;

/// Error: the other side does not read, or can no longer be written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

/// Cost of a line in addition to its bytes: its buffer has room for at least 128, and for requests and cancellations of
/// the gate, an SDK task waits with its own channel until the line is written. Without this cost, a server that sends
/// pings and does not read could have 400,000 answers of 40 bytes wait within 16 MiB.
const EACH: usize = 1 << 10;

impl Outbox {
    /// Writes lines to an output, which is closed after [`end`](Self::end), or once everything queued before the last clone
    /// was dropped has been written.
    pub fn new(mut output: impl AsyncWrite + Send + Unpin + 'static, bytes: usize) -> (Self, OutboxWriter) {
        Self::read_by(bytes, |OutboxReader { queue: mut lines, .. }| async move {
            while let Some(Item::Line { line, permit, written }) = lines.recv().await {
                let outcome = line.write_to(&mut output).await;
                let has_failed = outcome.is_err();
                if has_failed {
                    // Closing the queue notifies those who wait for room.
                    lines.close();
                }
                drop(permit);
                // Nobody may be waiting for the result.
                let _ = written.map(|written| written.send(outcome));
                if has_failed {
                    return;
                }
            }
            let _ = output.shutdown().await;
        })
    }

    /// Queues lines for a task of this process, which receives them one by one.
    pub fn read_by<F>(bytes: usize, reader: impl FnOnce(OutboxReader) -> F) -> (Self, OutboxWriter)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let most = u32::try_from(bytes.min(Semaphore::MAX_PERMITS)).unwrap_or(u32::MAX);
        let room = Arc::new(Semaphore::new(usize::try_from(most).unwrap_or(usize::MAX)));
        let (queue, lines) = mpsc::unbounded_channel();
        let task = tokio::spawn(reader(OutboxReader { queue: lines, permit: None }));
        (Self { queue, room, most }, OutboxWriter(task))
    }

    /// Queues a line once there is room.
    pub async fn send(&self, line: impl Into<Line>) -> Result<(), Closed> {
        let line = line.into();
        let cost = self.cost(&line);
        let permit = tokio::select! {
            biased;
            permit = Arc::clone(&self.room).acquire_many_owned(cost) => permit.map_err(|_| Closed)?,
            () = self.queue.closed() => return Err(Closed),
        };
        self.queue.send(Item::Line { line, permit: Some(permit), written: None }).map_err(|_| Closed)
    }

    /// Queues a line if there is room now.
    pub fn try_send(&self, line: impl Into<Line>) -> Result<(), Full> {
        self.push(line.into(), None)
    }

    /// Queues a line if there is room now. The future completes once the line is written, which happens even if nobody polls it.
    ///
    /// # Errors
    /// If the line is longer than the total room, or too much is waiting. No part of the line is written then.
    pub fn try_write(&self, line: Line) -> io::Result<impl Future<Output = io::Result<()>> + Send + use<>> {
        if u32::try_from(line.as_bytes().len()).is_ok_and(|length| length <= self.most) {
            let (written, outcome) = oneshot::channel();
            self.push(line, Some(written)).map_err(|Full| io::Error::other("the server is not reading its input"))?;
            return Ok(async move { outcome.await.unwrap_or_else(|_| Err(io::ErrorKind::NotConnected.into())) });
        }
        Err(io::Error::other(format!("the request is larger than {} bytes", self.most)))
    }

    fn push(&self, line: Line, written: Option<oneshot::Sender<io::Result<()>>>) -> Result<(), Full> {
        let permit = Arc::clone(&self.room).try_acquire_many_owned(self.cost(&line)).map_err(|_| Full)?;
        self.queue.send(Item::Line { line, permit: Some(permit), written }).map_err(|_| Full)
    }

    /// Queues a short line at once, for callers that cannot wait. There is at most one for each call.
    pub fn send_now(&self, line: impl Into<Line>) {
        let _ = self.queue.send(Item::Line { line: line.into(), permit: None, written: None });
    }

    fn cost(&self, line: &Line) -> u32 {
        u32::try_from(line.as_bytes().len().saturating_add(EACH)).unwrap_or(u32::MAX).min(self.most)
    }

    /// Closes the output once everything queued so far has been written.
    pub fn end(&self) {
        let _ = self.queue.send(Item::End);
    }

    /// Returns once the other side can no longer be written to.
    pub async fn closed(&self) {
        self.queue.closed().await;
    }
}

/// Lines of an outbox, for the single task that reads them.
#[derive(Debug)]
pub struct OutboxReader {
    queue: mpsc::UnboundedReceiver<Item>,
    permit: Option<OwnedSemaphorePermit>,
}

impl OutboxReader {
    /// Returns the next line, or `None` at the end. Until this is called, the previous line keeps its room.
    pub async fn next(&mut self) -> Option<Line> {
        self.permit = None;
        let Some(Item::Line { line, permit, written }) = self.queue.recv().await else { return None };
        self.permit = permit;
        // Nobody may be waiting for the result.
        let _ = written.map(|written| written.send(Ok(())));
        Some(line)
    }
}

/// Task that writes the lines.
#[derive(Debug)]
pub struct OutboxWriter(JoinHandle<()>);

impl OutboxWriter {
    /// Waits for the last line to be written, but no longer than the limit, because the other side may not read.
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

    #[tokio::test(start_paused = true)]
    async fn a_task_reads_the_lines_one_by_one() {
        let (to_test, mut read) = tokio::sync::mpsc::channel(1);
        let (outbox, writer) = Outbox::read_by(2 * EACH + 10, async move |mut lines| {
            while let Some(line) = lines.next().await {
                to_test.send(line.into_message()).await.unwrap();
            }
        });
        for line in ["a", "b", "c"] {
            outbox.send(line).await.unwrap();
        }
        let fourth = outbox.send("d");
        tokio::pin!(fourth);
        assert!(timeout(Duration::from_secs(1), &mut fourth).await.is_err(), "there is no room");
        assert_eq!(read.recv().await.unwrap(), b"a");
        fourth.await.unwrap();
        outbox.end();
        for line in [b"b", b"c", b"d"] {
            assert_eq!(read.recv().await.unwrap(), line);
        }
        assert_eq!(read.recv().await, None);
        writer.finish(Duration::from_secs(60)).await;
        outbox.closed().await;
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

    #[tokio::test]
    async fn lines_are_written_in_order_and_the_rest_before_the_end() {
        let (near, mut far) = tokio::io::duplex(4);
        let outbox = Outbox::new(near, 10 * EACH).0;
        let lines: Vec<_> = (0..9).map(|n| outbox.try_write(format!("line {n}").into()).unwrap()).collect();
        // Nobody waits for these lines.
        drop((lines, outbox));
        let mut read = String::new();
        far.read_to_string(&mut read).await.unwrap();
        assert_eq!(read, (0..9).map(|n| format!("line {n}\n")).collect::<String>());
    }

    #[tokio::test]
    async fn what_waits_is_bounded() {
        let (near, mut far) = tokio::io::duplex(4);
        let outbox = Outbox::new(near, 10).0;
        let first = outbox.try_write("aaaaaaa".into()).unwrap();
        assert!(outbox.try_write("bbbbbbb".into()).is_err(), "nobody reads");
        assert!(outbox.try_write("bbbbbbbbbb".into()).is_err(), "it would never be taken");
        far.read_exact(&mut [0; 8]).await.unwrap();
        first.await.unwrap();
        let third = outbox.try_write("ccccccc".into()).unwrap();
        far.read_exact(&mut [0; 8]).await.unwrap();
        third.await.unwrap();
        drop(far);
        assert!(outbox.try_write("ddddddd".into()).unwrap().await.is_err(), "nobody is there");
    }

    #[tokio::test]
    async fn many_small_lines_are_bounded_by_their_number() {
        let (near, mut far) = tokio::io::duplex(1);
        let outbox = Outbox::new(near, 1 << 20).0;
        let taken = (0..100_000).map_while(|_| outbox.try_write("aaa".into()).ok()).count();
        assert!((1_000..=1_024).contains(&taken), "{taken}");
        // Once all accepted lines have been written, there is room again.
        far.read_exact(&mut vec![0; 4 * taken]).await.unwrap();
        let next = outbox.try_write("b".repeat((1 << 20) - 1).into());
        assert!(next.is_ok(), "one that is as long as all may be");
    }
}
