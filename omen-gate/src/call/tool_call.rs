//! Call of a tool, from where its bytes enter to the server that gets them.

use std::sync::{Arc, OnceLock};

#[cfg(feature = "mcp")]
use omen_mcp::{CallToolRequest, Frame};
use serde_json::{Map, Value};

use super::call_hash::CallHash;
use crate::base::{NotExact, ToolId};
use omen_base::canonical::canonical_object;

/// Call of a tool. Whether it may be made is not decided yet. Clones share one value: the one that is judged is the one
/// that the server gets.
///
/// A call that a client's message asks for has that message, from which its tool and arguments were read, and the
/// server's response once there is one. So a program that relays messages sends the bytes that were judged.
#[derive(Clone, Debug)]
pub struct ToolCall(Arc<ToolCallParts>);

#[derive(Debug)]
struct ToolCallParts {
    tool: ToolId,
    args: Map<String, Value>,
    canonical: OnceLock<Result<Arc<CanonicalCall>, NotExact>>,
    #[cfg(feature = "mcp")]
    request: Option<Arc<CallToolRequest>>,
    #[cfg(feature = "mcp")]
    response: OnceLock<Frame>,
}

/// Arguments as canonical JSON, and the hash of the call. Both are computed once.
#[derive(Debug)]
pub(super) struct CanonicalCall {
    pub(super) args: String,
    pub(super) hash: CallHash,
}

impl ToolCall {
    /// Creates a call that no client's message asks for.
    pub(crate) fn new(tool: ToolId, args: Map<String, Value>) -> Self {
        Self(Arc::new(ToolCallParts {
            tool,
            args,
            canonical: OnceLock::new(),
            #[cfg(feature = "mcp")]
            request: None,
            #[cfg(feature = "mcp")]
            response: OnceLock::new(),
        }))
    }

    /// Creates the call that a client's message asks for, from what was read of it.
    #[cfg(feature = "mcp")]
    pub(crate) fn requested(tool: ToolId, args: Map<String, Value>, request: Arc<CallToolRequest>) -> Self {
        let (canonical, response) = (OnceLock::new(), OnceLock::new());
        Self(Arc::new(ToolCallParts { tool, args, canonical, request: Some(request), response }))
    }

    /// Tool to call. It may not exist.
    #[must_use]
    pub fn tool(&self) -> &ToolId {
        &self.0.tool
    }

    /// Arguments of the call.
    #[must_use]
    pub fn args(&self) -> &Map<String, Value> {
        &self.0.args
    }

    /// Hash that identifies tool and arguments; `None` if the arguments cannot be hashed exactly (D49).
    #[must_use]
    pub fn hash(&self) -> Option<CallHash> {
        self.canonical().ok().map(|canonical| canonical.hash)
    }

    pub(super) fn canonical(&self) -> Result<Arc<CanonicalCall>, NotExact> {
        let canonical = || {
            let args = canonical_object(&self.0.args)?;
            let hash = CallHash::new(&self.0.tool, &args)?;
            Ok(Arc::new(CanonicalCall { args: String::from_utf8_lossy(&args).into_owned(), hash }))
        };
        self.0.canonical.get_or_init(canonical).clone()
    }

    /// Message of the client that asks for the call, if one does.
    #[cfg(feature = "mcp")]
    #[must_use]
    pub fn request(&self) -> Option<&CallToolRequest> {
        self.0.request.as_deref()
    }

    /// Response of the server, byte for byte, if the call was made and answered with a message.
    #[cfg(feature = "mcp")]
    #[must_use]
    pub fn response(&self) -> Option<&Frame> {
        self.0.response.get()
    }

    /// Keeps the response. A call is made once (PG-6), so there is no other.
    #[cfg(feature = "mcp")]
    pub(crate) fn respond(&self, response: Frame) {
        let _ = self.0.response.set(response);
    }
}

/// Calls are equal if they ask for the same.
impl PartialEq for ToolCall {
    fn eq(&self, other: &Self) -> bool {
        (self.tool(), self.args()) == (other.tool(), other.args())
    }
}
