//! Earlier calls behind a refusal, for tools that read a log and show where these calls are.

use super::{Cause, Judge, Refusal, Verdict};
use crate::history::{Call, CallId, Scope, all_equal};
use crate::rules::{Bound, Duty, Watch};
use crate::values::{Fit, MemberValue};

/// Earlier call that a refusal is based on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelatedCall {
    /// Identifier of the call.
    pub id: CallId,
    /// Log entry of its outcome, or of its intent if it has none.
    pub entry: Option<u64>,
    /// Role of the call in the refusal.
    pub relation: CallRelation,
}

/// Role of an earlier call in a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallRelation {
    /// Comes nearest to the missing premise.
    Nearest,
    /// Cancels a premise.
    Cancels,
    /// Forbids the refused call.
    Forbids,
    /// Counts towards the limit.
    Counts,
    /// Is still running.
    Runs,
    /// Has unknown arguments or an unknown session.
    Unknown,
}

impl Judge<'_> {
    /// Returns the earlier calls behind a verdict against the call, in the order of the log.
    pub(crate) fn related(&self, verdict: &Verdict) -> Vec<RelatedCall> {
        let mut found = match verdict {
            Verdict::Wait { on } => self.all(on.iter().copied(), CallRelation::Runs),
            Verdict::Refuse(refusal) => self.behind(refusal),
            Verdict::Allow { .. } | Verdict::Cancelled => Vec::new(),
        };
        found.sort_by_key(|related| self.history.calls.get(&related.id).map(Call::start));
        found.dedup();
        found
    }

    fn all(&self, ids: impl Iterator<Item = CallId>, relation: CallRelation) -> Vec<RelatedCall> {
        let call = |id| Some(RelatedCall { id, entry: self.history.calls.get(&id)?.last_entry(), relation });
        ids.filter_map(call).collect()
    }

    fn behind(&self, refusal: &Refusal) -> Vec<RelatedCall> {
        let number = refusal.rule.as_ref().map(|(_, number, _)| *number);
        let Some(duty) = self.own.duties.iter().find(|duty| Some(duty.number) == number) else { return Vec::new() };
        if let Cause::Condition(_) = refusal.cause {
            return Vec::new();
        }
        let mut found = Vec::new();
        for (watch, members) in &duty.premises {
            if let Ok((scope, own)) = self.own_members(duty, watch, members) {
                found.extend(self.behind_premise(duty, refusal, watch, scope, &own));
            }
        }
        if let (Cause::Missing(missing), true) = (&refusal.cause, found.is_empty())
            && let Some(entry) = missing.nearest.as_ref().and_then(|nearest| nearest.entry)
        {
            let calls = duty.premises.iter().flat_map(|(watch, _)| watch.tools());
            let mut calls = calls.flat_map(|tool| self.history.recent(tool));
            let nearest = calls.find(|call| call.entries.contains(&Some(entry)));
            found = self.all(nearest.map(|call| call.id).into_iter(), CallRelation::Nearest);
        }
        found
    }

    fn behind_premise(
        &self,
        duty: &Duty,
        refusal: &Refusal,
        watch: &Watch,
        scope: Scope,
        own: &[MemberValue],
    ) -> Vec<RelatedCall> {
        let is_undecided = refusal.cause.is_undecided();
        let mut found = Vec::new();
        for other in self.history.matching(watch, scope, own) {
            let counts = match duty.bound {
                Bound::Calls(_) | Bound::Sum(_) => self.counts_for_limit(watch, scope, own, other),
                _ => self.counts(watch, scope, own, other),
            };
            let relation = match (duty.bound, counts) {
                (_, Fit::Unknown) if is_undecided => CallRelation::Unknown,
                (Bound::Calls(_) | Bound::Sum(_), Fit::Yes) => CallRelation::Counts,
                (Bound::Never, Fit::Yes) => CallRelation::Forbids,
                (Bound::After, Fit::No) => {
                    let cancellers = self.cancelling(watch, scope, own, other);
                    if !cancellers.is_empty() {
                        found.extend(self.all([other.id].into_iter(), CallRelation::Nearest));
                        found.extend(self.all(cancellers.into_iter(), CallRelation::Cancels));
                    }
                    continue;
                }
                _ => continue,
            };
            found.extend(self.all([other.id].into_iter(), relation));
        }
        found
    }

    /// Returns the calls that cancel a premise that would count without them.
    fn cancelling(&self, watch: &Watch, scope: Scope, own: &[MemberValue], call: &Call) -> Vec<CallId> {
        let Some(link) = watch.link(&call.tool).filter(|_| call.is_within(watch, self.now)) else { return Vec::new() };
        if call.fit(&link).and(all_equal(own, &call.compared(&link))) == Fit::No {
            return Vec::new();
        }
        let cancellers = self.cancellers(watch, &link, scope, call);
        cancellers.filter(|(_, fit)| *fit == Fit::Yes).map(|(other, _)| other.id).collect()
    }
}

impl Call {
    /// Returns the number of its latest log entry.
    pub(crate) fn last_entry(&self) -> Option<u64> {
        self.entries.iter().rev().flatten().next().copied()
    }
}
