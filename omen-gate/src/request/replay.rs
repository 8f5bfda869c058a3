//! Comparison of two policies on the same calls, taken from an audit log or from plans.
//!
//! Each call is checked against both policies: the allowlist with its pins, the argument rules and rate limits (PG-3), grants
//! (G1, G2), and whether a confirmation is needed (G3). Checks that depend on anything else are omitted and are the same under
//! both: servers, failures, the confirmer. Query patterns (PG-0) are omitted too, because a log contains no queries.
//!
//! The order rules (O-1 to O-6) judge the calls in a log as facts, in their places: a call that only one policy allows is
//! still followed by the calls that were made. A plan is judged as the first call of its session.
//!
//! Unrecorded data is not guessed: a verdict that depends on it is [`ReplayVerdict::Undecidable`], or [`ReplayVerdict::UndecidableOrder`].

mod call;
mod side;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use omen_order::Policy;

use crate::base::Blocked;
use crate::catalog::Catalog;
use crate::config::{Config, PolicyHash};
use crate::request::order_log::{LogEntry, OrderLog, UnreadableOrder, first_call};
use crate::request::plan::{Plan, PlanLimits};
use omen_audit::{Key, Logged};

pub use call::{ReplayCall, ReplayVerdict, ReplayedCall};

use side::Side;

/// Replay of calls under two policies, in the order in which the calls were made.
#[derive(Debug)]
pub struct Replay {
    old: Side,
    new: Side,
    catalog: Option<Catalog>,
    limits: (PlanLimits, PlanLimits),
    policies: (Arc<Policy>, Arc<Policy>),
    orders: (OrderLog, OrderLog),
    /// Calls that still lack the verdicts of the order rules, by entry number.
    waiting: BTreeMap<u64, ReplayedCall>,
}

impl Replay {
    /// Creates a replay of two policies, with the servers' tools if they are known. `now` is the time of calls that have none.
    #[must_use]
    pub fn new(old: &Config, new: &Config, catalog: Option<Catalog>, now: SystemTime) -> Self {
        let limits = (old.limits.plan(), new.limits.plan());
        Self {
            old: Side::new(old, now),
            new: Side::new(new, now),
            catalog,
            limits,
            policies: (Arc::clone(&old.order), Arc::clone(&new.order)),
            orders: (OrderLog::new(old, None), OrderLog::new(new, None)),
            waiting: BTreeMap::new(),
        }
    }

    /// Sets the log's key, with which arguments are compared with what the log contains about earlier ones. Must be set
    /// before the first entry is added.
    pub fn set_key(&mut self, key: &Key) {
        let (old, new) = &self.policies;
        self.orders = (OrderLog::by_policy(old, Some(key)), OrderLog::by_policy(new, Some(key)));
    }

    /// Returns whether one of the policies has order rules.
    #[must_use]
    pub fn has_order(&self) -> bool {
        let has = |policy: &Policy| policy.tools.values().any(|tool| !tool.rules.is_empty());
        has(&self.policies.0) || has(&self.policies.1)
    }

    /// Accepts the next entry of a log, and returns the calls whose verdicts become known with it. The verdict on a refused
    /// call may come with a later entry.
    ///
    /// # Errors
    /// If the entry's data for the order rules cannot be read.
    pub fn add(&mut self, entry: Logged<'_>) -> Result<Vec<ReplayedCall>, UnreadableOrder> {
        if let Some(call) = ReplayCall::of_entry(entry) {
            let (time, turn) = (entry.time().to_owned(), entry.turn().map(str::to_owned));
            let verdicts = self.judge(&call);
            let replayed = ReplayedCall { entry: entry.sequence(), time, turn, call, verdicts };
            self.waiting.insert(entry.sequence(), replayed);
        }
        let kind = entry.kind();
        let logged = LogEntry::new(entry, &kind);
        self.orders.0.add(&logged)?;
        self.orders.1.add(&logged)?;
        Ok(self.ordered())
    }

    /// Ends the log, and returns the calls whose verdicts were not yet known.
    pub fn end(&mut self) -> Vec<ReplayedCall> {
        self.orders.0.end(false);
        self.orders.1.end(false);
        let mut calls = self.ordered();
        calls.extend(std::mem::take(&mut self.waiting).into_values());
        calls
    }

    /// Takes the calls that the order rules have judged.
    fn ordered(&mut self) -> Vec<ReplayedCall> {
        let (old, new) = &mut self.orders;
        // Debts at the end of a session are not verdicts on calls.
        drop((old.debts(), new.debts()));
        let judged = old.judged().into_iter().zip(new.judged());
        let judged = judged.filter_map(|(old, new)| {
            let call = self.waiting.remove(&old.entry)?;
            let (before, after) = call.verdicts;
            Some(ReplayedCall { verdicts: (before.with_order(&old), after.with_order(&new)), ..call })
        });
        judged.collect()
    }

    /// Returns the hashes of the old and the new policy.
    #[must_use]
    pub fn hashes(&self) -> (PolicyHash, PolicyHash) {
        (self.old.hash, self.new.hash)
    }

    /// Returns whether the query patterns (PG-0), which a replay does not check, differ.
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

    /// Returns the verdicts of both policies on a planner's text; `None` if neither policy leads to a tool call.
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
        let (old, new) = (Self::first(&self.policies.0, &call, old), Self::first(&self.policies.1, &call, new));
        let said = |plan: Result<Plan, Blocked>, verdict| plan.err().map_or(verdict, ReplayVerdict::Deny);
        Some((said(plans.0, old), said(plans.1, new)))
    }

    /// Combines a verdict on a plan with the verdict of the order rules on the first call of a session.
    fn first(policy: &Policy, call: &ReplayCall, verdict: ReplayVerdict) -> ReplayVerdict {
        let ordered = call.args.as_ref().map_or(Ok(()), |args| first_call(policy, &call.tool, args));
        match (verdict, ordered) {
            (ReplayVerdict::Allow | ReplayVerdict::Confirm, Err(blocked)) => ReplayVerdict::Deny(blocked),
            (verdict, _) => verdict,
        }
    }
}
