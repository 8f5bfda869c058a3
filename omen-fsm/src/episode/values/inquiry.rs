//! Tasks without a tool: code, a language model, the agent's memory.

use std::num::NonZeroU32;

use omen_types::{ExecutionMethod, MethodKind, PositiveCount, TaskType, Text, ToolSafetyClass};

use super::directive::{Order, OrderDraft, ReadOnly};
use super::{Fields, TaskDirectivePayloadExtras};

/// Task without a tool, which always reads. A task that writes needs a tool that a token can list (D28); see
/// [`Directive`](super::Directive).
#[must_use = "`.ready()` makes an order of it"]
#[derive(Clone, Debug)]
pub struct Inquiry {
    pub(super) draft: Box<OrderDraft>,
}

impl Inquiry {
    /// Creates a run of code, identified by its reference, with arguments.
    pub fn code(code_ref: Text, params: Option<Fields>) -> Self {
        let mut inquiry = Self::with_method(MethodKind::Code, TaskType::Computation, None);
        inquiry.draft.execution_method.code_ref = Some(code_ref.into());
        inquiry.draft.execution_method.code_params = params.map(Fields::into_map);
        inquiry
    }

    /// Creates a call of a language model, with parameters.
    pub fn llm_call(params: Option<Fields>) -> Self {
        Self::with_method(MethodKind::LlmCall, TaskType::Computation, params)
    }

    /// Creates a query of the agent's memory, with parameters.
    pub fn memory_query(params: Option<Fields>) -> Self {
        Self::with_method(MethodKind::MemoryQuery, TaskType::MemoryLookup, params)
    }

    /// Sets the task type to `verification`: the task tests an assumption.
    pub fn verifying(mut self) -> Self {
        self.draft.task_type = TaskType::Verification;
        self
    }

    /// Sets the time limit in seconds, at least 1. The default is the time budget of the envelope (D35).
    pub fn timeout_seconds(mut self, seconds: u32) -> Self {
        let seconds = NonZeroU32::new(seconds).unwrap_or(NonZeroU32::MIN);
        self.draft.timeout_seconds = Some(PositiveCount::from(seconds));
        self
    }

    /// Returns an order to read.
    pub fn ready(self) -> Order<ReadOnly> {
        Order::from_draft(*self.draft, None)
    }

    fn with_method(method: MethodKind, task_type: TaskType, params: Option<Fields>) -> Self {
        let mut execution_method = ExecutionMethod::builder().method(method).unchecked();
        execution_method.tool_params = params.map(Fields::into_map);
        let draft = OrderDraft {
            task_id: None,
            task_type,
            execution_method,
            tool_safety_class: Some(ToolSafetyClass::Read),
            authorization_token_id: None,
            timeout_seconds: None,
            extras: TaskDirectivePayloadExtras::default(),
        };
        Self { draft: Box::new(draft) }
    }
}
