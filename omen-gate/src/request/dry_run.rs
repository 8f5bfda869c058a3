//! What the gate would say of a plan, if it came now. No tool is called, no server asked, nothing recorded.
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
//! The functions that judge here are those of the [`pipeline`](crate::pipeline): PG-1, PG-T, PG-2, PG-3, G1 and G2,
//! and whether a confirmation is needed (G3). What depends on more than the plan is left out: the query (PG-0),
//! failures of the tool and the turn (R1 to R3), and the answer (PG-4, PG-5).

mod line;
mod verdict;

use std::sync::Arc;

use crate::base::{Blocked, GateClock, GateCode, TurnId};
use crate::catalog::{Allowlist, Catalog};
use crate::config::Config;
use crate::grant::Grants;
use crate::request::plan::{Plan, PlanLimits};

pub use verdict::PlanVerdict;

/// Judges plans by a configuration and a catalogue. Each plan is judged by itself, as if it were the first: a grant
/// for one use is as good for the second plan as for the first.
///
/// The catalogue stands for what the servers list. A tool of it whose server is not configured is one that the
/// operator has not allowed.
#[derive(Debug)]
pub struct DryRun {
    limits: PlanLimits,
    catalog: Catalog,
    allow: Allowlist,
    grants: Grants,
    turn: TurnId,
}

impl DryRun {
    /// Takes what there is to judge by. Grants expire by the clock's time of day.
    ///
    /// # Errors
    /// PG-2 if a server lists more than the configuration's limits take, and G1 if there are more grants than a gate
    /// holds.
    pub fn new(config: &Config, catalog: Catalog, clock: Arc<dyn GateClock>) -> Result<Self, Blocked> {
        catalog.within(config.limits.catalog())?;
        let turn = TurnId::new("dry-run");
        Ok(Self {
            limits: config.limits.plan(),
            catalog,
            allow: config.allow.clone(),
            grants: Grants::with_defaults(clock, config.grants.iter().cloned())?,
            turn: turn
                .map_err(|error| Blocked::new(GateCode::A2, error.to_string(), "this is a bug; please report it"))?,
        })
    }

    /// Judges what a planner wrote.
    #[must_use]
    pub fn judge(&self, text: &str) -> PlanVerdict {
        self.way(text).unwrap_or_else(PlanVerdict::Block)
    }

    /// The steps of a request, as far as they go without a server.
    fn way(&self, text: &str) -> Result<PlanVerdict, Blocked> {
        let call = match Plan::parse(text, &self.limits)? {
            Plan::CallTool(call) => call,
            Plan::FinalAnswer(answer) => return Ok(PlanVerdict::Terminal(answer)),
        };
        let listed = self.catalog.conform(call.tool(), call.args())?;
        let call = self.allow.permit_call(listed, &self.turn, call.args())?;
        self.allow.judge_arguments(&call)?;
        // Nothing comes of this decision, so that there is nothing to record (G4).
        let lease = self.grants.check(&call).recorded(|_| Ok::<_, Blocked>(()))?;
        match lease.needs_confirmation() {
            true => Ok(PlanVerdict::NeedsConfirmation(call.demand().clone())),
            false => Ok(PlanVerdict::Allow),
        }
    }
}
