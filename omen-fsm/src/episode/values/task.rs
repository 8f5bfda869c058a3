//! Open tasks and their results (E6, INV-011).

use omen_types::scalar::IntegerScalar as _;
use omen_types::serde_json::Value;
use omen_types::{
    Count, ErrorDetails, ExecutionMetadata, ExecutionMethod, PacketId, ResultStatus, TaskId, TaskResultPayload, Text,
};

use super::super::core::{Draft, Mark};

/// A task that was ordered and has no result yet. The only thing that a [`Settled`] is made of.
#[must_use = "E6: every directive needs a result: call `.success(..)`, `.failure(..)` or `.cancelled()` and settle it"]
#[derive(Debug)]
pub struct Pending {
    pub(crate) task_id: TaskId,
    pub(crate) directive: PacketId,
    pub(crate) method: ExecutionMethod,
    pub(crate) episode: Mark,
}

impl Pending {
    /// The task's id.
    #[must_use]
    pub fn task_id(&self) -> &TaskId {
        &self.task_id
    }

    /// The directive that ordered it.
    #[must_use]
    pub fn directive(&self) -> &PacketId {
        &self.directive
    }

    /// What is to be done: the tool and its parameters.
    #[must_use]
    pub fn method(&self) -> &ExecutionMethod {
        &self.method
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
        Settled { task: self, status, data, error, used: None }
    }
}

/// A task with its result.
#[must_use = "it is taken in with `.settle([..])`"]
#[derive(Debug)]
pub struct Settled {
    task: Pending,
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
            tokens_used: Some(Count::trusted(u64::from(tokens))),
            tool_calls_used: Some(Count::trusted(u64::from(tool_calls))),
            retry_count: None,
        });
        self
    }

    /// How it ended.
    #[must_use]
    pub fn status(&self) -> ResultStatus {
        self.status
    }

    pub(crate) fn is_of(&self, episode: &Mark) -> bool {
        self.task.episode == *episode
    }

    pub(crate) fn directive(&self) -> &PacketId {
        &self.task.directive
    }

    pub(crate) fn draft(&self) -> Draft {
        Draft::new(TaskResultPayload {
            task_id: self.task.task_id.clone(),
            directive_packet_id: self.task.directive.clone(),
            result_status: self.status,
            result_data: self.data.clone(),
            error_details: self.error.clone(),
            execution_metadata: self.used.clone(),
            observation_packet_id: None,
        })
    }
}
