//! Comparison of two policies on the same calls, from an audit log or from plans.
//!
//! Each call is checked against both policies: the allowlist with its pins, the rules on arguments and the rates
//! (PG-3), grants (G1, G2), and whether a confirmation is needed (G3). Checks that depend on more are left out, and are
//! the same under both: servers, failures, the confirmer. Patterns of queries (PG-0) are left out, too, as a log has no
//! queries.
//!
//! Unrecorded data is not guessed: a verdict that depends on it is [`ReplayVerdict::Undecidable`].

mod call;
mod side;

use std::time::SystemTime;

use crate::base::Blocked;
use crate::catalog::Catalog;
use crate::config::{Config, PolicyHash};
use crate::request::plan::{Plan, PlanLimits};

pub use call::{ReplayCall, ReplayVerdict};

use side::Side;

/// Replay of calls, in the order in which they were made, under two policies.
#[derive(Debug)]
pub struct Replay {
    old: Side,
    new: Side,
    catalog: Option<Catalog>,
    limits: (PlanLimits, PlanLimits),
}

impl Replay {
    /// Creates a replay of two policies, with the tools of the servers if they are known. `now` is the time of calls
    /// without one.
    #[must_use]
    pub fn new(old: &Config, new: &Config, catalog: Option<Catalog>, now: SystemTime) -> Self {
        let limits = (old.limits.plan(), new.limits.plan());
        Self { old: Side::new(old, now), new: Side::new(new, now), catalog, limits }
    }

    /// Hashes of the old and the new policy.
    #[must_use]
    pub fn hashes(&self) -> (PolicyHash, PolicyHash) {
        (self.old.hash, self.new.hash)
    }

    /// Whether the patterns of queries (PG-0) differ, which a replay does not check.
    #[must_use]
    pub fn patterns_differ(&self) -> bool {
        self.old.patterns != self.new.patterns
    }

    /// Returns the verdicts of the old and the new policy on a call.
    pub fn judge(&mut self, call: &ReplayCall) -> (ReplayVerdict, ReplayVerdict) {
        let listed = self.catalog.as_ref().map(|catalog| catalog.find(&call.tool));
        let refused = call.refused.clone().or_else(|| match (&listed, &call.args) {
            (Some(Err(blocked)), _) => Some(blocked.clone()),
            // A hidden value might be valid.
            (Some(Ok(listed)), Some(args)) if !crate::call::arguments::has_masked(args) => listed.conform(args).err(),
            _ => None,
        });
        if let Some(refused) = refused {
            return (ReplayVerdict::Deny(refused.clone()), ReplayVerdict::Deny(refused));
        }
        let listed = listed.and_then(Result::ok);
        let form = call.pin.or_else(|| listed.and_then(|listed| listed.pin().ok().copied()));
        // A form that both policies pin is the actual one, or both refuse it alike.
        let form = form.or_else(|| {
            let (old, new) = (self.old.pin(&call.tool), self.new.pin(&call.tool));
            old.filter(|_| old == new)
        });
        let schema = listed.map(|listed| &listed.tool().input_schema);
        (self.old.judge(call, form, schema), self.new.judge(call, form, schema))
    }

    /// Returns the verdicts of both policies on a planner's text; `None` if no tool is called under either.
    pub fn judge_plan(&mut self, text: &str) -> Option<(ReplayVerdict, ReplayVerdict)> {
        let plans = (Plan::parse(text, &self.limits.0), Plan::parse(text, &self.limits.1));
        let call = |plan: &Result<Plan, Blocked>| match plan {
            Ok(Plan::CallTool(call)) => Some(ReplayCall {
                tool: call.tool().clone(),
                args: Some(call.args().clone()),
                pin: None,
                time: None,
                refused: None,
            }),
            _ => None,
        };
        let Some(call) = call(&plans.0).or_else(|| call(&plans.1)) else {
            return match plans {
                (Err(old), Err(new)) => Some((ReplayVerdict::Deny(old), ReplayVerdict::Deny(new))),
                _ => None,
            };
        };
        let (old, new) = self.judge(&call);
        let said = |plan: Result<Plan, Blocked>, verdict| plan.err().map_or(verdict, ReplayVerdict::Deny);
        Some((said(plans.0, old), said(plans.1, new)))
    }
}
