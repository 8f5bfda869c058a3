//! What a tool server is to the gate.

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

pub(crate) use discovery::{Discovery, Form};
pub use local::{BadTool, Local};
pub use snapshot::{Unlisted, snapshot};

/// A server of tools. Only the gate calls it. An implementation need not guard anything:
/// the gate handles timeouts, panics and limits.
#[async_trait]
pub trait ToolServer: Debug + Send + Sync + 'static {
    /// Lists the tools as they are now.
    ///
    /// # Errors
    /// If the server cannot be asked, or gives no proper list.
    async fn list(&self) -> Result<Vec<Tool>, Fault>;

    /// As [`list`](Self::list), for a caller that asks before each call. A server that knows its answer to be the same as the
    /// last one gives the same allocation again: then nothing of it is compared, judged or hashed again.
    ///
    /// # Errors
    /// As [`list`](Self::list).
    async fn list_shared(&self) -> Result<Arc<[Tool]>, Fault> {
        self.list().await.map(Arc::from)
    }

    /// Calls a tool once. Dropping the future cancels the call.
    ///
    /// # Errors
    /// If there is no proper answer. An answer with `isError` is an answer.
    async fn call(&self, dispatch: Dispatch) -> Result<Answer, Fault>;

    /// A number that goes up whenever the list may have changed. The gate asks for the list right before each call,
    /// whatever the number is; the number says whether the list changed while it was asked for, and whether the last list
    /// is good enough to begin with. A server whose list never changes stays at 0.
    fn revision(&self) -> u64 {
        0
    }
}

/// One call that a gate has let through. Only a gate makes one, and a server takes one for each call: so there is no
/// other way to a tool, and none to call twice (PG-6).
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

    /// A call that no gate has let through, for tests of servers. Only with the feature `test-util`, which no program
    /// that matters turns on.
    #[cfg(feature = "test-util")]
    #[must_use]
    pub fn unguarded(turn: TurnId, tool: ToolName, args: Map<String, Value>) -> Self {
        Self { turn, tool, args, revision: None }
    }

    /// The turn that it is for.
    #[must_use]
    pub fn turn(&self) -> &TurnId {
        &self.turn
    }

    /// The tool.
    #[must_use]
    pub fn tool(&self) -> &ToolName {
        &self.tool
    }

    /// The arguments.
    #[must_use]
    pub fn args(&self) -> &Map<String, Value> {
        &self.args
    }

    /// The server's [revision](ToolServer::revision) at which the gate has read the tool. A server that has become
    /// another since must not carry the call out.
    #[must_use]
    pub fn revision(&self) -> Option<u64> {
        self.revision
    }

    /// Tool and arguments.
    #[must_use]
    pub fn into_parts(self) -> (ToolName, Map<String, Value>) {
        (self.tool, self.args)
    }
}
