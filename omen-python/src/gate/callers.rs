//! Python threads and event loops that wait for calls, by the turn of each call.

use std::collections::BTreeMap;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use omen_gate::TurnId;
use omen_gate::confirm::Reply;
use omen_gate::tool::Answer;
use omen_gate::{CallHash, Fault};
use pyo3::prelude::*;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// What a caller in Python has to do next for its call.
pub(super) enum Event {
    /// Run the tool with these arguments, in JSON: the gate has let the call through, and its intent is in the log.
    Run { args: String, reply: oneshot::Sender<Result<Answer, Fault>> },
    /// Ask whether the call may be made; question in JSON.
    Confirm { question: String, reply: oneshot::Sender<Reply> },
    /// Take the answer of the call, or the refusal, in JSON.
    End(Result<String, String>),
}

impl Event {
    /// Whether the gate no longer waits for the reply.
    pub(super) fn is_stale(&self) -> bool {
        match self {
            Self::Run { reply, .. } => reply.is_closed(),
            Self::Confirm { reply, .. } => reply.is_closed(),
            Self::End(_) => false,
        }
    }
}

/// Caller of one call. When its last clone is dropped, the caller learns that nothing more will come.
#[derive(Clone)]
pub(super) struct Caller(Arc<CallerParts>);

struct CallerParts {
    events: Option<Sender<Event>>,
    /// Function that wakes an event loop; a thread waits for the events itself.
    wake: Option<Arc<Py<PyAny>>>,
    runtime: Handle,
    hash: Mutex<Option<CallHash>>,
}

impl Caller {
    pub(super) fn new(events: Sender<Event>, wake: Option<Py<PyAny>>, runtime: &Handle) -> Self {
        let (events, wake, runtime) = (Some(events), wake.map(Arc::new), runtime.clone());
        Self(Arc::new(CallerParts { events, wake, runtime, hash: Mutex::default() }))
    }

    /// Sends an event. A caller that has gone away needs none.
    pub(super) fn send(&self, event: Event) {
        if self.0.events.as_ref().is_some_and(|events| events.send(event).is_ok()) {
            self.0.wake();
        }
    }

    /// Hash of the call, once it has been read.
    pub(super) fn hash(&self) -> Option<CallHash> {
        *self.0.hash.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set_hash(&self, hash: Option<CallHash>) {
        *self.0.hash.lock().unwrap_or_else(PoisonError::into_inner) = hash;
    }
}

impl CallerParts {
    fn wake(&self) {
        let Some(wake) = self.wake.clone() else { return };
        // On a thread that may wait for the interpreter's lock. At the end of the interpreter nobody is woken.
        drop(self.runtime.spawn_blocking(move || {
            Python::try_attach(|py| {
                // The event loop may be closed: then nobody waits.
                let _ = wake.call0(py);
            });
        }));
    }
}

impl Drop for CallerParts {
    fn drop(&mut self) {
        drop(self.events.take());
        self.wake();
    }
}

/// Open calls of a gate.
#[derive(Default)]
pub(super) struct Callers {
    open: Mutex<BTreeMap<TurnId, Caller>>,
    ended: Condvar,
}

impl std::fmt::Debug for Callers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Callers").finish_non_exhaustive()
    }
}

/// Entry of an open call. Dropping it, after everything else of the call, removes the entry.
pub(super) struct OpenCall {
    callers: Arc<Callers>,
    turn: TurnId,
}

impl Callers {
    pub(super) fn add(self: &Arc<Self>, turn: &TurnId, caller: Caller) -> OpenCall {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).insert(turn.clone(), caller);
        OpenCall { callers: Arc::clone(self), turn: turn.clone() }
    }

    pub(super) fn get(&self, turn: &TurnId) -> Option<Caller> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).get(turn).cloned()
    }

    /// Waits until no call is open, no longer than `patience`.
    pub(super) fn wait_until_none(&self, patience: Duration) {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.ended.wait_timeout_while(open, patience, |open| !open.is_empty()));
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        self.callers.open.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.turn);
        self.callers.ended.notify_all();
    }
}
