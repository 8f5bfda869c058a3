//! Iterator over the findings of a log, which is checked on separate threads.
//!
//! The threads hold no Python objects except the bytes that they check, so neither they nor the interpreter wait for each other.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use omen::input::{self, AnyValidator, Layout};
use omen::lines::ReadError;
use omen::{Finding, Sink, ValidatorOptions};
use pyo3::exceptions::{PyStopAsyncIteration, PyStopIteration};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::finding::{self, Summary};
use super::options;
use super::source::{self, Batch, Feed, FeedStep, Message, OpenedSource, Stoppable, open};
use crate::errors::ErrorClass;

/// Checks a log, and returns an iterator over its findings.
///
/// `source` is a path (`str` or `os.PathLike`), the content of a log (`bytes`), a binary file, or an iterable of lines. A `str` is
/// always a path; for a text, use `check_text`. Files may be compressed with gzip or zstd, and may contain packets in an array.
///
/// `levels` changes severities: `{"INV-011": "allow"}`, with `warnings` as the key for all warnings. `jobs` is the number of
/// threads. `name` is the name of the log in findings, in place of its path.
#[pyfunction]
#[pyo3(signature = (source, *, levels = None, jobs = None, name = None))]
pub(super) fn check(
    source: &Bound<'_, PyAny>,
    levels: Option<&Bound<'_, PyDict>>,
    jobs: Option<usize>,
    name: Option<String>,
) -> PyResult<Findings> {
    let py = source.py();
    let (options, jobs) = (options::options(levels)?, options::jobs(py, jobs)?);
    let (sender, receiver) = sync_channel(BATCHES);
    let OpenedSource { reader, path, feed } = open(source, &sender)?;
    let name = name.unwrap_or_else(|| {
        if path.as_os_str().is_empty() { "-".to_owned() } else { path.to_string_lossy().into_owned() }
    });
    let is_stopped = Arc::new(AtomicBool::new(false));
    let reader = Stoppable { reader, is_stopped: Arc::clone(&is_stopped) };
    // What Python reads, and a pipe, may still be written, so nothing waits for their ends.
    let is_whole = feed.is_none() && (path.as_os_str().is_empty() || path.is_file());
    let work = Work { reader, path, options, jobs, is_whole, sender };
    let started = thread::Builder::new().name("omen".to_owned()).spawn(move || work.run());
    started.map_err(|error| ErrorClass::Usage.error(py, &format!("cannot start a thread: {error}"), None))?;
    let state = ReadState { receiver, feed, batch: VecDeque::new(), end: None };
    Ok(Findings { name: name.into(), is_stopped, process: process::id(), state: Mutex::new(state) })
}

/// Checks a text, and returns an iterator over its findings. `levels`, `jobs` and `name` are those of `check`.
#[pyfunction]
#[pyo3(signature = (text, *, levels = None, jobs = None, name = None))]
pub(super) fn check_text(
    py: Python<'_>,
    text: &str,
    levels: Option<&Bound<'_, PyDict>>,
    jobs: Option<usize>,
    name: Option<String>,
) -> PyResult<Findings> {
    check(pyo3::types::PyBytes::new(py, text.as_bytes()).as_any(), levels, jobs, name)
}

/// Iterator over the findings of a log, in their order; `for` and `async for` both work.
///
/// The log is checked while the findings are read, a bounded number of findings ahead. If the input cannot be read to its end,
/// `InputError` is raised after the findings up to that point.
#[pyclass(frozen, weakref, module = "omen")]
pub(crate) struct Findings {
    name: Arc<str>,
    is_stopped: Arc<AtomicBool>,
    /// Process that began the check: its threads are not in a child after `fork`.
    process: u32,
    state: Mutex<ReadState>,
}

struct ReadState {
    receiver: Receiver<Message>,
    feed: Option<Feed>,
    batch: Batch,
    end: Option<End>,
}

/// End of the log.
struct End {
    summary: omen::Summary,
    error: Option<std::io::Error>,
}

#[pymethods]
impl Findings {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<finding::Finding> {
        let mut state = self.lock(py)?.ok_or_else(|| in_use(py))?;
        state.fill(py, self.process, None)?;
        self.pop(py, &mut state)?.ok_or_else(|| PyStopIteration::new_err(()))
    }

    fn __aiter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __anext__<'py>(slf: Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("omen._async")?.getattr("following")?.call1((slf,))
    }

    /// Returns the next finding if it is known, otherwise `None`: for `async for`.
    fn _poll(&self, py: Python<'_>) -> PyResult<Option<finding::Finding>> {
        let Some(mut state) = self.lock(py)? else { return Ok(None) };
        if state.batch.is_empty() && state.end.is_none() {
            return Ok(None);
        }
        self.pop(py, &mut state)?.map(Some).ok_or_else(|| PyStopAsyncIteration::new_err(()))
    }

    /// Waits a moment for the next finding, so that a cancelled task leaves no thread behind.
    fn _wait(&self, py: Python<'_>) -> PyResult<()> {
        match self.lock(py)? {
            Some(mut state) => state.fill(py, self.process, Some(Instant::now() + MOMENT)),
            None => {
                py.detach(|| thread::sleep(TICK));
                Ok(())
            }
        }
    }

    /// Checks the rest of the log without reporting its findings, and returns the counts of the whole log.
    fn summary(&self, py: Python<'_>) -> PyResult<Summary> {
        let mut state = self.lock(py)?.ok_or_else(|| in_use(py))?;
        loop {
            state.batch.clear();
            state.fill(py, self.process, None)?;
            if let (true, Some(end)) = (state.batch.is_empty(), &mut state.end) {
                let summary = Summary(end.summary);
                return end.error.take().map_or(Ok(summary), |error| Err(source::unreadable(py, &self.name, &error)));
            }
        }
    }

    /// Ends the check, so that the log is read no further.
    fn close(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }

    fn __repr__(&self) -> String {
        format!("<omen.Findings of {}>", self.name)
    }
}

impl Findings {
    /// Returns the state, unless a thread has it.
    fn lock(&self, py: Python<'_>) -> PyResult<Option<MutexGuard<'_, ReadState>>> {
        if self.is_stopped.load(Ordering::Relaxed) {
            return Err(ErrorClass::Usage.error(py, "the check was closed", Some("check the log again")));
        }
        match self.state.try_lock() {
            Ok(state) => Ok(Some(state)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Poisoned(_)) => Err(failed(py)),
        }
    }

    /// Takes the next finding. The error of an input is raised once, then the iterator is at its end.
    fn pop(&self, py: Python<'_>, state: &mut ReadState) -> PyResult<Option<finding::Finding>> {
        if let Some((found, text)) = state.batch.pop_front() {
            return Ok(Some(finding::Finding::new(&self.name, found, text)));
        }
        match state.end.as_mut().and_then(|end| end.error.take()) {
            Some(error) => Err(source::unreadable(py, &self.name, &error)),
            None => Ok(None),
        }
    }
}

impl Drop for Findings {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }
}

impl ReadState {
    /// Waits until there is a finding, or the end. The GIL is released while it waits, and signals are handled.
    fn fill(&mut self, py: Python<'_>, process: u32, until: Option<Instant>) -> PyResult<()> {
        while self.batch.is_empty() && self.end.is_none() {
            if process != process::id() {
                let message = "this check was begun in another process";
                return Err(ErrorClass::Usage.error(py, message, Some("call `omen.check` after `fork`")));
            }
            if until.is_some_and(|until| Instant::now() >= until) {
                return Ok(());
            }
            // What is known is taken before Python is asked for more, and Python is asked as long as there is room.
            let message = match self.receiver.try_recv() {
                Ok(message) => message,
                Err(_) if self.has_fed(py)? => continue,
                Err(_) => {
                    let receiver = &mut self.receiver;
                    match py.detach(move || receiver.recv_timeout(TICK)) {
                        Ok(message) => message,
                        Err(RecvTimeoutError::Timeout) => {
                            py.check_signals()?;
                            continue;
                        }
                        Err(RecvTimeoutError::Disconnected) => return Err(failed(py)),
                    }
                }
            };
            match message {
                Message::Findings(batch) => self.batch = batch,
                Message::Room => {}
                Message::End(summary, error) => self.end = Some(End { summary, error }),
            }
        }
        Ok(())
    }

    /// Passes on a chunk of a source that Python reads. Returns whether there is more to pass on.
    fn has_fed(&mut self, py: Python<'_>) -> PyResult<bool> {
        let Some(feed) = &mut self.feed else { return Ok(false) };
        match feed.step(py)? {
            FeedStep::Chunk => {
                py.check_signals()?;
                Ok(true)
            }
            FeedStep::Full => Ok(false),
            FeedStep::Ended => {
                self.feed = None;
                Ok(true)
            }
        }
    }
}

/// Work of the thread.
struct Work {
    reader: Stoppable,
    path: PathBuf,
    options: ValidatorOptions,
    jobs: NonZeroUsize,
    /// Whether the source is a file or in memory.
    is_whole: bool,
    sender: SyncSender<Message>,
}

impl Work {
    fn run(self) {
        let Self { reader, path, options, jobs, is_whole, sender } = self;
        let mut sink = BatchSink { sender, batch: VecDeque::new(), bytes: 0 };
        let judged = match input::decoded(Box::new(reader), &path) {
            Ok(reader) if is_whole => input::judge_whole(reader, Layout::Auto, options, jobs, &mut sink),
            Ok(reader) => input::judge(reader, Layout::Auto, AnyValidator::new(options, jobs), &mut sink),
            Err(error) => Err((ReadError::Input(error), omen::Summary::default())),
        };
        let end = match judged {
            Ok(summary) => Message::End(summary, None),
            Err((ReadError::Input(error), summary)) => Message::End(summary, Some(error)),
            Err((ReadError::Sink(ReceiverClosed), _)) => return,
        };
        if sink.send().is_ok() {
            // Without a receiver, nobody is interested in the end.
            let _ = sink.sender.send(end);
        }
    }
}

/// Error of the sink: nobody receives findings.
struct ReceiverClosed;

/// Sends findings in batches, within limits of their number and size.
struct BatchSink {
    sender: SyncSender<Message>,
    batch: Batch,
    /// Bytes of the lines in the batch.
    bytes: usize,
}

impl BatchSink {
    fn send(&mut self) -> Result<(), ReceiverClosed> {
        self.bytes = 0;
        let batch = std::mem::take(&mut self.batch);
        if batch.is_empty() { Ok(()) } else { self.sender.send(Message::Findings(batch)).map_err(|_| ReceiverClosed) }
    }
}

impl Sink for BatchSink {
    type Error = ReceiverClosed;

    fn finding(&mut self, finding: Finding, line: Option<&str>) -> Result<(), ReceiverClosed> {
        self.bytes += line.map_or(0, str::len);
        self.batch.push_back((finding, line.map(str::to_owned)));
        if self.batch.len() >= BATCH_FINDINGS || self.bytes >= BATCH_BYTES { self.send() } else { Ok(()) }
    }

    fn wants_packets(&self) -> bool {
        false
    }

    fn caught_up(&mut self) -> Result<(), ReceiverClosed> {
        self.send()
    }
}

fn in_use(py: Python<'_>) -> PyErr {
    let help = "iterate in one thread, or start a check for each";
    ErrorClass::Usage.error(py, "another thread is waiting for the next finding", Some(help))
}

fn failed(py: Python<'_>) -> PyErr {
    let help = "this is a bug in omen; please report it with the log";
    ErrorClass::Usage.error(py, "the thread that checks has failed", Some(help))
}

/// Number of batches that wait to be read.
const BATCHES: usize = 4;

/// Limits of a batch.
const BATCH_FINDINGS: usize = 256;
const BATCH_BYTES: usize = 1024 * 1024;

/// Time after which signals are handled.
const TICK: Duration = Duration::from_millis(50);

/// Time that a thread waits for `async for`.
const MOMENT: Duration = Duration::from_millis(100);
