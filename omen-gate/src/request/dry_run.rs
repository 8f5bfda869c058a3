//! Verdicts on plans without side effects: no tool is called, no server contacted, nothing recorded.
//!
//! ```
//! use std::sync::Arc;
//!
//! use omen_gate::catalog::Catalog;
//! use omen_gate::dry_run::{DryRun, PlanVerdict};
//! use omen_gate::{Config, SystemClock};
//!
//! let config = Config::parse("[servers.files]\n")?;
//! let catalog = Catalog::parse(r#"{"files": [{"name": "read", "inputSchema": {"type": "object"}}]}"#)?;
//! let dry_run = DryRun::new(&config, catalog, Arc::new(SystemClock::default()))?;
//!
//! let plan = r#"{"type": "call_tool", "server": "files", "tool": "read", "args": {}}"#;
//! let PlanVerdict::Block(blocked) = dry_run.judge(plan) else { return Ok(()) };
//! assert_eq!(blocked.to_string(), "PG-3: the operator has not allowed the tool `files/read`");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The checks are those of the [`pipeline`](crate::pipeline): PG-1, PG-T, PG-2, PG-3, O-1 to O-6, G1 and G2, and whether
//! a confirmation is needed (G3). Checks that depend on more than the plan are omitted: the query (PG-0), failures of
//! the tool and the turn (R1 to R3), and the answer (PG-4, PG-5).

mod line;
mod verdict;

use std::sync::Arc;

use omen_order::Policy;

use crate::base::{Blocked, GateClock, GateCode, TurnId};
use crate::catalog::{Allowlist, Catalog};
use crate::config::Config;
use crate::grant::Grants;
use crate::request::order_log::first_call;
use crate::request::plan::{Plan, PlanLimits};

pub use verdict::PlanVerdict;

/// Checker of plans against a configuration and a catalogue. Each plan is checked as if it were the first: a grant for
/// one use also allows the second plan.
///
/// The catalogue takes the place of the servers' lists. Tools of unconfigured servers count as not allowed by the operator.
#[derive(Debug)]
pub struct DryRun {
    limits: PlanLimits,
    catalog: Catalog,
    allow: Allowlist,
    grants: Grants,
    order: Arc<Policy>,
    turn: TurnId,
}

impl DryRun {
    /// Creates a dry run. Grants expire by the clock's time of day.
    ///
    /// # Errors
    /// PG-2 if a server lists more than the configuration's limits allow, and G1 if there are more grants than a gate can hold.
    pub fn new(config: &Config, catalog: Catalog, clock: Arc<dyn GateClock>) -> Result<Self, Blocked> {
        catalog.within(config.limits.catalog())?;
        let turn = TurnId::new("dry-run");
        Ok(Self {
            limits: config.limits.plan(),
            catalog,
            allow: config.allow.clone(),
            grants: Grants::with_defaults(clock, config.grants.iter().cloned())?,
            order: Arc::clone(&config.order),
            turn: turn
                .map_err(|error| Blocked::new(GateCode::A2, error.to_string(), "this is a bug; please report it"))?,
        })
    }

    /// Checks a planner's text.
    #[must_use]
    pub fn judge(&self, text: &str) -> PlanVerdict {
        self.way(text).unwrap_or_else(PlanVerdict::Block)
    }

    /// Runs the steps of a request that need no server.
    fn way(&self, text: &str) -> Result<PlanVerdict, Blocked> {
        let call = match Plan::parse(text, &self.limits)? {
            Plan::CallTool(call) => call,
            Plan::FinalAnswer(answer) => return Ok(PlanVerdict::Terminal(answer)),
        };
        let listed = self.catalog.conform(call.tool(), call.args())?;
        let call = self.allow.permit_call(listed, &self.turn, &call)?;
        self.allow.judge_arguments(&call)?;
        first_call(&self.order, call.tool(), call.args())?;
        // The decision has no effect, so there is nothing to record (G4).
        let lease = self.grants.check(&call).recorded(|_| Ok::<_, Blocked>(()))?;
        match lease.needs_confirmation() {
            true => Ok(PlanVerdict::NeedsConfirmation(call.demand().clone())),
            false => Ok(PlanVerdict::Allow),
        }
    }
}
