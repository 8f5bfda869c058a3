//! Server whose tools are Python functions, and the confirmer in Python.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use omen_gate::confirm::{Confirmer, Nobody, Question, Reply};
use omen_gate::server::{Dispatch, ToolServer};
use omen_gate::tool::{Answer, Tool};
use omen_gate::{Fault, ToolName};
use serde_json::Value;
use tokio::sync::oneshot;

use super::callers::{Callers, Event};

/// Server of this program. It knows the forms of the tools; the functions stay in Python.
#[derive(Debug)]
pub(super) struct PythonServer {
    tools: RwLock<BTreeMap<ToolName, Tool>>,
    revision: AtomicU64,
    callers: Arc<Callers>,
}

impl PythonServer {
    pub(super) fn new(callers: Arc<Callers>) -> Self {
        Self { tools: RwLock::default(), revision: AtomicU64::new(0), callers }
    }

    /// Adds a tool, or replaces the one of its name, and returns whether the list has changed.
    pub(super) fn put(&self, tool: Tool) -> bool {
        let mut tools = self.tools.write().unwrap_or_else(PoisonError::into_inner);
        if tools.get(&tool.name) == Some(&tool) {
            return false;
        }
        tools.insert(tool.name.clone(), tool);
        self.revision.fetch_add(1, Ordering::Release);
        true
    }
}

#[async_trait]
impl ToolServer for PythonServer {
    async fn list(&self) -> Result<Vec<Tool>, Fault> {
        Ok(self.tools.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect())
    }

    async fn call(&self, dispatch: Dispatch) -> Result<Answer, Fault> {
        let Some(caller) = self.callers.get(dispatch.turn()) else {
            return Err(Fault::unreachable("the caller in Python has gone away"));
        };
        let (reply, answered) = oneshot::channel();
        caller.send(Event::Run { args: Value::Object(dispatch.args().clone()).to_string(), reply });
        answered.await.unwrap_or_else(|_| Err(Fault::died("the caller in Python has gone away")))
    }

    fn revision(&self) -> u64 {
        self.revision.load(Ordering::Acquire)
    }
}

/// Server of a gate. The gate owns its servers; the program adds tools to its own later.
#[derive(Debug)]
pub(super) struct SharedServer(pub(super) Arc<PythonServer>);

#[async_trait]
impl ToolServer for SharedServer {
    async fn list(&self) -> Result<Vec<Tool>, Fault> {
        self.0.list().await
    }

    async fn call(&self, dispatch: Dispatch) -> Result<Answer, Fault> {
        self.0.call(dispatch).await
    }

    fn revision(&self) -> u64 {
        self.0.revision()
    }
}

/// Confirmer that asks the caller of the call, whose program has a function for it. Without one it denies.
#[derive(Debug)]
pub(super) struct PythonConfirmer {
    pub(super) callers: Arc<Callers>,
    pub(super) is_set: Arc<AtomicBool>,
}

#[async_trait]
impl Confirmer for PythonConfirmer {
    async fn confirm(&self, question: &Question) -> Reply {
        let denied = |why: &str| Reply::Denied { why: why.to_owned() };
        if !self.is_set.load(Ordering::Acquire) {
            return Nobody.confirm(question).await;
        }
        let Some(caller) = self.callers.get(&question.turn) else {
            return denied("the caller in Python has gone away");
        };
        let mut text = serde_json::to_value(question).unwrap_or_default();
        if let Value::Object(members) = &mut text {
            members.insert("timeout_seconds".to_owned(), question.timeout.as_secs_f64().into());
        }
        let (reply, answered) = oneshot::channel();
        caller.send(Event::Confirm { question: text.to_string(), reply });
        answered.await.unwrap_or_else(|_| denied("the caller in Python has gone away"))
    }
}
