//! Tool servers, as used by the gate.

pub(crate) mod discovery;
mod local;
#[cfg(feature = "mcp")]
pub mod mcp;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
#[cfg(feature = "mcp")]
use omen_mcp::{CallToolRequest, Frame};
use serde_json::{Map, Value};

#[cfg(feature = "test-util")]
use crate::base::ToolId;
use crate::base::{ServerName, ToolName, TurnId};
use crate::call::{Answer, Call, Fault, Tool, ToolCall};

pub(crate) use discovery::{CheckedServer, Discovery};
pub use local::{BadTool, Local};

/// Tool server. Only the gate calls it. An implementation needs no safeguards: the gate handles timeouts, panics and limits.
#[async_trait]
pub trait ToolServer: Debug + Send + Sync + 'static {
    /// Lists the current tools.
    ///
    /// # Errors
    /// If the server cannot be reached or returns an invalid list.
    async fn list(&self) -> Result<Vec<Tool>, Fault>;

    /// Same as [`list`](Self::list), for callers that list before each call. A server whose list is unchanged can
    /// return the same allocation, which saves comparing, checking and hashing the list again.
    ///
    /// # Errors
    /// As for [`list`](Self::list).
    async fn list_shared(&self) -> Result<Arc<[Tool]>, Fault> {
        self.list().await.map(Arc::from)
    }

    /// Calls a tool once. Dropping the future cancels the call.
    ///
    /// # Errors
    /// If there is no valid answer. An answer with `isError` is valid.
    async fn call(&self, dispatch: Dispatch) -> Result<Answer, Fault>;

    /// Returns a number that increases whenever the list may have changed. The gate lists the tools right before each
    /// call in any case; the number shows whether the list changed in the meantime, and whether the last list is good
    /// enough for earlier steps. A server whose list never changes stays at 0.
    fn revision(&self) -> u64 {
        0
    }
}

/// Call that a gate has let through. Only a gate creates it, and a server consumes one per call, so there is no other
/// path to a tool, and no second call (PG-6).
#[derive(Debug)]
pub struct Dispatch {
    turn: TurnId,
    call: ToolCall,
    revision: Option<u64>,
}

impl Dispatch {
    pub(crate) fn new(call: &Call, revision: u64) -> Self {
        Self { turn: call.turn().clone(), call: call.tool_call().clone(), revision: Some(revision) }
    }

    /// Creates a call that no gate has let through, for tests of servers. Requires the feature `test-util`, which
    /// production programs leave off.
    #[cfg(feature = "test-util")]
    #[must_use]
    pub fn unguarded(turn: TurnId, tool: ToolId, args: Map<String, Value>) -> Self {
        Self { turn, call: ToolCall::new(tool, args), revision: None }
    }

    /// Returns the turn of the call.
    #[must_use]
    pub fn turn(&self) -> &TurnId {
        &self.turn
    }

    /// Returns the tool to call.
    #[must_use]
    pub fn tool(&self) -> &ToolName {
        &self.call.tool().tool
    }

    /// Returns the arguments of the call.
    #[must_use]
    pub fn args(&self) -> &Map<String, Value> {
        self.call.args()
    }

    /// Returns the [revision](ToolServer::revision) of the server at which the gate read the tool. A server that has
    /// changed since must not carry out the call.
    #[must_use]
    pub fn revision(&self) -> Option<u64> {
        self.revision
    }

    /// Splits the call into tool and arguments.
    #[must_use]
    pub fn into_parts(self) -> (ToolName, Map<String, Value>) {
        (self.tool().clone(), self.args().clone())
    }

    /// Returns the client's message that requests the call, if there is one. What was judged was read from this message.
    #[cfg(feature = "mcp")]
    #[must_use]
    pub fn request(&self) -> Option<&CallToolRequest> {
        self.call.request()
    }

    /// Reads the server's response to that message and keeps its bytes with the call: whatever is judged from here on
    /// was read from them.
    ///
    /// # Errors
    /// If the response is an error or violates the protocol.
    #[cfg(feature = "mcp")]
    pub fn read_response(&self, response: Frame) -> Result<Answer, Fault> {
        let answer = mcp::answer_of(&response, self.call.request());
        self.call.respond(response);
        answer
    }
}

/// Error for a server that does not list its tools.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{server}` does not list its tools: {fault}")]
pub struct Unlisted {
    /// Server that failed.
    pub server: ServerName,
    /// Fault of the server.
    #[source]
    pub fault: Fault,
}

/// Asks every server for its tools, one after another. As JSON, the result is a catalogue: `{"server": [tool, …]}`.
///
/// # Errors
/// At the first server that does not list its tools. A catalogue with a gap would look like a server without tools.
pub async fn snapshot(
    servers: &BTreeMap<ServerName, Arc<dyn ToolServer>>,
) -> Result<BTreeMap<ServerName, Vec<Tool>>, Unlisted> {
    let mut catalogue = BTreeMap::new();
    for (server, tools) in servers {
        let tools = tools.list().await.map_err(|fault| Unlisted { server: server.clone(), fault })?;
        catalogue.insert(server.clone(), tools);
    }
    Ok(catalogue)
}
