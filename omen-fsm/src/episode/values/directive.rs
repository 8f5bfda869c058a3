//! Directives: a tool and an operation as types, and what erases them once they are checked.

use std::marker::PhantomData;
use std::num::NonZeroU32;

use omen_invariants::derived::class_of;
use omen_invariants::facts::{
    GrantsOp, GrantsTool, GrantsWriting, NeedsNoToken, OpFits, OperationTypeFact, Scope, Tool, ToolSafetyClassFact,
};
use omen_types::{
    BackoffFactor, Code, Diagnostic, ExecutionMethod, MethodKind, PositiveCount, RetryPolicy, TaskDirectivePayload,
    TaskId, TaskType, TokenId, ToolSafetyClass,
};

use super::super::TakesToken;
use super::super::mark::Mark;
use super::super::refused::Refusal;
use super::{AnyOperation, AnyTool, Fields, Permit, TaskDirectivePayloadExtras};

/// A call of the tool `T` for the operation `O`. Without parameters, `Directive` is a call of a tool that is named at run
/// time: see [`Directive::named`].
#[must_use = "`.ready()`, `.with(permit)` or `.sort()` makes an order of it"]
#[derive(Clone, Debug)]
pub struct Directive<T = AnyTool, O = AnyOperation> {
    pub(super) draft: Box<OrderDraft>,
    tool: PhantomData<fn(T, O) -> (T, O)>,
}

impl<T, O> Directive<T, O> {
    pub(super) fn of(draft: OrderDraft) -> Self {
        Self { draft: Box::new(draft), tool: PhantomData }
    }

    /// A call of a tool, by its id and class.
    pub(super) fn call(tool_id: impl Into<String>, class: ToolSafetyClass, params: Option<Fields>) -> Self {
        let writes = TaskDirectivePayload::requires_authorization_token_id(class);
        Self::of(OrderDraft {
            task_id: None,
            task_type: if writes { TaskType::ToolWrite } else { TaskType::ToolRead },
            execution_method: ExecutionMethod::builder()
                .method(MethodKind::Tool)
                .tool_id(tool_id)
                .maybe_tool_params(params.map(Fields::into_map))
                .unchecked(),
            tool_safety_class: Some(class),
            authorization_token_id: None,
            timeout_seconds: None,
            extras: TaskDirectivePayloadExtras::default(),
        })
    }

    /// Sets the time limit in seconds, at least 1. The default is the time budget of the envelope (D35).
    pub fn timeout_seconds(mut self, seconds: u32) -> Self {
        let seconds = NonZeroU32::new(seconds).unwrap_or(NonZeroU32::MIN);
        self.draft.timeout_seconds = Some(PositiveCount::from(seconds));
        self
    }

    /// Sets how often the call may be retried, and by how much the wait grows each time.
    pub fn retry(mut self, max_retries: u32, backoff: BackoffFactor) -> Self {
        self.draft.extras.retry_policy =
            Some(RetryPolicy::builder().max_retries(max_retries.into()).backoff_multiplier(backoff).build());
        self
    }
}

impl<T: Tool, O: OperationTypeFact + OpFits<T::Class>> Directive<T, O> {
    /// A call with parameters. The operation must fit the tool's safety class.
    pub fn new(_tool: T, _operation: O, params: Fields) -> Self {
        Self::call(T::ID, T::Class::VALUE, Some(params))
    }

    /// A call without parameters.
    pub fn bare(_tool: T, _operation: O) -> Self {
        Self::call(T::ID, T::Class::VALUE, None)
    }

    /// Sets the task type to `verification`: the call tests an assumption. A tool that may write always has the task type
    /// `tool_write` (D23).
    pub fn verifying(mut self) -> Self
    where
        T::Class: NeedsNoToken,
    {
        self.draft.task_type = TaskType::Verification;
        self
    }

    /// An order to read, which needs no token.
    pub fn ready(self) -> Order<ReadOnly>
    where
        T::Class: NeedsNoToken,
    {
        Order::of(*self.draft, None)
    }

    /// An order to write: it spends one use of a token, whose scope must cover tool and operation, and list an operation
    /// that writes, even where this one reads (D26). What the parameters themselves call `operation` is checked when the
    /// order is sent.
    pub fn with<Sc: Scope + GrantsTool<T> + GrantsOp<O> + GrantsWriting<O>>(
        self,
        permit: Permit<Sc>,
    ) -> Order<ReadWrite>
    where
        T::Class: TakesToken,
    {
        let mut draft = *self.draft;
        draft.authorization_token_id = Some(permit.token_id);
        Order::of(draft, Some(permit.episode))
    }
}

/// An order that only reads.
#[derive(Debug)]
pub enum ReadOnly {}
/// An order that may write, with a permit.
#[derive(Debug)]
pub enum ReadWrite {}
/// An order of either class.
#[derive(Debug)]
pub enum AnyClass {}

/// A directive that was checked. Its tool is no longer part of its type, so that unlike orders fit one
/// array; `C` says whether it reads ([`ReadOnly`]) or may write ([`ReadWrite`]).
#[must_use = "it is sent with `.execute([..])` or `.check(..)`"]
#[derive(Debug)]
pub struct Order<C> {
    /// In a box, for an order that is refused goes back through the error.
    draft: Box<OrderDraft>,
    /// The episode that its permit is of, if it has one.
    episode: Option<Mark>,
    class: PhantomData<fn(C) -> C>,
}

/// A directive's payload. The episode gives the task its id, unless a payload has named one.
#[derive(Clone, Debug)]
pub(crate) struct OrderDraft {
    pub(super) task_id: Option<TaskId>,
    pub(super) task_type: TaskType,
    pub(crate) execution_method: ExecutionMethod,
    pub(super) tool_safety_class: Option<ToolSafetyClass>,
    pub(super) authorization_token_id: Option<TokenId>,
    pub(super) timeout_seconds: Option<PositiveCount>,
    pub(super) extras: TaskDirectivePayloadExtras,
}

impl OrderDraft {
    pub(super) fn stating(payload: TaskDirectivePayload) -> Self {
        Self {
            extras: TaskDirectivePayloadExtras::of(&payload),
            task_id: Some(payload.task_id),
            task_type: payload.task_type,
            execution_method: payload.execution_method,
            tool_safety_class: payload.tool_safety_class,
            authorization_token_id: payload.authorization_token_id,
            timeout_seconds: payload.timeout_seconds,
        }
    }

    /// Whether it takes a token, by the stricter reading of what it says (D23).
    pub(super) fn needs_token(&self) -> bool {
        let class = class_of(self.task_type, self.execution_method.method, self.tool_safety_class);
        TaskDirectivePayload::requires_authorization_token_id(class)
    }
}

/// A directive in the words of the schema, as an order that reads. One that may write is refused when it is sent, for it
/// spends a permit: `Directive::from(payload).sort()` gives what takes one.
impl From<TaskDirectivePayload> for Order<ReadOnly> {
    fn from(payload: TaskDirectivePayload) -> Self {
        Self::of(OrderDraft::stating(payload), None)
    }
}

impl<C> Order<C> {
    pub(super) fn of(draft: OrderDraft, episode: Option<Mark>) -> Self {
        Self { draft: Box::new(draft), episode, class: PhantomData }
    }

    /// Forgets the class, so that orders that read and orders that write fit one array; in
    /// [`Execute`](crate::episode::Execute) they may be mixed.
    pub fn any(self) -> Order<AnyClass> {
        Order { draft: self.draft, episode: self.episode, class: PhantomData }
    }

    /// What is to be done.
    #[must_use]
    pub fn method(&self) -> &ExecutionMethod {
        &self.draft.execution_method
    }

    /// Whether it has the permit that it takes. Of an order that was made of types it is so; of a payload it is asked here.
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        if self.episode.is_some() || !self.draft.needs_token() {
            return Ok(());
        }
        let problem = "this directive may write, and spends no permit";
        let help = "`Directive::from(payload).sort()` gives an `Unauthorized`: attach a permit with `.with(permit)`";
        Err(Refusal::rule(Diagnostic::error(Code::E4, problem).at("/payload/authorization_token_id").help(help)))
    }

    /// Whether its permit, if it has one, is of an episode.
    pub(crate) fn is_of(&self, episode: &Mark) -> bool {
        self.episode.as_ref().is_none_or(|own| own == episode)
    }

    pub(crate) fn payload(&self, task_id: TaskId) -> TaskDirectivePayload {
        let draft = OrderDraft::clone(&self.draft);
        let task_id = draft.task_id.unwrap_or(task_id);
        let mut payload = TaskDirectivePayload::builder()
            .task_id(task_id)
            .task_type(draft.task_type)
            .execution_method(draft.execution_method)
            .maybe_tool_safety_class(draft.tool_safety_class)
            .maybe_authorization_token_id(draft.authorization_token_id)
            .maybe_timeout_seconds(draft.timeout_seconds)
            .unchecked();
        draft.extras.fill(&mut payload);
        payload
    }
}
