//! One call of a tool, as it is asked about, confirmed and dispatched.

pub(crate) mod abort;
pub mod arguments;
pub mod breaker;
pub(crate) mod call_limits;
pub(crate) mod failure_budget;
pub mod fault;
pub mod health;
pub(crate) mod rate;
pub mod tool;

use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::base::{NotExact, Permissions, ServerName, ToolId, ToolName, TurnId};
use omen_base::canonical::{canonical_object, write};

pub use abort::{Abort, Missing};
pub(crate) use breaker::{Admission, BreakerLimits, Breakers};
pub use call_limits::CallLimits;
pub use failure_budget::{Attempt, BudgetLimits, FailureBudget};
pub(crate) use fault::caught;
pub use fault::{Fault, FaultClass, Ran, guarded};
pub(crate) use health::{Health, Snapshot};
pub(crate) use rate::Rates;
pub use rate::{BadRate, Rate};
pub(crate) use tool::{Answer, Tool};

/// What a tool needs, by the operator's statement; never by what its server says of it (D47).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demand {
    /// The tool.
    pub tool: ToolId,
    /// Each of them must be granted.
    pub permissions: Permissions,
    /// Whether every call is confirmed, even where all permissions are pre-granted or `READ`.
    pub always_confirm: bool,
}

/// One call: who asks for it, the tool with its demand, and the arguments. What was confirmed and what is
/// dispatched are the same, for both come from here.
#[derive(Clone, Debug)]
pub struct Call(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    turn: TurnId,
    demand: Demand,
    args: Map<String, Value>,
    args_text: String,
    hash: CallHash,
}

impl Call {
    /// Puts a call together and hashes it.
    ///
    /// # Errors
    /// If the arguments cannot be hashed exactly (D49).
    pub fn new(turn: TurnId, demand: Demand, args: Map<String, Value>) -> Result<Self, NotExact> {
        let args_text = String::from_utf8_lossy(&canonical_object(&args)?).into_owned();
        let hash = CallHash::of(&demand.tool, &args)?;
        Ok(Self(Arc::new(Parts { turn, demand, args, args_text, hash })))
    }

    /// The turn that asks for it (A2).
    #[must_use]
    pub fn turn(&self) -> &TurnId {
        &self.0.turn
    }

    /// The tool.
    #[must_use]
    pub fn tool(&self) -> &ToolId {
        &self.0.demand.tool
    }

    /// What the tool needs.
    #[must_use]
    pub fn demand(&self) -> &Demand {
        &self.0.demand
    }

    /// The arguments.
    #[must_use]
    pub fn args(&self) -> &Map<String, Value> {
        &self.0.args
    }

    /// The arguments as canonical JSON.
    #[must_use]
    pub fn args_text(&self) -> &str {
        &self.0.args_text
    }

    /// What stands for tool and arguments.
    #[must_use]
    pub fn hash(&self) -> CallHash {
        self.0.hash
    }
}

/// SHA-256 of the canonical form (RFC 8785) of `{"server": …, "tool": …, "args": …}` (D48). The server is part of
/// it, so that a confirmation does not go over to a tool of the same name elsewhere.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct CallHash([u8; 32]);

/// What is hashed.
#[derive(Serialize)]
struct Hashed<'c> {
    server: &'c ServerName,
    tool: &'c ToolName,
    args: &'c Map<String, Value>,
}

impl CallHash {
    /// Takes arguments that are known to be exact.
    fn of(ToolId { server, tool }: &ToolId, args: &Map<String, Value>) -> Result<Self, NotExact> {
        Ok(Self(Sha256::digest(write(&Hashed { server, tool, args })?).into()))
    }

    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// In lower-case hexadecimal.
impl fmt::Display for CallHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for CallHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CallHash({self})")
    }
}

impl Serialize for CallHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
