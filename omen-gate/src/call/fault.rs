//! R3: what can go wrong with a call, as one closed type.

mod class;
mod guard;

use std::time::Duration;

pub use class::{FaultClass, Ran};
pub(crate) use guard::caught;
pub use guard::guarded;

use crate::base::bounded;

/// How a call failed. Every failure, timeout, panic and malformed answer is one of these, and which one
/// depends on nothing but what happened (R3). No text of a foreign error gets past this type unbounded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// There was no answer in time.
    #[error("no answer within {after:?}")]
    Timeout {
        /// How long the gate waited.
        after: Duration,
    },
    /// The call was cancelled.
    #[error("the call was cancelled")]
    Cancelled,
    /// The server could not be started or reached; the tool did not run.
    #[error("the server cannot be reached: {why}")]
    Unreachable {
        /// Why, cut to a bounded length.
        why: String,
    },
    /// The server ended or the connection broke while the call was open: whether the tool ran is not known.
    #[error("the server died during the call: {why}")]
    Died {
        /// What is known of it, cut to a bounded length.
        why: String,
    },
    /// The code of the tool or of its client panicked.
    #[error("the call panicked")]
    Panicked,
    /// The answer is larger than the limit.
    #[error("the answer is larger than {limit} bytes")]
    Oversized {
        /// The limit, in bytes.
        limit: u64,
    },
    /// The answer is not what the protocol promises.
    #[error("the answer is malformed: {why}")]
    Malformed {
        /// What is wrong with it, cut to a bounded length.
        why: String,
    },
    /// The server answered with an error of the protocol (JSON-RPC), such as an unknown tool.
    #[error("the server refused the call ({code}): {message}")]
    Refused {
        /// The protocol's error code.
        code: i64,
        /// The server's words, cut to a bounded length.
        message: String,
    },
    /// The tool ran and says itself that it failed (`isError`).
    #[error("the tool reports an error: {message}")]
    Tool {
        /// The tool's words, cut to a bounded length.
        message: String,
    },
}

impl Fault {
    /// What happened, without a text of the tool, its server or a library: that may quote what the tool was called with.
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
    /// What happened, as a planner reads it (R3): with the words of a server only where its error says that the request was
    /// wrong (`-32602` to `-32600` of JSON-RPC), and with those of a tool that has answered by itself.
    #[must_use]
    pub fn typed(&self) -> String {
        match self {
            Self::Refused { .. } if !self.is_of_request() => self.unquoted(),
            _ => self.to_string(),
        }
    }

    /// Whether the server's error says that the request was wrong.
    #[must_use]
    pub fn is_of_request(&self) -> bool {
        matches!(self, Self::Refused { code, .. } if REQUEST_WAS_WRONG.contains(code))
    }
}

/// The codes of JSON-RPC for a request that is invalid, of an unknown method, or with invalid parameters.
const REQUEST_WAS_WRONG: std::ops::RangeInclusive<i64> = -32602..=-32600;

// The ways to make a fault of foreign text: whatever is cut off is cut off here.
impl Fault {
    /// The server could not be started or reached.
    #[must_use]
    pub fn unreachable(why: &str) -> Self {
        Self::Unreachable { why: bounded(why) }
    }

    /// The server ended or the connection broke while the call was open.
    #[must_use]
    pub fn died(why: &str) -> Self {
        Self::Died { why: bounded(why) }
    }

    /// The answer is not what the protocol promises.
    #[must_use]
    pub fn malformed(why: &str) -> Self {
        Self::Malformed { why: bounded(why) }
    }

    /// The server answered with an error of the protocol.
    #[must_use]
    pub fn refused(code: i64, message: &str) -> Self {
        Self::Refused { code, message: bounded(message) }
    }

    /// The tool says that it failed.
    #[must_use]
    pub fn tool(message: &str) -> Self {
        Self::Tool { message: bounded(message) }
    }
}
