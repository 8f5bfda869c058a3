//! Call that Python waits for.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use omen_gate::Fault;
use omen_gate::confirm::Reply;
use omen_gate::tool::Answer;
use pyo3::prelude::*;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

use super::callers::Event;

/// Call on its way through the gate, as its caller sees it. Dropping it means that the caller has gone away.
#[pyclass(frozen, module = "omen._core")]
pub(super) struct PendingCall {
    events: Mutex<Receiver<Event>>,
    reply: Mutex<Option<Waiting>>,
    task: AbortHandle,
    process: u32,
}

/// What the gate waits for.
enum Waiting {
    Tool(oneshot::Sender<Result<Answer, Fault>>),
    Confirmation(oneshot::Sender<Reply>),
}

impl PendingCall {
    pub(super) fn new(events: Receiver<Event>, task: AbortHandle) -> Self {
        Self { events: Mutex::new(events), reply: Mutex::default(), task, process: std::process::id() }
    }

    fn take(&self) -> Option<Waiting> {
        self.reply.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

#[pymethods]
impl PendingCall {
    /// Next event within so many seconds, as its kind and its data in JSON; `None` if there is none yet.
    fn next(&self, py: Python<'_>, seconds: f64) -> Option<(&'static str, String)> {
        let patience = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        let event = py.detach(|| {
            let events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
            loop {
                match events.recv_timeout(patience) {
                    // The gate has given the call up meanwhile: nothing runs any more, and another event follows.
                    Ok(event) if event.is_stale() => {}
                    event => break event,
                }
            }
        });
        let (kind, data, waiting) = match event {
            Ok(Event::Run { args, reply }) => ("run", args, Some(Waiting::Tool(reply))),
            Ok(Event::Confirm { question, reply }) => ("confirm", question, Some(Waiting::Confirmation(reply))),
            Ok(Event::End(Ok(answer))) => ("answer", answer, None),
            Ok(Event::End(Err(refused))) => ("refused", refused, None),
            Err(RecvTimeoutError::Timeout) => return None,
            Err(RecvTimeoutError::Disconnected) => ("closed", "{}".to_owned(), None),
        };
        *self.reply.lock().unwrap_or_else(PoisonError::into_inner) = waiting;
        Some((kind, data))
    }

    /// Gives the answer of the tool, in JSON as the Model Context Protocol has it.
    fn answer(&self, answer: &str) {
        if let Some(Waiting::Tool(reply)) = self.take() {
            let read = serde_json::from_str(answer);
            // The call may be over already: then nobody is waiting for the answer.
            let _ = reply.send(read.map_err(|error| Fault::malformed(&error.to_string())));
        }
    }

    /// Confirms the call, once.
    fn confirm(&self) {
        if let Some(Waiting::Confirmation(reply)) = self.take() {
            let _ = reply.send(Reply::Confirmed);
        }
    }

    /// Denies the call.
    fn deny(&self, why: String) {
        if let Some(Waiting::Confirmation(reply)) = self.take() {
            let _ = reply.send(Reply::Denied { why });
        }
    }

    /// Stops waiting: the log gets the outcome that the tool may have run, if it was called.
    fn abandon(&self) {
        self.task.abort();
    }
}

impl Drop for PendingCall {
    fn drop(&mut self) {
        // In a forked child, the call is the parent's.
        if self.process == std::process::id() {
            self.task.abort();
        }
    }
}
