//! Open tasks and their results (E6, INV-011).

use omen_types::serde_json::Value;
use omen_types::{
    CorrelationId, Count, ErrorDetails, ExecutionMetadata, ExecutionMethod, Instant, PacketId, ResultStatus, TaskId,
    TaskResultPayload, Text, TokenId,
};

use super::super::core::{Draft, Mark, OpenTask};

/// A task that was ordered and has no result yet. The only thing that a [`Settled`] is made of.
#[must_use = "E6: every directive needs a result: call `.success(..)`, `.failure(..)` or `.cancelled()` and settle it"]
#[derive(Debug)]
pub struct Pending {
    pub(crate) task: Box<OpenTask>,
    pub(crate) correlation_id: CorrelationId,
    pub(crate) episode: Mark,
}

/// On what authority a task may change things (E4, INV-007).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authority {
    /// The token that it has spent a use of.
    pub token_id: TokenId,
    /// From when on the token is void (D3), if the episode knows the token.
    pub expires: Option<Instant>,
}

impl Pending {
    /// The task's id.
    #[must_use]
    pub fn task_id(&self) -> &TaskId {
        &self.task.task_id
    }

    /// The directive that ordered it.
    #[must_use]
    pub fn directive(&self) -> &PacketId {
        &self.task.directive
    }

    /// The episode that it is of.
    #[must_use]
    pub fn correlation_id(&self) -> &CorrelationId {
        &self.correlation_id
    }

    /// What is to be done: the tool and its parameters.
    #[must_use]
    pub fn method(&self) -> &ExecutionMethod {
        &self.task.method
    }

    /// The token that it was sent with; none, if it only reads.
    #[must_use]
    pub fn authority(&self) -> Option<&Authority> {
        self.task.authority.as_ref()
    }

    /// How long its result may take: one that comes later than this is late (D35, INV-011).
    #[must_use]
    pub fn deadline(&self) -> Instant {
        self.task.due
    }

    /// It was done.
    pub fn success(self, data: impl Into<Value>) -> Settled {
        self.settled(ResultStatus::Success, Some(data.into()), None)
    }

    /// It failed, and why.
    pub fn failure(self, message: Text) -> Settled {
        let details = ErrorDetails {
            error_code: None,
            error_message: Some(message.to_string()),
            is_transient: None,
            retry_recommended: None,
        };
        self.failed(details)
    }

    /// It failed, with all that is known of the failure.
    pub fn failed(self, details: ErrorDetails) -> Settled {
        self.settled(ResultStatus::Failure, None, Some(details))
    }

    /// It was given up.
    pub fn cancelled(self) -> Settled {
        self.settled(ResultStatus::Cancelled, None, None)
    }

    fn settled(self, status: ResultStatus, data: Option<Value>, error: Option<ErrorDetails>) -> Settled {
        Settled { pending: self, status, data, error, used: None }
    }
}

/// A task with its result.
#[must_use = "it is taken in with `.settle([..])`"]
#[derive(Debug)]
pub struct Settled {
    pending: Pending,
    status: ResultStatus,
    data: Option<Value>,
    error: Option<ErrorDetails>,
    used: Option<ExecutionMetadata>,
}

impl Settled {
    /// How many language-model tokens and tool calls it has used. Without it, none and one (D32).
    pub fn used(mut self, tokens: u32, tool_calls: u32) -> Self {
        self.used = Some(ExecutionMetadata {
            execution_time_ms: None,
            tokens_used: Some(Count::from(tokens)),
            tool_calls_used: Some(Count::from(tool_calls)),
            retry_count: None,
        });
        self
    }

    /// How it ended.
    #[must_use]
    pub fn status(&self) -> ResultStatus {
        self.status
    }

    /// What it gave, if it was done.
    #[must_use]
    pub fn data(&self) -> Option<&Value> {
        self.data.as_ref()
    }

    /// What is known of the failure, if it failed.
    #[must_use]
    pub fn error(&self) -> Option<&ErrorDetails> {
        self.error.as_ref()
    }

    pub(crate) fn is_of(&self, episode: &Mark) -> bool {
        self.pending.episode == *episode
    }

    pub(crate) fn directive(&self) -> &PacketId {
        self.pending.directive()
    }

    pub(crate) fn draft(&self) -> Draft {
        Draft::new(TaskResultPayload {
            task_id: self.pending.task_id().clone(),
            directive_packet_id: self.pending.directive().clone(),
            result_status: self.status,
            result_data: self.data.clone(),
            error_details: self.error.clone(),
            execution_metadata: self.used.clone(),
            observation_packet_id: None,
        })
    }
}
