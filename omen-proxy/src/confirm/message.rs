//! Lines of the protocol.

use omen_gate::confirm::Responder;
use serde::{Deserialize, Serialize};

/// Protocol version.
pub const PROTOCOL: u32 = 1;

/// Line from the gate to a front end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Message {
    /// The first line.
    Hello {
        /// Protocol version.
        protocol: u32,
        /// Id of the gate's process.
        pid: u32,
    },
    /// A call that waits for an answer.
    Question {
        /// Id of the question, unique on this socket and never reused.
        id: u64,
        /// Server of the tool.
        server: String,
        /// Name of the tool.
        tool: String,
        /// Permissions of the tool, according to the operator.
        permissions: Vec<String>,
        /// Arguments as canonical JSON. They may contain foreign text, so show them with care.
        args: String,
        /// Hash that identifies the server, tool and arguments.
        hash: String,
        /// Turn of the call.
        turn: String,
        /// Remaining time of the question, in seconds.
        seconds_left: u64,
    },
    /// All questions that were waiting when the front end connected have been sent.
    Listed,
    /// A question is no longer waiting.
    Closed {
        /// Id of the question.
        id: u64,
        /// Outcome of the question.
        outcome: OutcomeOfQuestion,
        /// Person who answered, if anyone did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Responder>,
    },
    /// An answer counts.
    Accepted {
        /// Id of the question.
        id: u64,
    },
    /// An answer does not count.
    Refused {
        /// Id of the question; `None` if the answer could not be read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<u64>,
        /// Reason why the answer does not count.
        why: String,
    },
    /// A type unknown to this version.
    #[serde(other)]
    Unknown,
}

/// Outcome of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OutcomeOfQuestion {
    /// Someone confirmed the call.
    Confirmed,
    /// Someone denied the call.
    Denied,
    /// Nobody answered in time.
    TimedOut,
    /// The call ended while its question was waiting.
    Withdrawn,
}

/// Line from a front end to the gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// Type of the line.
    pub r#type: AnswerType,
    /// Id of the question.
    pub id: u64,
    /// Hash of the question as shown.
    pub hash: String,
    /// Whether the call may be made.
    pub confirm: bool,
    /// Reason for denying the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// The only type of line that a front end sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerType {
    /// An answer.
    Answer,
}

impl Answer {
    /// Creates an answer to a question.
    #[must_use]
    pub fn new(id: u64, hash: impl Into<String>, confirm: bool) -> Self {
        Self { r#type: AnswerType::Answer, id, hash: hash.into(), confirm, why: None }
    }
}
