//! Facts known about a call of a server's tool before it is made.

use omen_gate::arguments::Recordable;
use omen_gate::{Permission, Permissions, TurnId};
use omen_invariants::derived::{OPERATION, operation_named};
use omen_types::packet::{OperationType, PositiveCount};
use serde_json::{Map, Value};

/// Facts known about a call before it is made.
#[derive(Clone, Debug)]
pub(crate) struct CallFacts {
    pub(crate) turn: TurnId,
    /// Server and tool.
    pub(crate) tool: String,
    /// Name under which the client has the tool.
    pub(super) shown: String,
    /// Part of the call that may be recorded.
    pub(crate) recordable: Recordable,
    pub(crate) hash: Option<String>,
    /// Whether the tool can do more than read, as the operator says, or is asked to (D88).
    pub(crate) writes: bool,
    /// Operation requested by the arguments, as written there (D26). It is judged even if no arguments are recorded.
    pub(super) operation: Option<String>,
    pub(crate) timeout: PositiveCount,
}

impl CallFacts {
    /// Creates the facts of a call; [`demanding`](Self::demanding) must then set what the tool can do.
    pub(super) fn new(
        turn: &TurnId,
        (tool, shown): (String, String),
        (args, recordable): (&Map<String, Value>, Recordable),
        hash: Option<String>,
        timeout: PositiveCount,
    ) -> Self {
        let word = args.get(OPERATION).and_then(Value::as_str).filter(|word| operation_named(word).is_some());
        let operation = word.map(str::to_owned);
        let turn = turn.clone();
        Self { turn, tool, shown, recordable, hash, writes: false, operation, timeout }
    }

    /// Sets what the tool can do, as the operator currently states.
    pub(crate) fn demanding(&mut self, permissions: &Permissions) -> &Self {
        let operation = self.operation.as_deref().and_then(operation_named);
        self.writes = permissions.iter().any(|permission| permission != Permission::Read)
            || operation.is_some_and(|operation| operation != OperationType::Read);
        self
    }

    /// Creates the facts of a call that is only recorded as refused.
    pub(super) fn unjudged(turn: &TurnId, tool: String, timeout: PositiveCount) -> Self {
        let recordable = Recordable::default();
        Self {
            turn: turn.clone(),
            shown: tool.clone(),
            tool,
            recordable,
            hash: None,
            writes: false,
            operation: None,
            timeout,
        }
    }

    /// Returns the arguments by which the call is judged: those that are recorded, and always the operation.
    pub(super) fn judged(&self) -> Option<Map<String, Value>> {
        let recorded = self.recordable.arguments().cloned();
        let Some(operation) = &self.operation else { return recorded };
        let mut judged = recorded.unwrap_or_default();
        judged.insert(OPERATION.to_owned(), operation.as_str().into());
        Some(judged)
    }
}
