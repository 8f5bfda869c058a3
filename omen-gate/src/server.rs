//! What a tool server is to the gate.

mod local;
mod snapshot;

use std::fmt::Debug;

use async_trait::async_trait;
use serde_json::{Map, Value};

use crate::tool::{Answer, Tool};
use crate::{Fault, ToolName};

pub use local::{BadTool, Local};
pub use snapshot::{Unlisted, snapshot};

/// A server of tools. The gate alone calls it; whoever implements it need not guard anything, for
/// timeouts, panics and limits are seen to outside.
#[async_trait]
pub trait ToolServer: Debug + Send + Sync + 'static {
    /// Lists the tools as they are now.
    ///
    /// # Errors
    /// If the server cannot be asked, or gives no proper list.
    async fn list(&self) -> Result<Vec<Tool>, Fault>;

    /// Calls a tool once. Dropping the future cancels the call.
    ///
    /// # Errors
    /// If there is no proper answer. An answer with `isError` is an answer.
    async fn call(&self, tool: &ToolName, args: Map<String, Value>) -> Result<Answer, Fault>;

    /// A number that goes up whenever the list may have changed: a list is as good as new while the number is the
    /// one that was read before it was asked for. A server whose list never changes stays at 0.
    fn revision(&self) -> u64 {
        0
    }
}
