//! Tools and scopes that are named at run time.
//!
//! What a scope made of types would tell the compiler, the machine finds out when the directive is sent.

use std::marker::PhantomData;
use std::num::NonZeroU32;

use omen_types::{
    BackoffFactor, ExecutionMethod, MethodKind, OperationType, PositiveCount, RetryPolicy, TaskDirectivePayload,
    TaskType, Text, ToolSafetyClass,
};

use super::super::core::Mark;
use super::directive::{Order, OrderDraft, ReadOnly, ReadWrite};
use super::{Fields, Permit, TaskDirectivePayloadExtras};

/// The scope of a token that was named at run time: its permits are compared with a directive when that is
/// sent (E4, INV-007).
#[derive(Clone, Copy, Debug)]
pub struct AnyScope;

/// A token's scope and uses, named at run time.
#[must_use = "it is given to `.authorize_named(..)`"]
#[derive(Clone, Debug)]
pub struct NamedScope {
    pub(crate) tools: Vec<String>,
    pub(crate) operations: Vec<OperationType>,
    pub(crate) uses: u32,
}

impl NamedScope {
    /// Tools and operations, and for how many directives; none and 0 are refused when it is issued.
    pub fn new(
        tools: impl IntoIterator<Item = impl Into<String>>,
        operations: impl IntoIterator<Item = OperationType>,
        uses: u32,
    ) -> Self {
        Self { tools: tools.into_iter().map(Into::into).collect(), operations: operations.into_iter().collect(), uses }
    }
}

/// A call of a tool that is named at run time.
#[must_use = "`.sort()` tells whether it needs a permit"]
#[derive(Clone, Debug)]
pub struct NamedDirective {
    pub(super) draft: Box<OrderDraft>,
}

/// Whether a directive needs a permit. A `match` has to handle both.
#[must_use = "it holds the directive"]
#[derive(Debug)]
pub enum Sorted {
    /// It reads.
    Reads(Order<ReadOnly>),
    /// It may write: attach a permit.
    Writes(Unauthorized),
}

/// A directive that may write, and has no permit yet.
#[must_use = "attach a permit: `.with(permit)`"]
#[derive(Debug)]
pub struct Unauthorized(NamedDirective);

impl NamedDirective {
    /// A call of a tool, by its id and its safety class (D23). An `operation` among the parameters has to be
    /// one that the token allows (D26).
    pub fn new(tool_id: Text, class: ToolSafetyClass, params: Option<Fields>) -> Self {
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

    /// What a generated payload says. A directive that may write gets its token from the permit that it spends; a payload
    /// that names another one is refused when it is sent.
    pub fn stating(payload: TaskDirectivePayload) -> Self {
        Self::of(OrderDraft::stating(payload))
    }

    fn of(draft: OrderDraft) -> Self {
        Self { draft: Box::new(draft) }
    }

    /// How many seconds it may take, at least 1; without it, the time budget of the envelope (D35).
    pub fn timeout_seconds(mut self, seconds: u32) -> Self {
        let seconds = NonZeroU32::new(seconds).unwrap_or(NonZeroU32::MIN);
        self.draft.timeout_seconds = Some(PositiveCount::from(seconds));
        self
    }

    /// How often it may be tried again, and by how much the wait grows each time.
    pub fn retry(mut self, max_retries: u32, backoff: BackoffFactor) -> Self {
        self.draft.extras.retry_policy =
            Some(RetryPolicy::builder().max_retries(max_retries.into()).backoff_multiplier(backoff).build());
        self
    }

    /// Whether it needs a permit.
    pub fn sort(self) -> Sorted {
        if self.draft.needs_token() {
            Sorted::Writes(Unauthorized(self))
        } else {
            Sorted::Reads(Order::of(*self.draft, None))
        }
    }
}

impl From<TaskDirectivePayload> for NamedDirective {
    fn from(payload: TaskDirectivePayload) -> Self {
        Self::stating(payload)
    }
}

impl Unauthorized {
    /// Spends one use of a token. Whether its scope covers the tool is found out when the order is sent, and
    /// an order that is refused comes back.
    pub fn with<Sc>(self, permit: Permit<Sc>) -> Order<ReadWrite> {
        let mut draft = *self.0.draft;
        // A payload that names another token than its permit's gets that of no episode, so it is refused.
        let is_other = draft.authorization_token_id.as_ref().is_some_and(|named| *named != permit.token_id);
        let episode = if is_other { Mark::default() } else { permit.episode };
        draft.authorization_token_id = Some(permit.token_id);
        Order::of(draft, Some(episode))
    }
}

impl Permit<AnyScope> {
    pub(crate) fn any(token_id: omen_types::TokenId, episode: Mark) -> Self {
        Self { token_id, episode, scope: PhantomData }
    }
}
