//! Directives, typed by tool and operation, and orders, which erase these types after the check.

use std::marker::PhantomData;
use std::num::NonZeroU32;

use omen_invariants::derived::class_of;
use omen_invariants::facts::{
    GrantsOp, GrantsTool, GrantsWriting, NeedsNoToken, OpFits, OperationTypeFact, Scope, Tool, ToolSafetyClassFact,
};
use omen_types::{
    BackoffFactor, Code, Diagnostic, ExecutionMethod, MethodKind, OperationType, PositiveCount, RetryPolicy,
    TaskDirectivePayload, TaskId, TaskType, TokenId, ToolSafetyClass,
};

use super::super::TakesToken;
use super::super::errors::Refusal;
use super::super::tag::Tag;
use super::{Fields, Permit, TaskDirectivePayloadExtras};

/// Tool of a [`Directive`] that is named at run time.
#[derive(Clone, Copy, Debug)]
pub enum AnyTool {}

/// Operation of a [`Directive`] whose tool is named at run time: the value of `operation` in its parameters (D26).
#[derive(Clone, Copy, Debug)]
pub enum AnyOperation {}

/// Call of the tool `T` for the operation `O`. Without type parameters, `Directive` calls a tool that is named at run
/// time; see [`Directive::named`].
#[must_use = "`.ready()`, `.with(permit)` or `.sort()` makes an order of it"]
#[derive(Clone, Debug)]
pub struct Directive<T = AnyTool, O = AnyOperation> {
    pub(super) draft: Box<OrderDraft>,
    tool: PhantomData<fn(T, O) -> (T, O)>,
}

impl<T, O> Directive<T, O> {
    pub(super) fn from_draft(draft: OrderDraft) -> Self {
        Self { draft: Box::new(draft), tool: PhantomData }
    }

    /// Creates a call of a tool, by id and class.
    pub(super) fn call(tool_id: impl Into<String>, class: ToolSafetyClass, params: Option<Fields>) -> Self {
        let writes = TaskDirectivePayload::requires_authorization_token_id(class);
        Self::from_draft(OrderDraft {
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

    /// Sets the maximum number of retries, and the factor by which the delay grows after each retry.
    pub fn retry(mut self, max_retries: u32, backoff: BackoffFactor) -> Self {
        self.draft.extras.retry_policy =
            Some(RetryPolicy::builder().max_retries(max_retries.into()).backoff_multiplier(backoff).build());
        self
    }
}

impl<T: Tool, O: OperationTypeFact + OpFits<T::Class>> Directive<T, O> {
    /// Creates a call with parameters. The operation must fit the tool's safety class.
    pub fn new(_tool: T, _operation: O, params: Fields) -> Self {
        Self::call(T::ID, T::Class::VALUE, Some(params))
    }

    /// Creates a call without parameters.
    pub fn bare(_tool: T, _operation: O) -> Self {
        Self::call(T::ID, T::Class::VALUE, None)
    }

    /// Sets the task type to `verification`: the call tests an assumption. A tool that may write always has the task
    /// type `tool_write` (D23).
    pub fn verifying(mut self) -> Self
    where
        T::Class: NeedsNoToken,
    {
        self.draft.task_type = TaskType::Verification;
        self
    }

    /// Returns an order to read, which needs no token. If its parameters have an `operation` that writes, the order is
    /// refused when it is sent (D88).
    pub fn ready(self) -> Order<ReadOnly>
    where
        T::Class: NeedsNoToken,
    {
        Order::from_draft(*self.draft, None)
    }

    /// Returns an order to write. It spends one use of a token whose scope must cover the tool and the operation, and
    /// must list an operation that writes, even if this call reads (D26). The value of `operation` in the parameters is
    /// checked when the order is sent.
    pub fn with<Sc: Scope + GrantsTool<T> + GrantsOp<O> + GrantsWriting<O>>(
        self,
        permit: Permit<Sc>,
    ) -> Order<ReadWrite>
    where
        T::Class: TakesToken,
    {
        let mut draft = *self.draft;
        draft.authorization_token_id = Some(permit.token_id);
        Order::from_draft(draft, Some(permit.episode))
    }
}

/// Class of orders that only read.
#[derive(Debug)]
pub enum ReadOnly {}
/// Class of orders that may write, with a permit.
#[derive(Debug)]
pub enum ReadWrite {}
/// Class of orders that read or may write.
#[derive(Debug)]
pub enum AnyClass {}

/// Checked directive. Its type does not include the tool, so different orders fit into one array; `C` states whether it
/// reads ([`ReadOnly`]) or may write ([`ReadWrite`]).
#[must_use = "it is sent with `.execute([..])` or `.check(..)`"]
#[derive(Debug)]
pub struct Order<C> {
    /// Boxed because a refused order is returned in the error.
    draft: Box<OrderDraft>,
    /// Episode of the order's permit, if it has one.
    episode: Option<Tag>,
    class: PhantomData<fn(C) -> C>,
}

/// Payload of a directive. The episode sets the task id, unless a generated payload has set it.
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
    pub(crate) fn stating(payload: TaskDirectivePayload) -> Self {
        Self {
            extras: TaskDirectivePayloadExtras::copied_from(&payload),
            task_id: Some(payload.task_id),
            task_type: payload.task_type,
            execution_method: payload.execution_method,
            tool_safety_class: payload.tool_safety_class,
            authorization_token_id: payload.authorization_token_id,
            timeout_seconds: payload.timeout_seconds,
        }
    }

    /// Returns whether it needs a token, by the strictest of its class, its task type and its operation (D23, D88).
    pub(crate) fn needs_token(&self) -> bool {
        let class = class_of(self.task_type, self.execution_method.method, self.tool_safety_class);
        TaskDirectivePayload::requires_authorization_token_id(class) || self.writing_operation().is_some()
    }

    /// Returns the operation in the parameters, if that operation writes (D88).
    fn writing_operation(&self) -> Option<&str> {
        let word = self.execution_method.tool_params.as_ref()?.get("operation")?.as_str()?;
        let operation = word.to_lowercase().parse::<OperationType>().ok()?;
        (operation != OperationType::Read).then_some(word)
    }
}

/// Converts the directive of a generated payload to an order that reads. If the directive may write, it needs a permit
/// and is refused when it is sent: use `Directive::from(payload).sort()` instead.
impl From<TaskDirectivePayload> for Order<ReadOnly> {
    fn from(payload: TaskDirectivePayload) -> Self {
        Self::from_draft(OrderDraft::stating(payload), None)
    }
}

impl<C> Order<C> {
    pub(super) fn from_draft(draft: OrderDraft, episode: Option<Tag>) -> Self {
        Self { draft: Box::new(draft), episode, class: PhantomData }
    }

    /// Erases the class, so orders that read and orders that write fit into one array. In
    /// [`Execute`](crate::episode::Execute), they can be mixed.
    pub fn any(self) -> Order<AnyClass> {
        Order { draft: self.draft, episode: self.episode, class: PhantomData }
    }

    /// Returns the tool or other method, with its parameters.
    #[must_use]
    pub fn method(&self) -> &ExecutionMethod {
        &self.draft.execution_method
    }

    /// Checks that the order has the permit that it needs. The types ensure this, except for an order from a payload.
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        if self.episode.is_some() || !self.draft.needs_token() {
            return Ok(());
        }
        if let Some(operation) = self.draft.writing_operation() {
            let problem = format!("the operation `{operation}` writes, but the directive has no permit");
            let help = "declare the tool as one that may write, and attach a permit with `.with(permit)`";
            let finding = Diagnostic::error(Code::E4, problem).also(&[Code::Inv007]);
            let finding = finding.at("/payload/execution_method/tool_params/operation").help(help);
            return Err(Refusal::rule(finding));
        }
        let problem = "a directive that may write needs a permit";
        let help = "attach a permit: match `Directive::from(payload).sort()` and call `.with(permit)`";
        Err(Refusal::rule(Diagnostic::error(Code::E4, problem).at("/payload/authorization_token_id").help(help)))
    }

    /// Returns the tool that the order calls, and whether it calls the tool as one that may write.
    pub(crate) fn tool(&self) -> Option<(&str, bool)> {
        self.draft.execution_method.tool_id.as_deref().map(|tool| (tool, self.draft.needs_token()))
    }

    /// Returns whether the order's permit, if it has one, belongs to the given episode.
    pub(crate) fn is_of(&self, episode: &Tag) -> bool {
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
