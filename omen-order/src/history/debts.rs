//! Debts of sessions and turns: the later calls that `before_end` requires.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::{Call, CallId, Moment, Now, Scope};
use crate::rules::{ContentId, Watch};
use crate::values::{Fit, MemberValue};

/// Call that is owed.
#[derive(Clone, Debug)]
pub(crate) struct Debt {
    pub(crate) opener: CallId,
    pub(crate) rule: usize,
    pub(crate) content: ContentId,
    pub(crate) path: String,
    pub(crate) watch: Arc<Watch>,
    pub(crate) scope: Scope,
    /// Members of the opener that the settling call must have.
    pub(crate) members: Vec<MemberValue>,
    pub(crate) since: Moment,
    /// Whether the rule's condition could not be decided, or a call may have settled the debt.
    pub(crate) is_uncertain: bool,
}

impl Debt {
    /// Returns the monotonic time at which the debt is overdue.
    pub(crate) fn deadline(&self) -> Option<i64> {
        self.watch.within.map(|within| self.since.forbids.saturating_add(within))
    }

    /// Returns whether a call that has succeeded settles the debt.
    fn settled_by(&self, call: &Call) -> Fit {
        let Some(link) = self.watch.link(&call.tool) else { return Fit::No };
        if call.start() <= self.since.position || call.end() <= self.since.position {
            return Fit::No;
        }
        call.fit(&link).and(super::all_equal(&self.members, &call.members(&link.members)))
    }
}

/// Debts of all sessions, in the order in which they were incurred.
#[derive(Debug, Default)]
pub(crate) struct Debts {
    open: BTreeMap<(CallId, usize), Debt>,
    by_scope: HashMap<Scope, std::collections::BTreeSet<(CallId, usize)>>,
    deadlines: std::collections::BTreeSet<(i64, CallId, usize)>,
}

/// Maximum number of debts of a scope.
pub(crate) const MAX_DEBTS: usize = 10_000;

impl Debts {
    pub(crate) fn add(&mut self, debt: Debt) {
        let id = (debt.opener, debt.rule);
        self.by_scope.entry(debt.scope).or_default().insert(id);
        self.deadlines.extend(debt.deadline().map(|deadline| (deadline, id.0, id.1)));
        self.open.insert(id, debt);
    }

    fn remove(&mut self, id: (CallId, usize)) -> Option<Debt> {
        let debt = self.open.remove(&id)?;
        if let Some(deadline) = debt.deadline() {
            self.deadlines.remove(&(deadline, id.0, id.1));
        }
        if let Some(ids) = self.by_scope.get_mut(&debt.scope) {
            ids.remove(&id);
            if ids.is_empty() {
                self.by_scope.remove(&debt.scope);
            }
        }
        Some(debt)
    }

    /// Takes the debts that a call settles.
    pub(crate) fn settle(&mut self, call: &Call, scopes: &[Scope]) -> Vec<Debt> {
        let ids: Vec<_> = scopes.iter().filter_map(|scope| self.by_scope.get(scope)).flatten().copied().collect();
        let mut settled = Vec::new();
        for id in ids {
            let Some(debt) = self.open.get_mut(&id) else { continue };
            match debt.settled_by(call) {
                Fit::Yes => settled.extend(self.remove(id)),
                Fit::Unknown => debt.is_uncertain = true,
                Fit::No => {}
            }
        }
        settled
    }

    pub(crate) fn take(&mut self, scope: Scope) -> Vec<Debt> {
        let ids = self.by_scope.get(&scope).cloned().unwrap_or_default();
        ids.into_iter().filter_map(|id| self.remove(id)).collect()
    }

    /// Takes the debts whose deadline has passed.
    pub(crate) fn overdue(&mut self, now: Now) -> Vec<Debt> {
        let mut overdue = Vec::new();
        while let Some((deadline, opener, rule)) = self.deadlines.first().copied() {
            if deadline > now.mono {
                break;
            }
            overdue.extend(self.remove((opener, rule)));
            self.deadlines.remove(&(deadline, opener, rule));
        }
        overdue.sort_by_key(|debt| (debt.opener, debt.rule));
        overdue
    }

    pub(crate) fn next_deadline(&self) -> Option<i64> {
        self.deadlines.first().map(|(deadline, ..)| *deadline)
    }

    /// Returns the debts of scopes, by opener.
    pub(crate) fn in_scopes(&self, scopes: &[Scope]) -> Vec<&Debt> {
        let ids: std::collections::BTreeSet<_> =
            scopes.iter().filter_map(|scope| self.by_scope.get(scope)).flatten().copied().collect();
        ids.iter().filter_map(|id| self.open.get(id)).collect()
    }

    pub(crate) fn count(&self, scope: Scope) -> usize {
        self.by_scope.get(&scope).map_or(0, std::collections::BTreeSet::len)
    }

    pub(crate) fn clear(&mut self) -> Vec<Debt> {
        self.by_scope.clear();
        self.deadlines.clear();
        std::mem::take(&mut self.open).into_values().collect()
    }
}
