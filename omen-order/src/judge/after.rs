//! `after`: enough premises have succeeded, and none of them has been cancelled.

use super::{Cause, Judge, OrderCode, Outcome};
use crate::history::{Call, CallId, Scope, State, all_equal, could_equal};
use crate::rules::{Duty, Link, Watch};
use crate::values::{Fit, MemberValue};

impl Judge<'_> {
    /// Judges a rule by its best alternative.
    pub(super) fn after(&self, duty: &Duty) -> Outcome {
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

    fn premise_of_after(&self, duty: &Duty, watch: &Watch, scope: Scope, own: &[MemberValue]) -> Outcome {
        let (mut certain, mut undecided) = (Vec::new(), 0);
        for other in self.history.matching(watch, scope, own) {
            match self.counts(watch, scope, own, other) {
                Fit::Yes => certain.push((other.moment(watch.was).position, other.id)),
                Fit::Unknown => undecided += 1,
                Fit::No => {}
            }
        }
        if certain.len() >= watch.times {
            certain.sort_unstable_by(|a, b| b.cmp(a));
            return Outcome::Holds(certain.into_iter().take(watch.times).map(|(_, id)| id).collect());
        }
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
        if call.state != State::Made {
            return false;
        }
        let mut untils = watch.untils.iter().zip(&link.untils);
        untils.any(|(until, members)| {
            let earlier = call.members(members);
            self.history.matching(until, scope, &earlier).any(|other| {
                let Some(link) = until.link(&other.tool) else { return false };
                let equal = all_equal(&earlier, &other.members(&link.members));
                let is_certain = !other.is_in_flight() && other.id != call.id && other.id != self.call.id;
                is_certain && other.end() >= call.start() && other.fit(&link).and(equal) == Fit::Yes
            })
        })
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
