//! Sources of bytes: files, memory, and data that Python reads or generates on its own thread.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

use omen::Finding;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyIterator, PyMemoryView, PyString};

use crate::errors::ErrorClass;

/// Findings with the texts of their lines.
pub(super) type Batch = VecDeque<(Finding, Option<String>)>;

/// Message of the thread that checks.
pub(super) enum Message {
    Findings(Batch),
    /// There is room for another chunk of the source.
    Room,
    /// The log was checked to its end; the text says why its rest cannot be read.
    End(omen::Summary, Option<std::io::Error>),
}

/// Source of a log that was opened.
pub(super) struct OpenedSource {
    pub(super) reader: omen::input::Source,
    /// Path of a file; empty for other sources.
    pub(super) path: PathBuf,
    /// Python's side of a source that Python reads.
    pub(super) feed: Option<Feed>,
}

/// Opens what `omen.check` was given. `messages` reaches the thread that feeds, which waits for room.
pub(super) fn open(source: &Bound<'_, PyAny>, messages: &SyncSender<Message>) -> PyResult<OpenedSource> {
    let py = source.py();
    let in_memory = |reader| Ok(OpenedSource { reader, path: PathBuf::new(), feed: None });
    if let Ok(bytes) = source.extract::<PyBackedBytes>() {
        return in_memory(Box::new(Cursor::new(bytes)));
    }
    if let Ok(view) = source.cast::<PyMemoryView>() {
        let bytes: PyBackedBytes = view.call_method0("tobytes")?.extract()?;
        return in_memory(Box::new(Cursor::new(bytes)));
    }
    if let Ok(path) = source.extract::<PathBuf>() {
        let file = File::open(&path).and_then(|file| match file.metadata()?.is_dir() {
            true => Err(io::Error::new(io::ErrorKind::IsADirectory, "is a directory")),
            false => Ok(file),
        });
        let file = file.map_err(|error| unreadable(py, &path.to_string_lossy(), &error))?;
        return Ok(OpenedSource { reader: Box::new(file), path, feed: None });
    }
    let origin = if source.hasattr("read")? {
        let name = if source.hasattr("read1")? { "read1" } else { "read" };
        Origin::File(source.getattr(name)?.unbind())
    } else if let Ok(lines) = source.try_iter() {
        Origin::Lines(lines.unbind())
    } else {
        let found = source.get_type().qualname()?;
        let message = format!("expected a path, bytes, a binary file or an iterable of lines, found `{found}`");
        return Err(ErrorClass::Argument.at(py, &message, Some("source"), None));
    };
    let (sender, receiver) = sync_channel(CHUNKS);
    let reader = ChunkReader { receiver, chunk: Cursor::default(), messages: messages.clone() };
    let feed = Feed { origin, sender, pending: None };
    Ok(OpenedSource { reader: Box::new(reader), path: PathBuf::new(), feed: Some(feed) })
}

/// Returns the exception for an input that cannot be read.
pub(super) fn unreadable(py: Python<'_>, name: &str, error: &io::Error) -> PyErr {
    let help =
        (error.kind() == io::ErrorKind::NotFound).then_some("a `str` is a path; check a text with `omen.check_text`");
    ErrorClass::Input.at(py, &format!("cannot read {name}: {error}"), Some(name), help)
}

/// Source that Python reads, on the thread that asks for findings.
pub(super) struct Feed {
    origin: Origin,
    sender: SyncSender<Vec<u8>>,
    /// Chunk for which there was no room.
    pending: Option<Vec<u8>>,
}

enum Origin {
    /// Bound method `read` of a file.
    File(Py<PyAny>),
    Lines(Py<PyIterator>),
}

/// State of a source after it was asked for a chunk.
pub(super) enum FeedStep {
    /// A chunk was passed on.
    Chunk,
    /// The other side has to check what it has before it takes more.
    Full,
    /// There is no more.
    Ended,
}

impl Feed {
    /// Reads a chunk, and passes it on.
    pub(super) fn step(&mut self, py: Python<'_>) -> PyResult<FeedStep> {
        let chunk = match self.pending.take() {
            Some(chunk) => chunk,
            None => match self.origin.chunk(py)? {
                Some(chunk) => chunk,
                None => return Ok(FeedStep::Ended),
            },
        };
        Ok(match self.sender.try_send(chunk) {
            Ok(()) => FeedStep::Chunk,
            Err(TrySendError::Full(chunk)) => {
                self.pending = Some(chunk);
                FeedStep::Full
            }
            // The check has ended, such as at binary data.
            Err(TrySendError::Disconnected(_)) => FeedStep::Ended,
        })
    }
}

impl Origin {
    fn chunk(&self, py: Python<'_>) -> PyResult<Option<Vec<u8>>> {
        match self {
            Self::File(read) => {
                let bytes = read.call1(py, (CHUNK_BYTES,))?.into_bound(py);
                if bytes.is_instance_of::<PyString>() {
                    let message = "expected a binary file, found one in text mode";
                    return Err(ErrorClass::Argument.at(py, message, Some("source"), Some("open it with mode \"rb\"")));
                }
                // A file that does not block has nothing for now; it cannot be waited for here.
                let bytes: PyBackedBytes = bytes.extract()?;
                Ok((!bytes.is_empty()).then(|| bytes.to_vec()))
            }
            Self::Lines(lines) => {
                let mut chunk = Vec::new();
                while chunk.len() < CHUNK_BYTES
                    && let Some(line) = lines.bind(py).clone().next()
                {
                    let line = line?;
                    match line.cast::<PyString>() {
                        Ok(text) => chunk.extend_from_slice(text.to_str()?.as_bytes()),
                        Err(_) => chunk.extend_from_slice(&line.extract::<PyBackedBytes>()?),
                    }
                    if !chunk.ends_with(b"\n") {
                        chunk.push(b'\n');
                    }
                }
                Ok((!chunk.is_empty()).then_some(chunk))
            }
        }
    }
}

/// Other side of a [`Feed`].
struct ChunkReader {
    receiver: Receiver<Vec<u8>>,
    chunk: Cursor<Vec<u8>>,
    messages: SyncSender<Message>,
}

impl Read for ChunkReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.chunk.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            let Ok(chunk) = self.receiver.recv() else { return Ok(0) };
            self.chunk = Cursor::new(chunk);
            // Without room for the message, the receiver has others to wake up for.
            let _ = self.messages.try_send(Message::Room);
        }
    }
}

/// Reader that ends when nobody asks for findings any more.
pub(super) struct Stoppable {
    pub(super) reader: omen::input::Source,
    pub(super) is_stopped: Arc<AtomicBool>,
}

impl Read for Stoppable {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.is_stopped.load(Ordering::Relaxed) { Ok(0) } else { self.reader.read(buffer) }
    }
}

/// Size of a chunk that Python reads, in bytes.
const CHUNK_BYTES: usize = 1024 * 1024;

/// Number of chunks that wait to be checked.
const CHUNKS: usize = 4;
