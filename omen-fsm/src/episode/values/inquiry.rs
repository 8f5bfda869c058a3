//! Tasks without a tool: code, a language model, the agent's memory.

use std::num::NonZeroU32;

use omen_types::{ExecutionMethod, MethodKind, PositiveCount, TaskType, Text, ToolSafetyClass};

use super::directive::{Order, OrderDraft, ReadOnly};
use super::{Fields, TaskDirectivePayloadExtras};

/// A task that takes no tool. It reads, and says so: what changes things needs a tool that a token can list (D28), so it
/// is a [`Directive`](super::Directive).
#[must_use = "`.ready()` makes an order of it"]
#[derive(Clone, Debug)]
pub struct Inquiry {
    pub(super) draft: Box<OrderDraft>,
}

impl Inquiry {
    /// A run of code, by a reference to it, with its arguments.
    pub fn code(code_ref: Text, params: Option<Fields>) -> Self {
        let mut inquiry = Self::of(MethodKind::Code, TaskType::Computation, None);
        inquiry.draft.execution_method.code_ref = Some(code_ref.into());
        inquiry.draft.execution_method.code_params = params.map(Fields::into_map);
        inquiry
    }

    /// A question to a language model, with its parameters.
    pub fn llm_call(params: Option<Fields>) -> Self {
        Self::of(MethodKind::LlmCall, TaskType::Computation, params)
    }

    /// A query of the agent's memory, with its parameters.
    pub fn memory_query(params: Option<Fields>) -> Self {
        Self::of(MethodKind::MemoryQuery, TaskType::MemoryLookup, params)
    }

    /// It tests an assumption: its task type is `verification`.
    pub fn verifying(mut self) -> Self {
        self.draft.task_type = TaskType::Verification;
        self
    }

    /// How many seconds it may take, at least 1; without it, the time budget of the envelope (D35).
    pub fn timeout_seconds(mut self, seconds: u32) -> Self {
        let seconds = NonZeroU32::new(seconds).unwrap_or(NonZeroU32::MIN);
        self.draft.timeout_seconds = Some(PositiveCount::from(seconds));
        self
    }

    /// An order to read.
    pub fn ready(self) -> Order<ReadOnly> {
        Order::of(*self.draft, None)
    }

    fn of(method: MethodKind, task_type: TaskType, params: Option<Fields>) -> Self {
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
