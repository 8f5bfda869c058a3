//! `max`: a maximum number of calls, or a maximum total, including this call.

use super::{Cause, Judge, OrderCode, Outcome, Refusal};
use crate::history::{Call, Scope};
use crate::rules::{Duty, MAX_CALLS, Watch};
use crate::values::{Amount, Fit, MemberValue};

impl Judge<'_> {
    pub(super) fn calls(&self, duty: &Duty, limit: usize, watch: &Watch, scope: Scope, own: &[MemberValue]) -> Outcome {
        let (certain, undecided) = self.counted(watch, scope, own);
        let (mut least, mut most) = (certain.len(), certain.len() + undecided.len());
        match self.own_fit(watch) {
            Fit::Yes => (least, most) = (least + 1, most + 1),
            Fit::Unknown => most += 1,
            Fit::No => {}
        }
        if least > limit {
            let leave = least - limit;
            let used = u64::try_from(certain.len()).unwrap_or(u64::MAX);
            return Outcome::Refuses(Box::new(self.full(duty, watch, &certain, (limit as u64, None, used), |left| {
                left.get(leave.saturating_sub(1)).map(|(left, _)| *left)
            })));
        }
        if most > limit {
            return Outcome::Refuses(Box::new(self.refusal(duty, OrderCode::O6, Cause::Unrecorded)));
        }
        Outcome::Holds(Vec::new())
    }

    pub(super) fn sum(&self, duty: &Duty, limit: u64, watch: &Watch, scope: Scope, own: &[MemberValue]) -> Outcome {
        let (certain, undecided) = self.counted(watch, scope, own);
        let amount = |call: &Call| watch.link(&call.tool).map_or(Amount::Unknown, |link| call.sum(&link));
        let pointer = || {
            let link = watch.link(&self.call.tool)?;
            self.own.sums.get(link.sum?).map(|(_, at)| at.to_string())
        };
        let mine = match self.own_fit(watch) {
            Fit::No => 0,
            _ => match amount(self.call) {
                Amount::Known(mine) => mine,
                Amount::Invalid => {
                    let pointer = pointer().unwrap_or_default();
                    let cause = Cause::Member { pointer, is_missing: false, is_amount: true };
                    return Outcome::Refuses(Box::new(self.refusal(duty, OrderCode::O6, cause)));
                }
                Amount::Unknown => {
                    return Outcome::Refuses(Box::new(self.refusal(duty, OrderCode::O6, Cause::Unrecorded)));
                }
            },
        };
        let total = |calls: &[&Call]| {
            calls.iter().fold((0u64, false), |(total, is_unknown), call| match amount(call) {
                Amount::Known(amount) => (total.saturating_add(amount), is_unknown),
                Amount::Invalid | Amount::Unknown => (total, true),
            })
        };
        let (used, mut is_unknown) = total(&certain);
        let (possible, more_unknown) = total(&undecided);
        is_unknown |= more_unknown;
        let is_certain = self.own_fit(watch) != Fit::Unknown;
        let least = used.saturating_add(if is_certain { mine } else { 0 });
        let at = watch.link(&self.call.tool).and(pointer());
        if least > limit || certain.len() + undecided.len() >= MAX_CALLS as usize {
            let free = limit.saturating_sub(mine);
            return Outcome::Refuses(Box::new(self.full(
                duty,
                watch,
                &certain,
                (limit, at.or_else(|| Some(String::new())), used),
                |left| {
                    let mut rest = used;
                    left.iter().find_map(|(ms, call)| {
                        rest = rest.saturating_sub(match amount(call) {
                            Amount::Known(amount) => amount,
                            Amount::Invalid | Amount::Unknown => 0,
                        });
                        (rest <= free).then_some(*ms)
                    })
                },
            )));
        }
        if is_unknown || used.saturating_add(possible).saturating_add(mine) > limit {
            return Outcome::Refuses(Box::new(self.refusal(duty, OrderCode::O6, Cause::Unrecorded)));
        }
        Outcome::Holds(Vec::new())
    }

    /// Returns the calls that a limit counts, and those that it may count.
    fn counted(&self, watch: &Watch, scope: Scope, own: &[MemberValue]) -> (Vec<&Call>, Vec<&Call>) {
        let (mut certain, mut undecided) = (Vec::new(), Vec::new());
        for other in self.history.matching(watch, scope, own) {
            match self.counts_for_limit(watch, scope, own, other) {
                Fit::Yes => certain.push(other),
                Fit::Unknown => undecided.push(other),
                Fit::No => {}
            }
        }
        (certain, undecided)
    }

    /// Returns whether the call itself counts.
    fn own_fit(&self, watch: &Watch) -> Fit {
        watch.link(&self.call.tool).map_or(Fit::No, |link| self.call.could_fit(&link))
    }

    fn full(
        &self,
        duty: &Duty,
        watch: &Watch,
        counted: &[&Call],
        (limit, sum, used): (u64, Option<String>, u64),
        retry: impl FnOnce(&[(u64, &Call)]) -> Option<u64>,
    ) -> Refusal {
        // Usage by other sessions is not disclosed.
        let is_own = self.call.session.is_some() && counted.iter().all(|call| call.session == self.call.session);
        let cause = Cause::Full { limit, sum, used: is_own.then_some(used), within_ms: watch.within_ms };
        let mut left: Vec<_> = counted
            .iter()
            .filter_map(|call| {
                let left = watch.within?.saturating_sub(call.age(watch, self.now));
                Some((u64::try_from(left).ok()?, *call))
            })
            .collect();
        left.sort_unstable_by_key(|(left, _)| *left);
        Refusal { retry_after_ms: retry(&left), ..self.refusal(duty, OrderCode::O3, cause) }
    }
}
