//! What is known of a call of a server's tool before it is made.

use omen_gate::{CallHash, Permission, Permissions, ToolId, TurnId};
use omen_types::packet::PositiveCount;
use serde_json::{Map, Value};

/// What is known of a call before it is made.
#[derive(Clone, Debug)]
pub(crate) struct CallFacts {
    pub(crate) turn: TurnId,
    /// Server and tool.
    pub(crate) tool: String,
    pub(crate) args: Map<String, Value>,
    pub(crate) hash: Option<CallHash>,
    /// Whether the operator says that the tool can do more than read.
    pub(crate) writes: bool,
    pub(crate) timeout: PositiveCount,
}

impl CallFacts {
    pub(crate) fn new(
        turn: &TurnId,
        tool: &ToolId,
        args: Map<String, Value>,
        hash: Option<CallHash>,
        permissions: &Permissions,
        timeout: PositiveCount,
    ) -> Self {
        let writes = permissions.iter().any(|permission| permission != Permission::Read);
        Self { turn: turn.clone(), tool: tool.to_string(), args, hash, writes, timeout }
    }
}
