//! Tool call, from the arrival of its bytes to the server that receives it.

use std::sync::{Arc, OnceLock};

#[cfg(feature = "mcp")]
use omen_mcp::{CallToolRequest, Frame};
use serde_json::{Map, Value};

use super::call_hash::CallHash;
use crate::base::{NotExact, ToolId};
use omen_base::canonical::canonical_object;

/// Tool call that may not have been judged yet. Clones share one value, so the server receives exactly the call that
/// was judged.
///
/// A call requested by a client's message holds that message, from which its tool and arguments were read, and later
/// the server's response. A program that relays messages can thus send exactly the bytes that were judged.
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
    /// Creates a call that was not requested by a client's message.
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

    /// Creates a call requested by a client's message, from the tool and arguments read from it.
    #[cfg(feature = "mcp")]
    pub(crate) fn requested(tool: ToolId, args: Map<String, Value>, request: Arc<CallToolRequest>) -> Self {
        let (canonical, response) = (OnceLock::new(), OnceLock::new());
        Self(Arc::new(ToolCallParts { tool, args, canonical, request: Some(request), response }))
    }

    /// Returns the tool to call, which may not exist.
    #[must_use]
    pub fn tool(&self) -> &ToolId {
        &self.0.tool
    }

    /// Returns the arguments of the call.
    #[must_use]
    pub fn args(&self) -> &Map<String, Value> {
        &self.0.args
    }

    /// Returns the hash that identifies the tool and arguments; `None` if the arguments cannot be hashed exactly (D49).
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

    /// Returns the client's message that requests the call, if there is one.
    #[cfg(feature = "mcp")]
    #[must_use]
    pub fn request(&self) -> Option<&CallToolRequest> {
        self.0.request.as_deref()
    }

    /// Returns the server's response, byte for byte, if the call was made and answered with a message.
    #[cfg(feature = "mcp")]
    #[must_use]
    pub fn response(&self) -> Option<&Frame> {
        self.0.response.get()
    }

    /// Stores the response. A call is made once (PG-6), so it has only one.
    #[cfg(feature = "mcp")]
    pub(crate) fn respond(&self, response: Frame) {
        let _ = self.0.response.set(response);
    }
}

/// Calls are equal if they have the same tool and arguments.
impl PartialEq for ToolCall {
    fn eq(&self, other: &Self) -> bool {
        (self.tool(), self.args()) == (other.tool(), other.args())
    }
}
