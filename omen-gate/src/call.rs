//! A tool call, from request through confirmation to dispatch.

pub(crate) mod abort;
pub mod arguments;
pub mod breaker;
pub(crate) mod call_hash;
pub(crate) mod call_limits;
pub(crate) mod failure_budget;
pub mod fault;
pub mod health;
pub(crate) mod rate;
pub mod tool;
mod tool_call;

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::base::{NotExact, Permissions, ToolId, TurnId};

pub use abort::{Abort, Missing};
pub(crate) use breaker::{Admission, BreakerLimits, Breakers};
pub use call_hash::CallHash;
pub use call_limits::CallLimits;
pub use failure_budget::{Attempt, BudgetLimits, FailureBudget};
pub(crate) use fault::caught;
pub use fault::{Fault, FaultClass, Ran, guarded};
pub(crate) use health::{Health, Snapshot};
pub(crate) use rate::Rates;
pub use rate::{BadRate, Rate};
pub(crate) use tool::{Answer, Tool};
use tool_call::CanonicalCall;
pub use tool_call::ToolCall;

/// Requirements of a tool, as stated by the operator and never by its server (D47).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demand {
    /// Required tool.
    pub tool: ToolId,
    /// Required permissions; each must be granted.
    pub permissions: Permissions,
    /// Whether every call needs a confirmation, even if all permissions are pre-granted or `READ`.
    pub always_confirm: bool,
}

/// Call: turn, tool with its requirements, and arguments. Confirmation and dispatch share this value, so what is
/// confirmed is what runs.
#[derive(Clone, Debug)]
pub struct Call(Arc<CallParts>);

#[derive(Debug)]
struct CallParts {
    turn: TurnId,
    demand: Demand,
    call: ToolCall,
    canonical: Arc<CanonicalCall>,
}

impl Call {
    /// Creates a call and hashes it.
    ///
    /// # Errors
    /// If the arguments cannot be hashed exactly (D49).
    pub fn new(turn: TurnId, demand: Demand, args: Map<String, Value>) -> Result<Self, NotExact> {
        let call = ToolCall::new(demand.tool.clone(), args);
        Self::demanded(turn, demand, &call)
    }

    /// Creates a call from the one that was checked, with the requirements of its tool.
    pub(crate) fn demanded(turn: TurnId, demand: Demand, call: &ToolCall) -> Result<Self, NotExact> {
        let canonical = call.canonical()?;
        Ok(Self(Arc::new(CallParts { turn, demand, call: call.clone(), canonical })))
    }

    /// Returns the tool and arguments, with the message that requests the call.
    pub(crate) fn tool_call(&self) -> &ToolCall {
        &self.0.call
    }

    /// Returns the turn that requests the call (A2).
    #[must_use]
    pub fn turn(&self) -> &TurnId {
        &self.0.turn
    }

    /// Returns the tool to call.
    #[must_use]
    pub fn tool(&self) -> &ToolId {
        &self.0.demand.tool
    }

    /// Returns the requirements of the tool.
    #[must_use]
    pub fn demand(&self) -> &Demand {
        &self.0.demand
    }

    /// Returns the arguments.
    #[must_use]
    pub fn args(&self) -> &Map<String, Value> {
        self.0.call.args()
    }

    /// Returns the arguments as canonical JSON.
    #[must_use]
    pub fn args_text(&self) -> &str {
        &self.0.canonical.args
    }

    /// Returns the hash that identifies the tool and arguments.
    #[must_use]
    pub fn hash(&self) -> CallHash {
        self.0.canonical.hash
    }
}
