//! Tool servers as the gate uses them.

pub(crate) mod discovery;
mod local;
#[cfg(feature = "mcp")]
pub mod mcp;
mod snapshot;

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value};

use crate::base::{ToolName, TurnId};
use crate::call::{Answer, Call, Fault, Tool};

pub(crate) use discovery::{CheckedServer, Discovery};
pub use local::{BadTool, Local};
pub use snapshot::{Unlisted, snapshot};

/// Server of tools. Only the gate calls it. An implementation needs no safeguards: the gate handles timeouts, panics
/// and limits.
#[async_trait]
pub trait ToolServer: Debug + Send + Sync + 'static {
    /// Lists the current tools.
    ///
    /// # Errors
    /// If the server cannot be reached, or returns an invalid list.
    async fn list(&self) -> Result<Vec<Tool>, Fault>;

    /// Same as [`list`](Self::list), for callers that list before each call. A server whose list is unchanged can
    /// return the same allocation, which saves comparing, checking and hashing it again.
    ///
    /// # Errors
    /// As [`list`](Self::list).
    async fn list_shared(&self) -> Result<Arc<[Tool]>, Fault> {
        self.list().await.map(Arc::from)
    }

    /// Calls a tool once. Dropping the future cancels the call.
    ///
    /// # Errors
    /// If there is no valid answer. An answer with `isError` is valid.
    async fn call(&self, dispatch: Dispatch) -> Result<Answer, Fault>;

    /// Number that increases whenever the list may have changed. The gate lists the tools right before each call in any
    /// case; the number shows whether the list changed during that, and whether the last list suffices for earlier
    /// steps. A server whose list never changes stays at 0.
    fn revision(&self) -> u64 {
        0
    }
}

/// One call that a gate has let through. Only a gate creates it, and a server consumes one per call, so there is no
/// other path to a tool, and no second call (PG-6).
#[derive(Debug)]
pub struct Dispatch {
    turn: TurnId,
    tool: ToolName,
    args: Map<String, Value>,
    revision: Option<u64>,
}

impl Dispatch {
    pub(crate) fn new(call: &Call, revision: u64) -> Self {
        let (turn, tool, args) = (call.turn().clone(), call.tool().tool.clone(), call.args().clone());
        Self { turn, tool, args, revision: Some(revision) }
    }

    /// Creates a call that no gate has let through, for tests of servers. Only with the feature `test-util`, which
    /// production programs leave off.
    #[cfg(feature = "test-util")]
    #[must_use]
    pub fn unguarded(turn: TurnId, tool: ToolName, args: Map<String, Value>) -> Self {
        Self { turn, tool, args, revision: None }
    }

    /// Turn of the call.
    #[must_use]
    pub fn turn(&self) -> &TurnId {
        &self.turn
    }

    /// Tool to call.
    #[must_use]
    pub fn tool(&self) -> &ToolName {
        &self.tool
    }

    /// Arguments of the call.
    #[must_use]
    pub fn args(&self) -> &Map<String, Value> {
        &self.args
    }

    /// [Revision](ToolServer::revision) of the server at which the gate read the tool. A server that has changed since
    /// must not carry the call out.
    #[must_use]
    pub fn revision(&self) -> Option<u64> {
        self.revision
    }

    /// Splits into tool and arguments.
    #[must_use]
    pub fn into_parts(self) -> (ToolName, Map<String, Value>) {
        (self.tool, self.args)
    }
}
