//! R3: failed calls, as one closed type.

mod class;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

pub use class::{FaultClass, Ran};
use tokio::runtime::Handle;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::base::bounded;

/// Failed call. Every failure, timeout, panic and malformed answer maps to one variant, determined only by what
/// happened (R3). Text from outside is truncated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// No answer arrived in time.
    #[error("no answer within {after:?}")]
    Timeout {
        /// Time that the gate waited for the answer.
        after: Duration,
    },
    /// The call was cancelled.
    #[error("the call was cancelled")]
    Cancelled,
    /// The server could not be started or reached; the tool did not run.
    #[error("the server cannot be reached: {why}")]
    Unreachable {
        /// Reason, truncated to a bounded length.
        why: String,
    },
    /// The server ended or the connection broke during the call. Whether the tool ran is unknown.
    #[error("the server died during the call: {why}")]
    Died {
        /// Reason, truncated to a bounded length.
        why: String,
    },
    /// Code in the tool or its client panicked.
    #[error("the call panicked")]
    Panicked,
    /// The answer is larger than the limit.
    #[error("the answer is larger than {limit} bytes")]
    Oversized {
        /// Limit in bytes.
        limit: u64,
    },
    /// The answer violates the protocol.
    #[error("the answer is malformed: {why}")]
    Malformed {
        /// Reason, truncated to a bounded length.
        why: String,
    },
    /// The server returned a protocol error (JSON-RPC), e.g. for an unknown tool.
    #[error("the server refused the call ({code}): {message}")]
    Refused {
        /// JSON-RPC error code.
        code: i64,
        /// Message from the server, truncated to a bounded length.
        message: String,
    },
    /// The tool ran and reported a failure (`isError`).
    #[error("the tool reports an error: {message}")]
    Tool {
        /// Message from the tool, truncated to a bounded length.
        message: String,
    },
}

impl Fault {
    /// Returns a description without text from the tool, its server or a library, which may quote the arguments.
    #[must_use]
    pub fn unquoted(&self) -> String {
        match self {
            Self::Timeout { .. } | Self::Cancelled | Self::Panicked | Self::Oversized { .. } => self.to_string(),
            Self::Unreachable { .. } => "the server cannot be reached".to_owned(),
            Self::Died { .. } => "the server died during the call".to_owned(),
            Self::Malformed { .. } => "the answer is malformed".to_owned(),
            Self::Refused { code, .. } => format!("the server refused the call ({code})"),
            Self::Tool { .. } => "the tool reports an error".to_owned(),
        }
    }
}

impl Fault {
    /// Returns a description for a planner (R3). It includes the server's message only if the error says that the
    /// request was invalid (JSON-RPC `-32602` to `-32600`), and the message of a tool that reported its own failure.
    #[must_use]
    pub fn typed(&self) -> String {
        match self {
            Self::Refused { .. } if !self.is_of_request() => self.unquoted(),
            _ => self.to_string(),
        }
    }

    /// Returns whether the server's error says that the request was invalid.
    #[must_use]
    pub fn is_of_request(&self) -> bool {
        matches!(self, Self::Refused { code, .. } if REQUEST_WAS_WRONG.contains(code))
    }
}

/// JSON-RPC codes for an invalid request, an unknown method and invalid parameters.
const REQUEST_WAS_WRONG: std::ops::RangeInclusive<i64> = -32602..=-32600;

// Constructors for faults with foreign text, which they truncate.
impl Fault {
    /// Creates the fault of a server that could not be started or reached.
    #[must_use]
    pub fn unreachable(why: &str) -> Self {
        Self::Unreachable { why: bounded(why) }
    }

    /// Creates the fault of a server that ended, or a connection that broke, during the call.
    #[must_use]
    pub fn died(why: &str) -> Self {
        Self::Died { why: bounded(why) }
    }

    /// Creates the fault of an answer that violates the protocol.
    #[must_use]
    pub fn malformed(why: &str) -> Self {
        Self::Malformed { why: bounded(why) }
    }

    /// Creates the fault of a protocol error by the server.
    #[must_use]
    pub fn refused(code: i64, message: &str) -> Self {
        Self::Refused { code, message: bounded(message) }
    }

    /// Creates the fault of a tool that reports its own failure.
    #[must_use]
    pub fn tool(message: &str) -> Self {
        Self::Tool { message: bounded(message) }
    }
}

/// Runs a call as a separate task with a time limit. A call that exceeds the limit is aborted, a panic becomes a fault,
/// and dropping the future aborts the call. Requires a tokio runtime with time enabled.
///
/// A call that blocks its thread cannot be aborted: it is abandoned on time only if the runtime has another thread, and
/// its own thread is lost.
///
/// # Errors
/// The call's own error; [`Fault::Timeout`], [`Fault::Panicked`] or [`Fault::Cancelled`]; or [`Fault::Unreachable`]
/// outside a tokio runtime.
pub async fn guarded<T, F>(limit: Duration, call: F) -> Result<T, Fault>
where
    T: Send + 'static,
    F: Future<Output = Result<T, Fault>> + Send + 'static,
{
    let Ok(runtime) = Handle::try_current() else {
        return Err(Fault::Unreachable { why: "no tokio runtime is running".to_owned() });
    };
    // A `JoinSet` aborts its tasks when dropped.
    let mut task = JoinSet::new();
    task.spawn_on(call, &runtime);
    match timeout(limit, task.join_next()).await {
        Err(_) => Err(Fault::Timeout { after: limit }),
        Ok(Some(Ok(outcome))) => outcome,
        Ok(Some(Err(error))) if error.is_panic() => Err(Fault::Panicked),
        Ok(Some(Err(_)) | None) => Err(Fault::Cancelled),
    }
}

/// Runs foreign synchronous code.
///
/// # Errors
/// [`Fault::Panicked`] if the code panics.
pub(crate) fn caught<T>(run: impl FnOnce() -> T) -> Result<T, Fault> {
    // Unwind safe: state that the code leaves half changed is not used here.
    catch_unwind(AssertUnwindSafe(run)).map_err(|_| Fault::Panicked)
}
