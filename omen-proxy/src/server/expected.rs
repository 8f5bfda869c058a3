//! The calls of the client that the gate may let through, by their turns.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use omen_gate::server::Dispatch;
use omen_gate::{ToolName, TurnId, canonical};
use serde_json::{Map, Value};

use omen_mcp::frame::Frame;
use omen_mcp::handshake::Era;

/// Calls that are judged now. A turn of the proxy is one call.
#[derive(Debug, Default)]
pub(crate) struct Expected(Mutex<HashMap<TurnId, Arc<Call>>>);

/// A call as the client sent it, and the answer as the server did.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) frame: Frame,
    pub(crate) era: Era,
    /// It asks to run as a task.
    pub(crate) is_task: bool,
    tool: ToolName,
    args: Map<String, Value>,
    answer: Mutex<Option<Frame>>,
}

impl Call {
    pub(crate) fn new(frame: Frame, era: Era, is_task: bool, tool: ToolName, args: Map<String, Value>) -> Self {
        Self { frame, era, is_task, tool, args, answer: Mutex::default() }
    }

    /// Keeps the answer, to be passed on as it is once the gate has let it pass.
    pub(super) fn answered(&self, response: Frame) {
        *lock(&self.answer) = Some(response);
    }

    pub(crate) fn answer(&self) -> Option<Frame> {
        lock(&self.answer).take()
    }
}

impl Expected {
    /// Expects a call until the returned value is dropped.
    pub(crate) fn expect(&self, turn: &TurnId, call: Arc<Call>) -> Expecting<'_> {
        lock(&self.0).insert(turn.clone(), call);
        Expecting { expected: self, turn: turn.clone() }
    }

    /// The frame behind a call that the gate has let through, once: that of the turn, if it asks for the same.
    pub(super) fn take(&self, dispatch: &Dispatch) -> Option<Arc<Call>> {
        let call = lock(&self.0).remove(dispatch.turn())?;
        let same_args = || {
            let judged = canonical(&Value::Object(dispatch.args().clone())).ok()?;
            let sent = canonical(&Value::Object(call.args.clone())).ok()?;
            (judged == sent).then_some(())
        };
        (call.tool == *dispatch.tool() && same_args().is_some()).then_some(call)
    }
}

/// A call that is expected.
pub(crate) struct Expecting<'e> {
    expected: &'e Expected,
    turn: TurnId,
}

impl Drop for Expecting<'_> {
    fn drop(&mut self) {
        lock(&self.expected.0).remove(&self.turn);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
