//! Lines to a server, in order.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::AsyncWrite;
use tokio::sync::{mpsc, oneshot};

use super::line::Line;

/// Writes lines in the order in which they are given. What waits to be written is bounded. The output is closed when
/// this is dropped and all is written.
///
/// The SDK sends each message in a task of its own; without an order, a cancellation could overtake its request.
#[derive(Debug)]
pub struct Writer {
    /// Bounded by what the lines cost.
    queue: mpsc::UnboundedSender<Queued>,
    waiting: Arc<AtomicUsize>,
    limit: usize,
}

/// What a line costs beside its bytes: its buffer has room for 128 at least, and for what we ask and cancel a task of
/// the SDK waits with a channel of its own until the line is written. Without it, a server that sends pings and does
/// not read could have 400,000 answers of 40 bytes wait within 16 MiB.
const EACH: usize = 1 << 10;

#[derive(Debug)]
struct Queued {
    line: Line,
    written: oneshot::Sender<io::Result<()>>,
}

impl Writer {
    /// At most `limit` bytes wait at a time, where each line counts 1 KiB more than it is long. Where none waits, a
    /// line of `limit` bytes is taken.
    pub fn new(mut output: impl AsyncWrite + Send + Unpin + 'static, limit: usize) -> Self {
        let (queue, mut lines) = mpsc::unbounded_channel::<Queued>();
        let waiting = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&waiting);
        tokio::spawn(async move {
            while let Some(Queued { line, written }) = lines.recv().await {
                let outcome = line.write_to(&mut output).await;
                counter.fetch_sub(cost(&line), Ordering::AcqRel);
                // Nobody need wait for it.
                let _ = written.send(outcome);
            }
        });
        Self { queue, waiting, limit }
    }

    /// Queues a line. The future completes when it is written; the line is written even if nobody polls it.
    ///
    /// # Errors
    /// If too much waits. Then nothing of the line is written.
    pub fn write(&self, line: Line) -> io::Result<impl Future<Output = io::Result<()>> + Send + use<>> {
        let length = line.as_bytes().len();
        if length > self.limit {
            return Err(io::Error::other(format!("the request is larger than {} bytes", self.limit)));
        }
        if self.waiting.load(Ordering::Acquire).saturating_add(length) > self.limit {
            return Err(io::Error::other("the server does not read its input"));
        }
        // Only this end adds, and it is not shared.
        self.waiting.fetch_add(cost(&line), Ordering::AcqRel);
        let (written, outcome) = oneshot::channel();
        self.queue.send(Queued { line, written }).map_err(|_| io::ErrorKind::NotConnected)?;
        Ok(async move { outcome.await.unwrap_or_else(|_| Err(io::ErrorKind::NotConnected.into())) })
    }
}

fn cost(line: &Line) -> usize {
    line.as_bytes().len().saturating_add(EACH)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::{EACH, Writer};

    #[tokio::test]
    async fn lines_are_written_in_order_and_the_rest_before_the_end() {
        let (near, mut far) = tokio::io::duplex(4);
        let writer = Writer::new(near, 10 * EACH);
        let lines: Vec<_> = (0..9).map(|n| writer.write(format!("line {n}").into()).unwrap()).collect();
        // Nobody waits for them.
        drop((lines, writer));
        let mut read = String::new();
        far.read_to_string(&mut read).await.unwrap();
        assert_eq!(read, (0..9).map(|n| format!("line {n}\n")).collect::<String>());
    }

    #[tokio::test]
    async fn what_waits_is_bounded() {
        let (near, mut far) = tokio::io::duplex(4);
        let writer = Writer::new(near, 10);
        let first = writer.write("aaaaaaa".into()).unwrap();
        assert!(writer.write("bbbbbbb".into()).is_err(), "nobody reads");
        assert!(writer.write("bbbbbbbbbb".into()).is_err(), "it would never be taken");
        far.read_exact(&mut [0; 8]).await.unwrap();
        first.await.unwrap();
        let third = writer.write("ccccccc".into()).unwrap();
        far.read_exact(&mut [0; 8]).await.unwrap();
        third.await.unwrap();
        drop(far);
        assert!(writer.write("ddddddd".into()).unwrap().await.is_err(), "nobody is there");
    }

    #[tokio::test]
    async fn many_small_lines_are_bounded_by_their_number() {
        let (near, mut far) = tokio::io::duplex(1);
        let writer = Writer::new(near, 1 << 20);
        let taken = (0..100_000).map_while(|_| writer.write("aaa".into()).ok()).count();
        assert!((1_000..=1_024).contains(&taken), "{taken}");
        // All that was taken is written, and then there is room again.
        far.read_exact(&mut vec![0; 4 * taken]).await.unwrap();
        let next = writer.write("b".repeat((1 << 20) - 1).into());
        assert!(next.is_ok(), "one that is as long as all may be");
    }
}
