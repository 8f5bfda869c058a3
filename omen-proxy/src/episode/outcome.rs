//! What came of a call of a server's tool.

use omen_gate::tool::Answer;
use omen_gate::{Fault, Ran, Stopped};
use omen_types::packet::ErrorDetails;
use serde_json::{Value, json};

/// What came of a call.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    Answered(Value),
    Failed {
        details: ErrorDetails,
        ran: Ran,
    },
    /// Nobody waits for it any more, or its answer is another question.
    Cancelled {
        why: String,
        ran: Ran,
    },
}

impl Outcome {
    pub(crate) fn of(answer: &Answer) -> Self {
        match answer.fault() {
            Some(fault) => Self::fault(&fault),
            None => Self::Answered(kept(&json!(answer))),
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
        Self::Failed { details, ran: class.ran() }
    }

    pub(crate) fn stopped(stopped: &Stopped) -> Self {
        match stopped {
            Stopped::Failed(fault) => Self::fault(fault),
            other => Self::refused(other.code().as_str(), &other.to_string(), other.ran()),
        }
    }

    /// An answer that the gate withholds, or a call that it does not make.
    pub(crate) fn refused(code: &str, why: &str, ran: Ran) -> Self {
        let details = ErrorDetails::builder().error_code(code).error_message(why).retry_recommended(false).build();
        Self::Failed { details, ran }
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

    /// Whether it counts as a call of a tool.
    pub(super) fn counts(&self) -> bool {
        self.ran() != Ran::No
    }

    /// Whether a tool has given something: its answer, or that it failed.
    pub(super) fn was_seen(&self) -> bool {
        matches!(self, Self::Answered(_) | Self::Failed { ran: Ran::Yes, .. })
    }

    pub(super) fn is_success(&self) -> bool {
        matches!(self, Self::Answered(_))
    }

    /// The outcome as one value.
    pub(super) fn data(&self) -> Value {
        match self {
            Self::Answered(answer) => answer.clone(),
            Self::Failed { details, .. } => json!(details),
            Self::Cancelled { why, .. } => json!({ "cancelled": why }),
        }
    }
}

/// As much of an answer as a log keeps.
fn kept(answer: &Value) -> Value {
    let mut text = answer.to_string();
    let bytes = text.len();
    if bytes <= omen_gate::MAX_RAW_ANSWER {
        return answer.clone();
    }
    omen_types::fit::cut(&mut text, omen_gate::MAX_RAW_ANSWER);
    json!({ "bytes": bytes, "cut": text })
}
