//! Open tasks and their results (E6, INV-011).

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use omen_types::serde_json::Value;
use omen_types::{
    Code, CorrelationId, Diagnostic, ErrorDetails, ExecutionMetadata, ExecutionMethod, Instant, PacketId, ResultStatus,
    TaskId, TaskResultPayload, Text, TokenId,
};

use super::super::asked::{Asked, UserInput};
use super::super::draft::Draft;
use super::super::lease::{Lapsed, Leases, WaitFor};
use super::super::mark::Mark;
use super::super::open_task::OpenTask;
use super::super::time::TimeSource;
use super::{Json, TaskResultPayloadExtras};

/// A task that was ordered and has no result yet. The only thing that a [`Settled`] is made of.
#[must_use = "E6: every directive needs a result: call `.success(..)`, `.failure(..)` or `.cancelled()` and settle it"]
pub struct Pending {
    pub(crate) task: Box<OpenTask>,
    pub(crate) correlation_id: CorrelationId,
    pub(crate) episode: Mark,
    pub(crate) leases: Arc<Leases>,
    pub(crate) asked: Arc<Asked>,
    pub(crate) clock: Arc<dyn TimeSource>,
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

    /// Returns the user inputs that the directive rests on, in the order of the log: those between the decision that it
    /// carries out and the settled decision before, and those that came since (D68). A decision to verify first or to
    /// escalate settles nothing, so the decision after it rests on the same inputs, too.
    #[must_use]
    pub fn user_inputs(&self) -> Vec<Arc<UserInput>> {
        self.asked.inputs()
    }

    /// Begins the task: its tool is about to be called. A directive is good for one call, so of several
    /// handles that begin its task one succeeds (PG-6).
    ///
    /// Every executor begins with this, and asks what it gets, [`Running`], again right before the tool takes effect.
    /// The gate of the crate `omen-gate` does so by itself.
    ///
    /// # Errors
    /// If the task must not run (D52): it was begun or settled before, its token was revoked or has expired, or its
    /// episode is in safe mode, has closed, was dropped or was resumed elsewhere.
    pub fn start(self) -> Result<Running, NotStarted> {
        match self.leases.start(self.task.directive.as_str(), self.clock.now()) {
            Ok(()) => Ok(Running::new(self)),
            Err(why) => Err(NotStarted { task: self, why }),
        }
    }

    /// It was done.
    pub fn success(self, data: impl Into<Value>) -> Settled {
        self.settled(ResultStatus::Success, Some(data.into()), None)
    }

    /// It failed, and why.
    pub fn failure(self, message: Text) -> Settled {
        self.failed(ErrorDetails::builder().error_message(message).build())
    }

    /// It failed, with all that is known of the failure.
    pub fn failed(self, details: ErrorDetails) -> Settled {
        self.settled(ResultStatus::Failure, None, Some(details))
    }

    /// It was given up.
    pub fn cancelled(self) -> Settled {
        self.settled(ResultStatus::Cancelled, None, None)
    }

    /// It ended as a generated payload says. The payload has to name this very task and its directive (E6), and has data only
    /// if the task was done.
    ///
    /// # Errors
    /// If it names another task, or has data of one that was not done; the task is in the error.
    pub fn result(self, payload: TaskResultPayload) -> Result<Settled, Box<NotItsResult>> {
        let (problem, pointer) = if payload.task_id != *self.task_id() {
            (
                format!("the task is `{}`, and the payload names `{}`", self.task_id(), payload.task_id),
                "/payload/task_id",
            )
        } else if payload.directive_packet_id != *self.directive() {
            let named = &payload.directive_packet_id;
            (
                format!("the task's directive is `{}`, and the payload names `{named}`", self.directive()),
                "/payload/directive_packet_id",
            )
        } else if payload.result_status != ResultStatus::Success
            && payload.result_data.as_ref().is_some_and(|data| !data.is_null())
        {
            (format!("a result of status `{}` has no data", payload.result_status), "/payload/result_data")
        } else {
            let extras = TaskResultPayloadExtras::of(&payload);
            let (status, data, error) = (payload.result_status, payload.result_data, payload.error_details);
            return Ok(Settled { pending: self, status, data, error, extras });
        };
        let finding = Diagnostic::error(Code::E6, problem).at(pointer);
        let finding = finding
            .help("take `task_id()` and `directive()` from the task; data of a failure belongs into `error_details`");
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

/// A payload that is not the result of its task, which is given back.
#[must_use = "it holds the task"]
#[derive(Debug)]
pub struct NotItsResult {
    /// The task.
    pub task: Pending,
    /// What the payload says otherwise.
    pub why: Diagnostic,
}

impl fmt::Display for NotItsResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.why.code, self.why.message)
    }
}

impl std::error::Error for NotItsResult {}

/// A task that must not run, given back so that it can be settled.
#[must_use = "it holds the task"]
#[derive(Debug)]
pub struct NotStarted {
    /// The task.
    pub task: Pending,
    /// Why it must not run.
    pub why: Lapsed,
}

impl fmt::Display for NotStarted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.why.fmt(f)
    }
}

impl std::error::Error for NotStarted {}

/// A task whose tool is being called: the only handle that may call it. Dropped without a result, it stays open and
/// cannot be begun again, for nobody knows how far its tool came.
#[must_use = "E6: every directive needs a result: call `.success(..)`, `.failure(..)` or `.cancelled()` and settle it"]
pub struct Running {
    task: Pending,
    watch: Watch,
    _begun: Begun,
}

/// Ends the run when it is dropped.
struct Begun(Watch);

impl Drop for Begun {
    fn drop(&mut self) {
        self.0.leases.finish(self.0.directive.as_str());
    }
}

impl Running {
    fn new(task: Pending) -> Self {
        let (leases, clock) = (Arc::clone(&task.leases), Arc::clone(&task.clock));
        let asked = Arc::clone(&task.asked);
        let watch = Watch { leases, asked, directive: task.directive().clone(), clock };
        Self { task, _begun: Begun(watch.clone()), watch }
    }

    /// Whether the tool may still be called, and its outcome count (D52). To be asked right before the tool takes effect,
    /// and when it has answered.
    ///
    /// # Errors
    /// As [`Pending::start`].
    pub fn stands(&self) -> Result<(), Lapsed> {
        self.watch.stands()
    }

    /// Its tool was not called, so the task may be begun again.
    pub fn not_called(self) -> Pending {
        self.watch.leases.put_back(self.watch.directive.as_str());
        self.task
    }

    /// Tells, also elsewhere, when the call has to be broken off.
    #[must_use]
    pub fn watch(&self) -> &Watch {
        &self.watch
    }

    /// It was done.
    pub fn success(self, data: impl Into<Value>) -> Settled {
        self.task.success(data)
    }

    /// It failed, and why.
    pub fn failure(self, message: Text) -> Settled {
        self.task.failure(message)
    }

    /// It failed, with all that is known of the failure.
    pub fn failed(self, details: ErrorDetails) -> Settled {
        self.task.failed(details)
    }

    /// It was given up.
    pub fn cancelled(self) -> Settled {
        self.task.cancelled()
    }

    /// It ended as a generated payload says.
    ///
    /// # Errors
    /// As [`Pending::result`]. The run is over then.
    pub fn result(self, payload: TaskResultPayload) -> Result<Settled, Box<NotItsResult>> {
        self.task.result(payload)
    }
}

/// What is to be done, and until when.
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

/// Tells when a task that runs must stop. Clones tell of the same task.
#[derive(Clone)]
pub struct Watch {
    leases: Arc<Leases>,
    asked: Arc<Asked>,
    directive: PacketId,
    clock: Arc<dyn TimeSource>,
}

impl Watch {
    /// Whether the task may still run.
    ///
    /// # Errors
    /// As [`Pending::start`].
    pub fn stands(&self) -> Result<(), Lapsed> {
        self.leases.stands(self.directive.as_str(), self.clock.now())
    }

    /// Returns the user inputs that the directive rests on at this moment, as [`Pending::user_inputs`].
    #[must_use]
    pub fn user_inputs(&self) -> Vec<Arc<UserInput>> {
        self.asked.inputs()
    }

    /// Waits until the task must not run any more, and says why. That its token expires is a matter of the clock, which
    /// nothing here waits for: see [`Authority::expires`].
    pub fn lapsed(&self) -> impl Future<Output = Lapsed> + Send + use<> {
        WaitFor::new(Arc::clone(&self.leases), self.directive.to_string())
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Watch({})", self.directive)
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
    pub(super) extras: TaskResultPayloadExtras,
}

impl Settled {
    /// How many language-model tokens and tool calls it has used. Without it, none and one (D32).
    pub fn used(mut self, tokens: u32, tool_calls: u32) -> Self {
        self.extras.execution_metadata =
            Some(ExecutionMetadata::builder().tokens_used(tokens.into()).tool_calls_used(tool_calls.into()).build());
        self
    }

    /// Adds the answer of the tool as it came, where it is not of the type that was promised (D68). A FAILURE has no
    /// `result_data` otherwise, and a success has its own.
    pub fn raw(mut self, answer: Json) -> Self {
        if self.status == ResultStatus::Failure {
            self.data = Some(answer.into_value());
        }
        self
    }

    /// How it ended.
    #[must_use]
    pub fn status(&self) -> ResultStatus {
        self.status
    }

    /// What it gave, if it was done; the raw answer, if that is not of the promised type.
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

    /// What the packet says of it: `null` if the task was not done, but for a raw answer (D68).
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
