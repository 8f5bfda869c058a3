//! Read-ahead thread: reading does not delay checking, and checking never waits for input while there is something to report.

use std::io::{self, Read};
use std::panic;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{Builder, JoinHandle};

/// Bytes returned by one read.
#[derive(Debug)]
pub(super) struct Chunk {
    buffer: Vec<u8>,
    length: usize,
}

impl Chunk {
    pub(super) fn bytes(&self) -> &[u8] {
        self.buffer.get(..self.length).unwrap_or_default()
    }
}

/// Input that is read ahead, up to a maximum number of chunks.
///
/// If dropped before the end of the input, the thread is not joined: it ends after its current read, which may block as
/// long as the input does.
#[derive(Debug)]
pub(super) struct ReadAhead {
    chunks: Receiver<Chunk>,
    used: Sender<Vec<u8>>,
    thread: JoinHandle<io::Result<()>>,
    most: usize,
}

impl ReadAhead {
    /// Starts the thread, which reads up to `most` chunks ahead.
    pub(super) fn start(reader: impl Read + Send + 'static, most: usize) -> io::Result<Self> {
        let (send, chunks) = sync_channel(most);
        let (used, buffers) = channel();
        let thread = Builder::new().name("omen-read".to_owned()).spawn(move || read(reader, &send, &buffers))?;
        Ok(Self { chunks, used, thread, most })
    }

    /// Waits for input, and returns everything that was read so far; empty at the end of the input.
    pub(super) fn next(&self) -> Vec<Chunk> {
        let Ok(first) = self.chunks.recv() else { return Vec::new() };
        let mut all = vec![first];
        all.extend(self.chunks.try_iter().take(self.most.saturating_sub(1)));
        all
    }

    /// Returns chunks to the thread, so that it can reuse their memory.
    pub(super) fn give_back(&self, chunks: Vec<Chunk>) {
        for Chunk { buffer, .. } in chunks {
            // At the end of the input, the receiver no longer exists.
            let _ = self.used.send(buffer);
        }
    }

    /// Returns the result of the last read.
    pub(super) fn end(self) -> io::Result<()> {
        self.thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic))
    }
}

fn read(mut reader: impl Read, chunks: &SyncSender<Chunk>, buffers: &Receiver<Vec<u8>>) -> io::Result<()> {
    loop {
        let mut buffer = buffers.try_recv().unwrap_or_else(|_| vec![0; CHUNK_BYTES]);
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(()),
            // The receiver no longer exists if the sink has failed.
            Ok(length) if chunks.send(Chunk { buffer, length }).is_err() => return Ok(()),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Size of a read in bytes.
pub(super) const CHUNK_BYTES: usize = 256 * 1024;
