//! The lines of the protocol.

use omen_gate::confirm::Responder;
use serde::{Deserialize, Serialize};

/// The version of the protocol.
pub const PROTOCOL: u32 = 1;

/// A line from the gate to a front end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Message {
    /// The first line.
    Hello {
        /// The version of the protocol.
        protocol: u32,
        /// The process that asks.
        pid: u32,
    },
    /// A call that waits for an answer.
    Question {
        /// Identifies the question on this socket; never used twice.
        id: u64,
        /// The server of the tool.
        server: String,
        /// The tool.
        tool: String,
        /// What the tool can do, in the operator's judgement.
        permissions: Vec<String>,
        /// The arguments as canonical JSON. Foreign text may be in them: show it with care.
        args: String,
        /// Identifies server, tool and arguments.
        hash: String,
        /// The turn of the call.
        turn: String,
        /// How long the question waits, in seconds.
        seconds_left: u64,
    },
    /// All questions that waited when the front end connected were sent.
    Listed,
    /// A question no longer waits.
    Closed {
        /// The question.
        id: u64,
        /// What became of it.
        outcome: OutcomeOfQuestion,
        /// Who answered, if somebody did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Responder>,
    },
    /// An answer counts.
    Accepted {
        /// The question.
        id: u64,
    },
    /// An answer does not count.
    Refused {
        /// The question; none if the answer could not be read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<u64>,
        /// Why.
        why: String,
    },
    /// A type that this version does not know.
    #[serde(other)]
    Unknown,
}

/// What became of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OutcomeOfQuestion {
    /// Somebody confirmed the call.
    Confirmed,
    /// Somebody denied the call.
    Denied,
    /// Nobody answered in time.
    TimedOut,
    /// The call ended while its question waited.
    Withdrawn,
}

/// A line from a front end to the gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The type of the line.
    pub r#type: AnswerType,
    /// The question.
    pub id: u64,
    /// The hash of the question as it was shown.
    pub hash: String,
    /// Whether the call may be made.
    pub confirm: bool,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// The one type of line that a front end sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerType {
    /// An answer.
    Answer,
}

impl Answer {
    /// An answer to a question.
    #[must_use]
    pub fn new(id: u64, hash: impl Into<String>, confirm: bool) -> Self {
        Self { r#type: AnswerType::Answer, id, hash: hash.into(), confirm, why: None }
    }
}
