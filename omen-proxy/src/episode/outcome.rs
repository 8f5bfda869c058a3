//! Outcome of a call of a server's tool.

use omen_gate::arguments::Recordable;
use omen_gate::tool::Answer;
use omen_gate::{Fault, FaultClass, Ran, Stopped, canonical};
use omen_types::packet::ErrorDetails;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// Outcome of a call.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    Answered(Value),
    Failed {
        details: ErrorDetails,
        /// Message without quotations from the call.
        unquoted: String,
        ran: Ran,
    },
    /// Nobody waits for the call any more, or its answer is another question.
    Cancelled {
        why: String,
        ran: Ran,
    },
}

impl Outcome {
    pub(crate) fn from_answer(answer: &Answer) -> Self {
        match answer.fault() {
            Some(fault) => Self::fault(&fault),
            None => Self::Answered(json!(answer)),
        }
    }

    fn fault(fault: &Fault) -> Self {
        let class = fault.class();
        let details = ErrorDetails::builder()
            .error_code(class.as_str())
            .error_message(fault.to_string())
            .is_transient(class.is_transient())
            .retry_recommended(class.is_retryable())
            .build();
        Self::Failed { details, unquoted: fault.unquoted(), ran: class.ran() }
    }

    pub(crate) fn stopped(stopped: &Stopped) -> Self {
        match stopped {
            Stopped::Failed(fault) => Self::fault(fault),
            other => Self::refused(other.code().as_str(), &other.to_string(), &other.unquoted(), other.ran()),
        }
    }

    /// Returns the outcome of a call that the gate does not make or whose answer it withholds.
    pub(crate) fn refused(code: &str, why: &str, unquoted: &str, ran: Ran) -> Self {
        let details = ErrorDetails::builder().error_code(code).error_message(why).retry_recommended(false).build();
        Self::Failed { details, unquoted: unquoted.to_owned(), ran }
    }

    /// A call of which nobody knows what came of it.
    pub(super) fn in_doubt(why: &str) -> Self {
        Self::refused(FaultClass::Cancelled.as_str(), why, why, Ran::Unknown)
    }

    /// The outcome as the log of an episode has it: an answer as it is, or its hash, by which the audit log has it, too.
    pub(super) fn recorded(&self, recordable: &Recordable) -> Self {
        match self {
            Self::Answered(answer) if recordable.may_keep(answer) => Self::Answered(kept(answer)),
            Self::Answered(answer) => Self::Answered(json!({ "sha256": hash(answer) })),
            Self::Failed { details, unquoted, ran } => {
                let mut details = details.clone();
                if details.error_message.as_ref().is_some_and(|message| !recordable.may_quote(message)) {
                    details.error_message = Some(unquoted.clone());
                }
                Self::Failed { details, unquoted: unquoted.clone(), ran: *ran }
            }
            Self::Cancelled { .. } => self.clone(),
        }
    }

    pub(crate) fn cancelled(why: &str) -> Self {
        Self::Cancelled { why: why.to_owned(), ran: Ran::Unknown }
    }

    fn ran(&self) -> Ran {
        match self {
            Self::Answered(_) => Ran::Yes,
            Self::Failed { ran, .. } | Self::Cancelled { ran, .. } => *ran,
        }
    }

    /// Returns whether the outcome counts as a tool call.
    pub(super) fn counts(&self) -> bool {
        self.ran() != Ran::No
    }

    /// Returns whether a tool produced output: its answer, or a report that it failed.
    pub(super) fn was_seen(&self) -> bool {
        matches!(self, Self::Answered(_) | Self::Failed { ran: Ran::Yes, .. })
    }

    pub(super) fn is_success(&self) -> bool {
        matches!(self, Self::Answered(_))
    }

    pub(super) fn data(&self) -> Value {
        match self {
            Self::Answered(answer) => answer.clone(),
            Self::Failed { details, .. } => json!(details),
            Self::Cancelled { why, .. } => json!({ "cancelled": why }),
        }
    }
}

/// Returns the hash of an answer; `None` if it contains a number without canonical text.
fn hash(answer: &Value) -> Option<String> {
    Some(base16ct::lower::encode_string(&Sha256::digest(canonical(answer).ok()?)))
}

/// Returns as much of an answer as a log keeps.
fn kept(answer: &Value) -> Value {
    let mut text = answer.to_string();
    let bytes = text.len();
    if bytes <= omen_gate::MAX_RAW_ANSWER {
        return answer.clone();
    }
    omen_types::fit::cut(&mut text, omen_gate::MAX_RAW_ANSWER);
    json!({ "bytes": bytes, "cut": text })
}
