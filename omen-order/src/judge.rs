//! Verdicts: whether a call may be made now, must wait, or is refused, and why.

mod after;
mod ban;
mod limit;
mod nearest;
mod related;
mod verdict;

use std::sync::Arc;

use crate::history::{Call, History, Now, Scope};
use crate::rules::{Bound, Duty, Link, Role, Tool, ToolRules, Watch};
use crate::values::{Amount, Fit, MemberValue};

pub use related::{CallRelation, RelatedCall};
pub use verdict::{Cause, MissingPremise, Nearest, OrderCode, Owed, Refusal, RuleKindName, Verdict, WhyNot};

/// Outcome of one rule.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// The rule holds, on these premises.
    Holds(Vec<crate::history::CallId>),
    /// The result depends on these calls in flight.
    Waits(Vec<crate::history::CallId>),
    /// The rule is broken.
    Refuses(Box<Refusal>),
}

/// Everything that a verdict depends on.
pub(crate) struct Judge<'h> {
    pub(crate) history: &'h History,
    pub(crate) rules: &'h std::collections::HashMap<Tool, Arc<ToolRules>>,
    pub(crate) call: &'h Call,
    pub(crate) own: &'h ToolRules,
    pub(crate) now: Now,
    /// Time in milliseconds since the rules came into force.
    pub(crate) since_reload: i64,
}

impl Judge<'_> {
    /// Judges the call. Definite refusals come first, then undecidable rules, then waits.
    pub(crate) fn verdict(&self) -> Verdict {
        let (mut rests_on, mut on) = (Vec::new(), Vec::new());
        let mut undecided = None;
        for duty in &self.own.duties {
            let applies = duty
                .condition
                .map_or(Fit::Yes, |test| self.call.reading.tests.get(test).copied().flatten().unwrap_or(Fit::Unknown));
            if applies == Fit::No {
                continue;
            }
            match self.outcome(duty) {
                Outcome::Holds(calls) => rests_on.extend(calls),
                Outcome::Waits(calls) => on.extend(calls),
                Outcome::Refuses(refusal) if applies == Fit::Yes && refusal.code != OrderCode::O6 => {
                    return Verdict::Refuse(refusal);
                }
                Outcome::Refuses(refusal) if refusal.code == OrderCode::O6 => drop(undecided.get_or_insert(refusal)),
                Outcome::Refuses(refusal) => {
                    undecided
                        .get_or_insert_with(|| Box::new(self.refusal(duty, OrderCode::O6, Cause::Condition(refusal))));
                }
            }
        }
        let undecided = undecided.or_else(|| self.source());
        match undecided {
            Some(refusal) => Verdict::Refuse(refusal),
            None if on.is_empty() => Verdict::Allow { rests_on },
            None => {
                on.sort_unstable();
                on.dedup();
                Verdict::Wait { on }
            }
        }
    }

    fn outcome(&self, duty: &Duty) -> Outcome {
        match duty.bound {
            Bound::After => self.after(duty),
            Bound::Never => self.premise(duty, |judge, watch, scope, own| judge.ban(duty, watch, scope, own)),
            Bound::Calls(calls) => {
                self.premise(duty, |judge, watch, scope, own| judge.calls(duty, calls, watch, scope, own))
            }
            Bound::Sum(limit) => {
                self.premise(duty, |judge, watch, scope, own| judge.sum(duty, limit, watch, scope, own))
            }
            Bound::Owes => self.owes(duty),
        }
    }

    /// Judges a rule with a single premise, if the call's own members can be compared.
    fn premise(&self, duty: &Duty, judge: impl FnOnce(&Self, &Watch, Scope, &[MemberValue]) -> Outcome) -> Outcome {
        let Some((watch, members)) = duty.premises.first() else { return Outcome::Holds(Vec::new()) };
        match self.own_members(duty, watch, members) {
            Ok((scope, own)) => judge(self, watch, scope, &own),
            Err(refusal) => Outcome::Refuses(refusal),
        }
    }

    /// Returns the scope of a matcher, and the call's own members that it compares.
    fn own_members(
        &self,
        duty: &Duty,
        watch: &Watch,
        indices: &[usize],
    ) -> Result<(Scope, Vec<MemberValue>), Box<Refusal>> {
        let no_memory = || Box::new(self.refusal(duty, OrderCode::O6, Cause::Memory));
        let scope = History::scope(self.call, watch.per).ok_or_else(no_memory)?;
        if scope == Scope::Unplaced {
            return Err(Box::new(self.refusal(duty, OrderCode::O6, Cause::Unrecorded)));
        }
        let members = self.call.members(indices);
        for (index, member) in indices.iter().zip(&members) {
            let is_missing = match member {
                MemberValue::Key(_) => continue,
                MemberValue::Missing => true,
                MemberValue::Incomparable => false,
                MemberValue::Unknown | MemberValue::Pending => {
                    return Err(Box::new(self.refusal(duty, OrderCode::O6, Cause::Unrecorded)));
                }
            };
            let pointer = self.own.members.get(*index).map(|(_, member)| member.pointer.to_string());
            let cause = Cause::Member { pointer: pointer.unwrap_or_default(), is_missing, is_amount: false };
            return Err(Box::new(self.refusal(duty, OrderCode::O6, cause)));
        }
        Ok((scope, members))
    }

    /// Holds if the call's debt can be remembered.
    fn owes(&self, duty: &Duty) -> Outcome {
        let scope = duty.premises.first().and_then(|(watch, _)| History::scope(self.call, watch.per));
        match scope {
            Some(scope) if self.history.debts.count(scope) < crate::history::MAX_DEBTS => Outcome::Holds(Vec::new()),
            _ => Outcome::Refuses(Box::new(self.refusal(duty, OrderCode::O6, Cause::Memory))),
        }
    }

    /// Refuses a call that bans and limits could not recognize later (O-6).
    fn source(&self) -> Option<Box<Refusal>> {
        let refuse = |cause| Some(Box::new(Refusal::new(OrderCode::O6, self.call.tool.clone(), cause)));
        if self.history.is_full_for(self.call, self.own) {
            return refuse(Cause::Memory);
        }
        for link in &self.own.links {
            if !matches!(link.watch.role, Role::Forbids | Role::Limits(_)) || self.call.could_fit(link) == Fit::No {
                continue;
            }
            for index in &link.members {
                if self.call.member(*index) == MemberValue::Incomparable {
                    let pointer = self.own.members.get(*index).map(|(_, member)| member.pointer.to_string());
                    let pointer = pointer.unwrap_or_default();
                    return refuse(Cause::Member { pointer, is_missing: false, is_amount: false });
                }
            }
            if let (Some(index), Amount::Invalid) = (link.sum, self.call.sum(link)) {
                let pointer = self.own.sums.get(index).map(|(_, at)| at.to_string()).unwrap_or_default();
                return refuse(Cause::Member { pointer, is_missing: false, is_amount: true });
            }
        }
        None
    }

    /// Returns whether a call has been cancelled or lifted since.
    fn cancelled(&self, watch: &Watch, link: &Link, scope: Scope, call: &Call) -> Fit {
        self.cancellers(watch, link, scope, call).fold(Fit::No, |cancelled, (_, fit)| cancelled.or(fit))
    }

    /// Returns the calls that may have cancelled or lifted another one, each with whether it certainly has.
    fn cancellers<'j>(
        &'j self,
        watch: &'j Watch,
        link: &'j Link,
        scope: Scope,
        call: &'j Call,
    ) -> impl Iterator<Item = (&'j Call, Fit)> {
        watch.untils.iter().zip(&link.untils).flat_map(move |(until, members)| {
            let earlier = call.members(members);
            self.history.matching(until, scope, &earlier).filter_map(move |other| {
                if other.id == call.id || other.id == self.call.id || !cancels(until.role, other, call) {
                    return None;
                }
                let link = until.link(&other.tool)?;
                let equal = crate::history::all_equal(&earlier, &other.members(&link.members));
                Some((other, other.fit(&link).and(equal).and(other.placed(scope))))
            })
        })
    }

    /// Returns the calls in flight that arrived before this one and that a matcher may count, with their links.
    fn before<'j>(&'j self, watch: &'j Watch, scope: Scope) -> impl Iterator<Item = (&'j Call, Arc<Link>)> {
        watch.tools().flat_map(|tool| self.history.in_flight(tool)).filter_map(move |other| {
            let is_before = other.id != self.call.id && other.arrival < self.call.arrival;
            let link = watch.link(&other.tool).filter(|_| is_before)?;
            let may_confirm = self.rules.get(&other.tool).is_some_and(|tool| tool.may_confirm);
            let is_of_scope = History::scope(other, watch.per) == Some(scope);
            (is_of_scope && other.could_be(watch.was, may_confirm)).then_some((other, link))
        })
    }

    pub(crate) fn refusal(&self, duty: &Duty, code: OrderCode, cause: Cause) -> Refusal {
        let kind = match duty.bound {
            Bound::After => RuleKindName::After,
            Bound::Never => RuleKindName::NeverAfter,
            Bound::Calls(_) | Bound::Sum(_) => RuleKindName::Max,
            Bound::Owes => RuleKindName::BeforeEnd,
        };
        let rule = Some((kind, duty.number, duty.path.clone()));
        Refusal { rule, ..Refusal::new(code, self.call.tool.clone(), cause) }
    }
}

/// Returns whether the order of two calls lets `other` cancel `call`: a permission is cancelled unless the canceller had
/// ended before it, and a ban is lifted only by a call made after it had ended.
fn cancels(role: Role, other: &Call, call: &Call) -> bool {
    match role {
        Role::Cancels => other.end() >= call.start(),
        _ => other.start() > call.end(),
    }
}
