//! Last bytes that a server writes to its standard error.

use std::collections::VecDeque;

use omen_base::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// Number of bytes kept.
const KEPT: usize = 4_096;

/// Ring buffer of bytes.
#[derive(Debug, Default)]
pub struct StderrTail(Mutex<VecDeque<u8>>);

impl StderrTail {
    /// Reads to the end and keeps the last bytes. The server is never blocked by its own output.
    pub async fn drain(&self, input: impl AsyncRead + Unpin) {
        self.copy(input, tokio::io::sink()).await;
    }

    /// Same as [`drain`](Self::drain), but also copies all bytes. Bytes that cannot be copied are still read.
    pub async fn copy(&self, mut input: impl AsyncRead + Unpin, mut copy: impl AsyncWrite + Unpin) {
        let mut buffer = vec![0; KEPT];
        while let Ok(read @ 1..) = input.read(&mut buffer).await {
            let bytes = buffer.get(..read).unwrap_or_default();
            self.keep(bytes);
            if copy.write_all(bytes).await.is_ok() {
                let _ = copy.flush().await;
            }
        }
    }

    fn keep(&self, bytes: &[u8]) {
        let mut ring = self.0.lock();
        ring.extend(bytes);
        let over = ring.len().saturating_sub(KEPT);
        ring.drain(..over);
    }

    /// Returns the kept bytes as text.
    pub fn text(&self) -> String {
        let ring = self.0.lock();
        let (front, back) = ring.as_slices();
        String::from_utf8_lossy(&[front, back].concat()).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::{KEPT, StderrTail};

    #[tokio::test]
    async fn the_last_bytes_are_kept() {
        let tail = StderrTail::default();
        let text = format!("{}the end", "x".repeat(10 * KEPT));
        tail.drain(text.as_bytes()).await;
        assert_eq!(tail.text().len(), KEPT);
        assert!(tail.text().ends_with("xthe end"));
    }

    #[tokio::test]
    async fn all_of_it_is_copied() {
        let (tail, mut copy) = (StderrTail::default(), Vec::new());
        let text = "y".repeat(10 * KEPT);
        tail.copy(text.as_bytes(), &mut copy).await;
        assert_eq!((tail.text().len(), copy.len()), (KEPT, text.len()));
    }
}
