//! Open tasks and their results (E6, INV-011).

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use omen_types::serde_json::Value;
use omen_types::{
    Code, CorrelationId, Diagnostic, ErrorDetails, ExecutionMetadata, ExecutionMethod, Instant, PacketId, ResultStatus,
    TaskId, TaskResultPayload, Text, TokenId,
};

use super::super::draft::Draft;
use super::super::lease::{Lapsed, Leases, WaitFor};
use super::super::open_task::OpenTask;
use super::super::stamps::TimeSource;
use super::super::tag::Tag;
use super::super::user_inputs::{UserInput, UserInputs};
use super::{Json, ResultData, TaskResultPayloadExtras};

/// Task of a directive that has no result yet. Only a task can create a [`Settled`].
#[must_use = "E6: every directive needs a result: call `.success(..)`, `.failure(..)` or `.cancelled()` and settle it"]
pub struct Pending {
    pub(crate) task: Box<OpenTask>,
    pub(crate) correlation_id: CorrelationId,
    pub(crate) episode: Tag,
    pub(crate) leases: Arc<Leases>,
    pub(crate) user_inputs: Arc<UserInputs>,
    pub(crate) clock: Arc<dyn TimeSource>,
}

/// Token that authorizes a task to write (E4, INV-007).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authority {
    /// Token whose use the task spends.
    pub token_id: TokenId,
    /// Time at which the token expires (D3), if the episode knows the token.
    pub expires: Option<Instant>,
}

impl Pending {
    /// Returns the task id.
    #[must_use]
    pub fn task_id(&self) -> &TaskId {
        &self.task.task_id
    }

    /// Returns the packet id of the directive.
    #[must_use]
    pub fn directive(&self) -> &PacketId {
        &self.task.directive
    }

    /// Returns the correlation id of the episode.
    #[must_use]
    pub fn correlation_id(&self) -> &CorrelationId {
        &self.correlation_id
    }

    /// Returns the tool or other method, with its parameters.
    #[must_use]
    pub fn method(&self) -> &ExecutionMethod {
        &self.task.method
    }

    /// Returns the token of the directive; `None` if the directive only reads.
    #[must_use]
    pub fn authority(&self) -> Option<&Authority> {
        self.task.authority.as_ref()
    }

    /// Returns the deadline of the result (D35, INV-011).
    #[must_use]
    pub fn deadline(&self) -> Instant {
        self.task.due
    }

    /// Returns the user inputs on which the directive is based, in log order: those between the last settled decision
    /// and the decision that the directive carries out, and all later ones (D68). A decision to verify first or to
    /// escalate settles nothing, so the next decision is based on the same inputs, too.
    #[must_use]
    pub fn user_inputs(&self) -> Vec<Arc<UserInput>> {
        self.user_inputs.inputs()
    }

    /// Starts the task: its tool is about to be called. A directive permits one call, so only one of several handles
    /// can start its task (PG-6).
    ///
    /// Every executor must call this first, and must check the returned [`Running`] again right before the tool takes
    /// effect. The gate of the crate `omen-gate` does both.
    ///
    /// # Errors
    /// A task that must not run (D52): it was already started or settled, its token was revoked or has expired, its
    /// deadline has passed, or its episode is in safe mode, has closed, was dropped or was resumed elsewhere.
    pub fn start(self) -> Result<Running, NotStarted> {
        match self.leases.start(self.task.directive.as_str(), self.clock.now(), self.task.due) {
            Ok(()) => Ok(Running::new(self)),
            Err(why) => Err(NotStarted { task: self, why }),
        }
    }

    /// Settles the task as SUCCESS.
    pub fn success(self, data: impl ResultData) -> Settled {
        self.settled(ResultStatus::Success, Some(data.into_data()), None)
    }

    /// Settles the task as FAILURE, with a message.
    pub fn failure(self, message: Text) -> Settled {
        self.failed(ErrorDetails::builder().error_message(message).build())
    }

    /// Settles the task as FAILURE, with details.
    pub fn failed(self, details: ErrorDetails) -> Settled {
        self.settled(ResultStatus::Failure, None, Some(details))
    }

    /// Settles the task as CANCELLED.
    pub fn cancelled(self) -> Settled {
        self.settled(ResultStatus::Cancelled, None, None)
    }

    /// Settles the task with a generated payload, which must name this task and its directive (E6), and may have data
    /// only if its status is SUCCESS.
    ///
    /// # Errors
    /// A payload that names another task, or has data without SUCCESS. The error holds the task.
    pub fn result(self, payload: TaskResultPayload) -> Result<Settled, Box<NotItsResult>> {
        let (problem, pointer) = if payload.task_id != *self.task_id() {
            (
                format!("the task is `{}`, but the payload names `{}`", self.task_id(), payload.task_id),
                "/payload/task_id",
            )
        } else if payload.directive_packet_id != *self.directive() {
            let named = &payload.directive_packet_id;
            (
                format!("the directive of the task is `{}`, but the payload names `{named}`", self.directive()),
                "/payload/directive_packet_id",
            )
        } else if payload.result_status != ResultStatus::Success
            && payload.result_data.as_ref().is_some_and(|data| !data.is_null())
        {
            (
                format!("unexpected `result_data` in a result of status `{}`", payload.result_status),
                "/payload/result_data",
            )
        } else {
            let extras = TaskResultPayloadExtras::copied_from(&payload);
            let (status, data, error) = (payload.result_status, payload.result_data, payload.error_details);
            return Ok(Settled { pending: self, status, data, error, extras });
        };
        let finding = Diagnostic::error(Code::E6, problem).at(pointer);
        let finding =
            finding.help("use `task_id()` and `directive()` of the task; put data of a failure into `error_details`");
        Err(Box::new(NotItsResult { task: self, why: finding }))
    }

    fn settled(self, status: ResultStatus, data: Option<Value>, error: Option<ErrorDetails>) -> Settled {
        Settled { pending: self, status, data, error, extras: TaskResultPayloadExtras::default() }
    }
}

impl fmt::Debug for Pending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pending({}, {})", self.task_id(), self.directive())
    }
}

/// Payload that does not match its task, with the task.
#[must_use = "it holds the task"]
#[derive(Debug)]
pub struct NotItsResult {
    /// Task for which the payload was given.
    pub task: Pending,
    /// Description of the mismatch.
    pub why: Diagnostic,
}

impl fmt::Display for NotItsResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.why.code, self.why.message)
    }
}

impl std::error::Error for NotItsResult {}

/// Task that must not run. It can still be settled.
#[must_use = "it holds the task"]
#[derive(Debug)]
pub struct NotStarted {
    /// Task, which can still be settled.
    pub task: Pending,
    /// Reason why it must not run.
    pub why: Lapsed,
}

impl fmt::Display for NotStarted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.why.fmt(f)
    }
}

impl std::error::Error for NotStarted {}

/// Running task: the only handle that may call its tool. If it is dropped without a result, the task stays open and
/// cannot be started again, because it is unknown how far the tool got.
#[must_use = "E6: every directive needs a result: call `.success(..)`, `.failure(..)` or `.cancelled()` and settle it"]
pub struct Running {
    task: Pending,
    watch: Watch,
    _guard: RunGuard,
}

/// Guard that ends the run when it is dropped.
struct RunGuard(Watch);

impl Drop for RunGuard {
    fn drop(&mut self) {
        self.0.leases.finish(self.0.directive.as_str());
    }
}

impl Running {
    fn new(task: Pending) -> Self {
        let (leases, clock) = (Arc::clone(&task.leases), Arc::clone(&task.clock));
        let user_inputs = Arc::clone(&task.user_inputs);
        let watch = Watch { leases, user_inputs, directive: task.directive().clone(), clock };
        Self { task, _guard: RunGuard(watch.clone()), watch }
    }

    /// Checks that the tool may still be called and its outcome counts (D52). Call this right before the tool takes
    /// effect, and again after it has answered.
    ///
    /// # Errors
    /// Same as [`Pending::start`].
    pub fn stands(&self) -> Result<(), Lapsed> {
        self.watch.stands()
    }

    /// Returns the task because its tool was not called. The task may be started again.
    pub fn not_called(self) -> Pending {
        self.watch.leases.put_back(self.watch.directive.as_str());
        self.task
    }

    /// Returns a watch that reports when the call must stop.
    #[must_use]
    pub fn watch(&self) -> &Watch {
        &self.watch
    }

    /// Settles the task as SUCCESS.
    pub fn success(self, data: impl ResultData) -> Settled {
        self.task.success(data)
    }

    /// Settles the task as FAILURE, with a message.
    pub fn failure(self, message: Text) -> Settled {
        self.task.failure(message)
    }

    /// Settles the task as FAILURE, with details.
    pub fn failed(self, details: ErrorDetails) -> Settled {
        self.task.failed(details)
    }

    /// Settles the task as CANCELLED.
    pub fn cancelled(self) -> Settled {
        self.task.cancelled()
    }

    /// Settles the task with a generated payload.
    ///
    /// # Errors
    /// Same as [`Pending::result`]. After an error, the task no longer runs.
    pub fn result(self, payload: TaskResultPayload) -> Result<Settled, Box<NotItsResult>> {
        self.task.result(payload)
    }
}

/// Provides access to the task and its deadline.
impl Deref for Running {
    type Target = Pending;

    fn deref(&self) -> &Pending {
        &self.task
    }
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Running({}, {})", self.task_id(), self.directive())
    }
}

/// Watch on a running task that reports when the task must stop. Clones watch the same task.
#[derive(Clone)]
pub struct Watch {
    leases: Arc<Leases>,
    user_inputs: Arc<UserInputs>,
    directive: PacketId,
    clock: Arc<dyn TimeSource>,
}

impl Watch {
    /// Checks that the task may still run.
    ///
    /// # Errors
    /// Same as [`Pending::start`].
    pub fn stands(&self) -> Result<(), Lapsed> {
        self.leases.stands(self.directive.as_str(), self.clock.now())
    }

    /// Returns the user inputs on which the directive is now based; see [`Pending::user_inputs`].
    #[must_use]
    pub fn user_inputs(&self) -> Vec<Arc<UserInput>> {
        self.user_inputs.inputs()
    }

    /// Waits until the task must stop running, and returns the reason. The expiry of the token does not end the wait,
    /// because this method does not watch the clock; see [`Authority::expires`].
    pub fn lapsed(&self) -> impl Future<Output = Lapsed> + Send + use<> {
        WaitFor::new(Arc::clone(&self.leases), self.directive.to_string())
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Watch({})", self.directive)
    }
}

/// Task with its result.
#[must_use = "record the result with `.settle([..])`"]
#[derive(Debug)]
pub struct Settled {
    pending: Pending,
    status: ResultStatus,
    data: Option<Value>,
    error: Option<ErrorDetails>,
    pub(super) extras: TaskResultPayloadExtras,
}

impl Settled {
    /// Sets the number of language-model tokens and tool calls that the task has used. The default is 0 tokens and 1
    /// call (D32).
    pub fn used(mut self, tokens: u32, tool_calls: u32) -> Self {
        self.extras.execution_metadata =
            Some(ExecutionMetadata::builder().tokens_used(tokens.into()).tool_calls_used(tool_calls.into()).build());
        self
    }

    /// Adds the tool's raw answer to a FAILURE, for an answer that does not have the promised type (D68). Otherwise, a
    /// FAILURE has no `result_data`. The data of a SUCCESS is not changed.
    pub fn raw(mut self, answer: Json) -> Self {
        if self.status == ResultStatus::Failure {
            self.data = Some(answer.into_value());
        }
        self
    }

    /// Returns the task without its result, so it can be settled differently after the episode has refused the result.
    pub fn into_task(self) -> Pending {
        self.pending
    }

    /// Returns the status.
    #[must_use]
    pub fn status(&self) -> ResultStatus {
        self.status
    }

    /// Returns the data of a SUCCESS, or the raw answer of a FAILURE.
    #[must_use]
    pub fn data(&self) -> Option<&Value> {
        self.data.as_ref()
    }

    /// Returns the error details of a FAILURE.
    #[must_use]
    pub fn error(&self) -> Option<&ErrorDetails> {
        self.error.as_ref()
    }

    pub(crate) fn is_of(&self, episode: &Tag) -> bool {
        self.pending.episode == *episode
    }

    pub(crate) fn directive(&self) -> &PacketId {
        self.pending.directive()
    }

    /// Returns the `result_data` of the packet: `null` without SUCCESS, except for a raw answer (D68).
    fn said_data(&self) -> Option<Value> {
        match self.status {
            ResultStatus::Success => self.data.clone(),
            ResultStatus::Failure | ResultStatus::Cancelled => Some(self.data.clone().unwrap_or_default()),
        }
    }

    pub(crate) fn draft(&self) -> Draft {
        let mut payload = TaskResultPayload::builder()
            .task_id(self.pending.task_id().clone())
            .directive_packet_id(self.pending.directive().clone())
            .result_status(self.status)
            .maybe_result_data(self.said_data())
            .maybe_error_details(self.error.clone())
            .unchecked();
        self.extras.clone().fill(&mut payload);
        Draft::new(payload)
    }
}
