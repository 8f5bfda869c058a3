//! A thread that reads ahead, so that reading takes no time from checking, and checking never waits for input while there is
//! something to report.

use std::io::{self, Read};
use std::panic;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{Builder, JoinHandle};

/// Bytes that one read returned.
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

/// An input that is read ahead, up to a number of chunks.
///
/// The thread is not joined if this is dropped before the end of the input: it ends after the read that it is in, which may
/// take as long as the input pauses.
#[derive(Debug)]
pub(super) struct Ahead {
    chunks: Receiver<Chunk>,
    used: Sender<Vec<u8>>,
    thread: JoinHandle<io::Result<()>>,
    most: usize,
}

impl Ahead {
    /// Starts to read, up to `most` chunks ahead.
    pub(super) fn start(reader: impl Read + Send + 'static, most: usize) -> io::Result<Self> {
        let (send, chunks) = sync_channel(most);
        let (used, buffers) = channel();
        let thread = Builder::new().name("omen-read".to_owned()).spawn(move || read(reader, &send, &buffers))?;
        Ok(Self { chunks, used, thread, most })
    }

    /// Waits for input, and returns all that was read so far; nothing at the end.
    pub(super) fn next(&self) -> Vec<Chunk> {
        let Ok(first) = self.chunks.recv() else { return Vec::new() };
        let mut all = vec![first];
        all.extend(self.chunks.try_iter().take(self.most.saturating_sub(1)));
        all
    }

    /// Takes back chunks, to read into their memory again.
    pub(super) fn give_back(&self, chunks: Vec<Chunk>) {
        for Chunk { buffer, .. } in chunks {
            // At the end of the input, nobody takes them.
            let _ = self.used.send(buffer);
        }
    }

    /// How the input has ended.
    pub(super) fn end(self) -> io::Result<()> {
        self.thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic))
    }
}

fn read(mut reader: impl Read, chunks: &SyncSender<Chunk>, buffers: &Receiver<Vec<u8>>) -> io::Result<()> {
    loop {
        let mut buffer = buffers.try_recv().unwrap_or_else(|_| vec![0; CHUNK_BYTES]);
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(()),
            // Nobody takes it if the sink has failed.
            Ok(length) if chunks.send(Chunk { buffer, length }).is_err() => return Ok(()),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// How much is read at a time.
pub(super) const CHUNK_BYTES: usize = 256 * 1024;
