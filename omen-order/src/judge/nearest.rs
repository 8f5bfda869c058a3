//! The earlier call nearest to a premise, for the text of a refusal.

use super::verdict::MissingPremise;
use super::{Cause, Judge, Nearest, Refusal, WhyNot};
use crate::history::{Call, History, State, all_equal};
use crate::rules::{Duty, Link, Was, Watch};
use crate::values::{Fit, MemberValue, equal};

/// Number of earlier calls of a tool that are compared.
const COMPARED: usize = 64;

impl Judge<'_> {
    /// Returns the age of a fact in milliseconds.
    pub(super) fn age_ms(&self, call: &Call, was: Was) -> u64 {
        u64::try_from(call.moment(was).forbid_age(self.now)).unwrap_or(0)
    }

    /// Adds the missing premise and the nearest earlier call to a refusal by `after`.
    pub(super) fn explain_missing(&self, duty: &Duty, refusal: &mut Refusal) {
        if refusal.cause == Cause::Unrecorded {
            refusal.cause = Cause::Changed(u64::try_from(self.since_reload).unwrap_or(0));
        }
        if !matches!(refusal.cause, Cause::Missing(_)) {
            return;
        }
        let Some((first, _)) = duty.premises.first() else { return };
        let mut best: Option<((u8, u64), Nearest)> = None;
        let mut there = 0;
        for (watch, members) in &duty.premises {
            let own = self.call.members(members);
            let calls = watch.tools().flat_map(|tool| self.history.recent(tool).take(COMPARED));
            let running = watch.tools().flat_map(|tool| self.history.in_flight(tool));
            for other in calls.chain(running).filter(|call| call.state != State::Asked && call.id != self.call.id) {
                let Some(link) = watch.link(&other.tool) else { continue };
                match self.why_not(watch, &link, &own, other) {
                    None => there += 1,
                    Some((met, why)) => {
                        let rank = (met, other.start());
                        if best.as_ref().is_none_or(|(best, _)| rank > *best) {
                            let age_ms = other.ended.or(other.begun).map_or(0, |at| at.forbid_age(self.now));
                            let entry = other.entries.iter().flatten().next().copied();
                            let age_ms = u64::try_from(age_ms).unwrap_or(0);
                            best = Some((rank, Nearest { tool: other.tool.clone(), entry, age_ms, why }));
                        }
                    }
                }
            }
        }
        let mut tools: Vec<_> = Vec::new();
        for tool in duty.premises.iter().flat_map(|(watch, _)| &watch.named) {
            if !tools.contains(tool) {
                tools.push(tool.clone());
            }
        }
        refusal.cause = Cause::Missing(Box::new(MissingPremise {
            tools,
            members: first.args.iter().map(ToString::to_string).collect(),
            within_ms: first.within_ms,
            times: (first.times, there),
            was: Some(first.was),
            nearest: best.map(|(_, nearest)| nearest),
        }));
    }

    /// Returns the number of conditions that an earlier call meets, and the first that it does not meet; `None` if it counts.
    fn why_not(&self, watch: &Watch, link: &Link, own: &[MemberValue], other: &Call) -> Option<(u8, WhyNot)> {
        let compared = other.compared(link);
        let differing = || {
            let pairs = own.iter().zip(&compared).zip(&watch.args);
            pairs.filter(|((a, b), _)| equal(**a, **b) != Fit::Yes).map(|(_, at)| at.to_string()).collect()
        };
        let scope = History::scope(self.call, watch.per);
        let is_of_scope = scope.is_some() && History::scope(other, watch.per) == scope;
        let outcome = match other.state {
            State::Refused => "was refused",
            State::Made | State::Asked => "still runs",
            State::Ok if watch.was == Was::Confirmed => "succeeded without a confirmation",
            State::Ok => "succeeded",
            State::Failed => "failed",
            State::MayHaveRun => "may have run",
            State::DidNotRun => "did not run",
        };
        let mut cancellers = scope.into_iter().flat_map(|scope| self.cancellers(watch, link, scope, other));
        let canceller = cancellers.find(|(_, fit)| *fit == Fit::Yes).map(|(by, _)| by.tool.clone());
        let demands = [
            (is_of_scope, WhyNot::OtherSession),
            (all_equal(own, &compared) == Fit::Yes, WhyNot::Other(differing())),
            (other.is(watch.was), WhyNot::Outcome(outcome)),
            (other.fit(link) == Fit::Yes, WhyNot::Differs),
            (other.is_within(watch, self.now), WhyNot::TooOld),
            (canceller.is_none(), WhyNot::Cancelled(canceller.unwrap_or_else(|| other.tool.clone()))),
        ];
        let met = demands.iter().filter(|(is_met, _)| *is_met).count();
        let (_, why) = demands.into_iter().find(|(is_met, _)| !is_met)?;
        Some((u8::try_from(met).unwrap_or(u8::MAX), why))
    }
}
