//! What is known of a call of a server's tool before it is made.

use omen_gate::arguments::Recordable;
use omen_gate::{CallHash, Permission, Permissions, ToolId, TurnId};
use omen_types::packet::PositiveCount;

/// What is known of a call before it is made.
#[derive(Clone, Debug)]
pub(crate) struct CallFacts {
    pub(crate) turn: TurnId,
    /// Server and tool.
    pub(crate) tool: String,
    /// What of the call may be written down.
    pub(crate) recordable: Recordable,
    pub(crate) hash: Option<CallHash>,
    /// Whether the operator says that the tool can do more than read.
    pub(crate) writes: bool,
    pub(crate) timeout: PositiveCount,
}

impl CallFacts {
    pub(crate) fn new(
        turn: &TurnId,
        tool: &ToolId,
        recordable: Recordable,
        hash: Option<CallHash>,
        permissions: &Permissions,
        timeout: PositiveCount,
    ) -> Self {
        let writes = permissions.iter().any(|permission| permission != Permission::Read);
        Self { turn: turn.clone(), tool: tool.to_string(), recordable, hash, writes, timeout }
    }
}
