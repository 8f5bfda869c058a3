//! `never_after`: fewer facts than the rule forbids, not counting lifted ones.

use super::{Cause, Judge, OrderCode, Outcome, Refusal};
use crate::history::{Call, CallId, Scope, State, all_equal, could_equal};
use crate::rules::{Duty, Was, Watch};
use crate::values::{Fit, MemberValue};

impl Judge<'_> {
    pub(super) fn ban(&self, duty: &Duty, watch: &Watch, scope: Scope, own: &[MemberValue]) -> Outcome {
        let (mut certain, mut undecided) = (Vec::new(), Vec::new());
        for other in self.history.matching(watch, scope, own) {
            match self.counts(watch, scope, own, other) {
                Fit::Yes => certain.push(other),
                Fit::Unknown => undecided.push(other),
                Fit::No => {}
            }
        }
        let facts = certain.len() + undecided.len();
        if facts >= watch.times {
            // Waits for calls in flight that could lift enough of them.
            let mut lifts = Vec::new();
            let remain = certain.iter().chain(&undecided).filter(|other| {
                let lifting = self.lifting(watch, scope, other);
                let remains = lifting.is_empty();
                lifts.extend(lifting);
                remains
            });
            if remain.count() < watch.times {
                return Outcome::Waits(lifts);
            }
            return Outcome::Refuses(Box::new(match certain.len() >= watch.times {
                true => self.forbidden(duty, watch, &certain),
                false => self.refusal(duty, OrderCode::O6, Cause::Unrecorded),
            }));
        }
        let coming = self.coming_facts(watch, scope, own);
        match facts + coming.len() >= watch.times {
            true => Outcome::Waits(coming),
            false => Outcome::Holds(Vec::new()),
        }
    }

    /// Returns the calls in flight that could lift a ban.
    fn lifting(&self, watch: &Watch, scope: Scope, call: &Call) -> Vec<CallId> {
        let Some(link) = watch.link(&call.tool) else { return Vec::new() };
        let untils = watch.untils.iter().zip(&link.untils);
        untils
            .flat_map(|(until, members)| {
                let earlier = call.members(members);
                let could = self.before(until, scope).filter(move |(other, link)| {
                    other.could_fit(link) == Fit::Yes
                        && could_equal(&earlier, &other.members(&link.members)) == Fit::Yes
                        && other.id != call.id
                        && (other.state == State::Asked || other.start() > call.end())
                });
                could.map(|(other, _)| other.id).collect::<Vec<_>>()
            })
            .collect()
    }

    /// Returns the calls in flight that could become facts of a ban that counts only ends.
    fn coming_facts(&self, watch: &Watch, scope: Scope, own: &[MemberValue]) -> Vec<CallId> {
        if !matches!(watch.was, Was::Ok | Was::Failed | Was::Confirmed) {
            return Vec::new();
        }
        let could = self.before(watch, scope).filter(|(other, link)| {
            other.could_fit(link) != Fit::No && could_equal(own, &other.compared(link)) != Fit::No
        });
        could.map(|(other, _)| other.id).collect()
    }

    /// Returns the refusal, which names the latest of the forbidding calls.
    fn forbidden(&self, duty: &Duty, watch: &Watch, facts: &[&Call]) -> Refusal {
        let Some(latest) = facts.iter().max_by_key(|call| call.moment(watch.was).position) else {
            return self.refusal(duty, OrderCode::O2, Cause::Unrecorded);
        };
        let cause = Cause::Forbidden {
            tool: latest.tool.clone(),
            age_ms: self.age_ms(latest, watch.was),
            entry: latest.entries.iter().flatten().next().copied(),
            may_have_run: latest.state == State::MayHaveRun,
            lifted_by: watch.untils.iter().flat_map(|until| until.named.clone()).collect(),
            members: watch.args.iter().map(ToString::to_string).collect(),
        };
        let retry_after_ms = watch.within.and_then(|within| {
            let mut left: Vec<_> = facts.iter().map(|call| within.saturating_sub(call.age(watch, self.now))).collect();
            left.sort_unstable_by(|a, b| b.cmp(a));
            // Facts must leave the window until fewer than `times` remain.
            left.get(watch.times.saturating_sub(1)).and_then(|left| u64::try_from(*left).ok())
        });
        Refusal { retry_after_ms, ..self.refusal(duty, OrderCode::O2, cause) }
    }

    /// Returns whether a fact of a limit counts; nothing cancels it.
    pub(super) fn counts_for_limit(&self, watch: &Watch, scope: Scope, own: &[MemberValue], other: &Call) -> Fit {
        let Some(link) = watch.link(&other.tool) else { return Fit::No };
        if other.id == self.call.id || !other.is_within(watch, self.now) {
            return Fit::No;
        }
        other.fit(&link).and(all_equal(own, &other.compared(&link))).and(other.placed(scope))
    }
}
