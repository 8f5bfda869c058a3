//! `after`: enough premises have succeeded, and none of them has been cancelled.

use super::{Cause, Judge, OrderCode, Outcome};
use crate::history::{Call, CallId, History, Scope, State, all_equal, could_equal};
use crate::rules::{Duty, Link, Watch};
use crate::values::{Fit, MemberValue};

impl Judge<'_> {
    /// Judges a rule by its best alternative.
    pub(super) fn after(&self, duty: &Duty) -> Outcome {
        // One that holds settles the rule. Why the others do not is asked only if none does: reasons cost more than verdicts.
        let mut premises = duty.premises.iter();
        let holds = premises.find_map(|(watch, members)| {
            let scope = History::scope(self.call, watch.per).filter(|scope| *scope != Scope::Unplaced)?;
            let own = self.call.members(members);
            let is_comparable = own.iter().all(|member| matches!(member, MemberValue::Key(_)));
            is_comparable.then(|| Self::newest(watch, self.facts(watch, scope, &own).0))?
        });
        if let Some(calls) = holds {
            return Outcome::Holds(calls);
        }
        let mut best: Option<Outcome> = None;
        for (watch, members) in &duty.premises {
            let outcome = match self.own_members(duty, watch, members) {
                Ok((scope, own)) => self.premise_of_after(duty, watch, scope, &own),
                Err(refusal) => Outcome::Refuses(refusal),
            };
            best = Some(match best.take() {
                None => outcome,
                Some(best) if rank(&best) <= rank(&outcome) => best,
                Some(_) => outcome,
            });
        }
        match best {
            Some(Outcome::Refuses(mut refusal)) => {
                self.explain_missing(duty, &mut refusal);
                Outcome::Refuses(refusal)
            }
            Some(outcome) => outcome,
            None => Outcome::Holds(Vec::new()),
        }
    }

    /// Facts of a premise that count, each with its position, and the number of those of which that cannot be decided.
    fn facts(&self, watch: &Watch, scope: Scope, own: &[MemberValue]) -> (Vec<(u64, CallId)>, usize) {
        let (mut certain, mut undecided) = (Vec::new(), 0);
        for other in self.history.matching(watch, scope, own) {
            match self.counts(watch, scope, own, other) {
                Fit::Yes => certain.push((other.moment(watch.was).position, other.id)),
                Fit::Unknown => undecided += 1,
                Fit::No => {}
            }
        }
        (certain, undecided)
    }

    /// The newest facts that a premise needs, if there are enough.
    fn newest(watch: &Watch, mut certain: Vec<(u64, CallId)>) -> Option<Vec<CallId>> {
        (certain.len() >= watch.times).then(|| {
            certain.sort_unstable_by(|a, b| b.cmp(a));
            certain.into_iter().take(watch.times).map(|(_, id)| id).collect()
        })
    }

    /// Judges a premise that does not hold.
    fn premise_of_after(&self, duty: &Duty, watch: &Watch, scope: Scope, own: &[MemberValue]) -> Outcome {
        let (certain, undecided) = self.facts(watch, scope, own);
        let coming = self.coming(watch, scope, own);
        if certain.len() + coming.len() >= watch.times {
            return Outcome::Waits(coming);
        }
        if certain.len() + undecided >= watch.times {
            return Outcome::Refuses(Box::new(self.refusal(duty, OrderCode::O6, Cause::Unrecorded)));
        }
        Outcome::Refuses(Box::new(self.refusal(duty, OrderCode::O1, Cause::missing())))
    }

    /// Returns whether a fact counts: it fits, is recent enough, and has not been cancelled or lifted.
    pub(super) fn counts(&self, watch: &Watch, scope: Scope, own: &[MemberValue], other: &Call) -> Fit {
        let Some(link) = watch.link(&other.tool) else { return Fit::No };
        if other.id == self.call.id || !other.is_within(watch, self.now) {
            return Fit::No;
        }
        let fit = other.fit(&link).and(all_equal(own, &other.compared(&link))).and(other.placed(scope));
        if fit == Fit::No {
            return fit;
        }
        match self.cancelled(watch, &link, scope, other) {
            Fit::No => fit,
            Fit::Unknown => Fit::Unknown,
            Fit::Yes => Fit::No,
        }
    }

    /// Returns the calls in flight that could still become premises.
    fn coming(&self, watch: &Watch, scope: Scope, own: &[MemberValue]) -> Vec<CallId> {
        let could = self.before(watch, scope).filter(|(other, link)| {
            other.could_fit(link) == Fit::Yes
                && could_equal(own, &other.compared(link)) == Fit::Yes
                && !self.is_doomed(watch, link, scope, other)
        });
        could.map(|(other, _)| other.id).collect()
    }

    /// Returns whether a running call is certainly cancelled, however it ends.
    fn is_doomed(&self, watch: &Watch, link: &Link, scope: Scope, call: &Call) -> bool {
        let mut cancellers = self.cancellers(watch, link, scope, call);
        call.state == State::Made && cancellers.any(|(other, fit)| !other.is_in_flight() && fit == Fit::Yes)
    }
}

/// Ranks an alternative: one that holds is better than one that may hold, which is better than an undecidable one.
fn rank(outcome: &Outcome) -> u8 {
    match outcome {
        Outcome::Holds(_) => 0,
        Outcome::Waits(_) => 1,
        Outcome::Refuses(refusal) if refusal.code == OrderCode::O6 => 2,
        Outcome::Refuses(_) => 3,
    }
}
