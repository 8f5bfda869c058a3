//! Verdicts on a call after a history of ended calls.

use std::collections::BTreeMap;

use super::classes::{Alphabet, CallClass, ComparedMember, Move, earlier, own};
use super::facts::{CallScope, ConeRules, Fact, Matcher, SideRule, cancels, is_fact};
use super::model::IntentLimit;
use crate::rules::{Bound, Role, Until};
use crate::values::Fit;

/// Rules, and all calls that a search tries.
#[derive(Debug)]
pub(super) struct SequenceJudge {
    pub(super) rules: ConeRules,
    pub(super) alphabet: Alphabet,
    /// For each move and matcher, how the matcher sees the call; `None` if it can never be a fact.
    seen: Vec<Vec<Option<CallView>>>,
    /// Cancellations by each move.
    cancels: Vec<Vec<Cancellation>>,
    /// Rules about each call.
    applied: Vec<Vec<AppliedRule>>,
    /// Number of each view, equal for equal views of one matcher.
    alike: Vec<Vec<usize>>,
    /// Whether each side would be unable to recognize a call later.
    is_unrecognisable: Vec<[bool; 2]>,
}

/// Rule applied to a call, with the members of the call that it compares.
#[derive(Debug)]
struct AppliedRule {
    question: usize,
    /// Matchers, each with the members of the call; `None` if one of them cannot be compared.
    own: Vec<(usize, Option<Vec<ComparedMember>>)>,
    /// Whether the call counts towards its own limit.
    is_own: bool,
    /// What it adds to that, if amounts are added up.
    amount: u64,
}

/// How a matcher sees a call.
#[derive(Debug, PartialEq)]
struct CallView {
    fit: Fit,
    members: Vec<ComparedMember>,
    /// What the call adds, if amounts are added up.
    amount: u64,
    /// Members that each `until` compares.
    untils: Vec<Vec<ComparedMember>>,
}

#[derive(Debug)]
struct Cancellation {
    matcher: usize,
    until: usize,
    fit: Fit,
    members: Vec<ComparedMember>,
}

/// Reason of one side's refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RefusedBy<'r> {
    /// The checks before the order rules.
    Admission,
    /// Grants that have expired.
    Expiry,
    /// The order rule of this path.
    Rule(&'r str),
    /// A limit of intents.
    Limit(IntentLimit),
    /// A member that a rule must recognize in later calls cannot be compared.
    Incomparable,
}

impl SequenceJudge {
    pub(super) fn new(rules: ConeRules, alphabet: Alphabet) -> Self {
        let mut judge = Self {
            rules,
            alphabet,
            seen: Vec::new(),
            cancels: Vec::new(),
            applied: Vec::new(),
            alike: Vec::new(),
            is_unrecognisable: Vec::new(),
        };
        for step in &judge.alphabet.moves {
            let views = judge.rules.matchers.iter().map(|matcher| judge.view(matcher, step)).collect();
            judge.seen.push(views);
            judge.cancels.push(judge.cancellations(step));
        }
        for class in &judge.alphabet.calls {
            judge.applied.push(judge.rules_applied_to(class));
            judge.is_unrecognisable.push([0, 1].map(|side| judge.is_unrecognisable(side, class)));
        }
        judge.forget_irrelevant();
        for seen in &judge.seen {
            let alike = seen.iter().enumerate().map(|(index, view)| {
                let first = judge.seen.iter().position(|other| other.get(index) == Some(view));
                first.unwrap_or(0)
            });
            judge.alike.push(alike.collect());
        }
        judge
    }

    /// Forgets facts that no question can ever count: if the deciding call is not a fact itself, its rules count only
    /// facts that can be compared with the last call.
    fn forget_irrelevant(&mut self) {
        let calls = &self.alphabet.calls;
        let is_last = |class: &&CallClass| class.tool == 0;
        let has_effect = |step: usize| self.facts(step) != 0 || self.is_canceller(step);
        let mut moves = self.alphabet.moves.iter().enumerate();
        let decides_before =
            moves.any(|(step, taken)| calls.get(taken.call).is_some_and(|class| class.tool == 0) && has_effect(step));
        if decides_before {
            return;
        }
        let mut forgotten = Vec::new();
        for (index, _) in self.rules.matchers.iter().enumerate() {
            let mut users = self.rules.questions.iter().filter(|question| question.matchers.contains(&index));
            if users.any(|question| question.tool != 0) {
                continue;
            }
            let last = calls.iter().zip(&self.applied).filter(|(class, _)| is_last(class) && self.may_be_last(class));
            let own: Vec<_> = last
                .flat_map(|(_, applied)| applied.iter().flat_map(|applied| &applied.own))
                .filter(|(matcher, _)| *matcher == index)
                .filter_map(|(_, own)| own.as_ref())
                .collect();
            for (step, seen) in self.seen.iter().enumerate() {
                let Some(Some(view)) = seen.get(index) else { continue };
                if own.iter().all(|own| all_equal(own, &view.members) == Fit::No) {
                    forgotten.push((step, index));
                }
            }
        }
        for (step, index) in forgotten {
            if let Some(view) = self.seen.get_mut(step).and_then(|seen| seen.get_mut(index)) {
                *view = None;
            }
        }
    }

    /// Returns whether the last call may be of a class. It has the first names of all values, since the others are alike.
    pub(super) fn may_be_last(&self, class: &CallClass) -> bool {
        let mut next: BTreeMap<u32, u32> = BTreeMap::new();
        class.example.names.iter().all(|name| {
            let next = next.entry(name.class).or_default();
            let may = name.index <= *next;
            *next += u32::from(name.index == *next);
            may
        })
    }

    /// Returns a number that is equal for facts that a matcher sees alike.
    pub(super) fn alike(&self, step: usize, matcher: usize) -> usize {
        self.alike.get(step).and_then(|alike| alike.get(matcher)).copied().unwrap_or(0)
    }

    fn view(&self, matcher: &Matcher, step: &Move) -> Option<CallView> {
        let call = self.alphabet.calls.get(step.call)?;
        let premise = &matcher.premise;
        let is_confirmed = *self.alphabet.confirms.get(call.tool)?;
        let is_named = self.rules.tools.get(call.tool).is_some_and(|tool| premise.tools.contains(tool));
        if !is_named || !matcher.counts(&step.end, is_confirmed) {
            return None;
        }
        let answer = step.answer.as_ref().map_or(Fit::Unknown, |answer| answer.fit(premise.answer.as_ref()));
        let answer = if premise.answer.is_some() { answer } else { Fit::Yes };
        let fit = call.example.fit(premise.args.as_ref()).and(answer);
        let mut members = earlier(&call.example, step.answer.as_ref(), &premise.same);
        let is_premise = matcher.role == Role::Permits;
        if is_premise {
            let incomparable = members.iter_mut().filter(|member| **member == ComparedMember::Incomparable);
            incomparable.for_each(|member| *member = ComparedMember::Missing);
        }
        let is_needed = if is_premise { fit == Fit::Yes } else { fit != Fit::No };
        let untils = premise.until.iter().map(|until| earlier(&call.example, step.answer.as_ref(), &until.same));
        let untils = untils.collect();
        let amount = matcher.sum.as_ref().map(|at| call.example.amount(at));
        // Nothing is added by a call that each side refuses without a valid amount, or by 0.
        let adds = amount.is_none_or(|amount| amount.is_some_and(|amount| amount > 0));
        let amount = amount.flatten().unwrap_or(0);
        (is_needed && adds && !members.contains(&ComparedMember::Missing)).then_some(CallView {
            fit,
            members,
            amount,
            untils,
        })
    }

    fn cancellations(&self, step: &Move) -> Vec<Cancellation> {
        let Some(call) = self.alphabet.calls.get(step.call) else { return Vec::new() };
        let Some(tool) = self.rules.tools.get(call.tool) else { return Vec::new() };
        let confirms = self.alphabet.confirms.get(call.tool).copied().unwrap_or_default();
        let mut found = Vec::new();
        for (index, matcher) in self.rules.matchers.iter().enumerate() {
            let is_confirmed = confirms.get(matcher.side).copied().unwrap_or(false);
            for (number, until) in matcher.premise.until.iter().enumerate() {
                if !cancels(until, tool) || !is_fact(until.was, &step.end, is_confirmed) {
                    continue;
                }
                let fit = self.until_fit(until, step);
                let is_possible = if matcher.role == Role::Permits { fit != Fit::No } else { fit == Fit::Yes };
                if is_possible {
                    let members = own(&call.example, &until.same);
                    found.push(Cancellation { matcher: index, until: number, fit, members });
                }
            }
        }
        found
    }

    fn until_fit(&self, until: &Until, step: &Move) -> Fit {
        let Some(call) = self.alphabet.calls.get(step.call) else { return Fit::No };
        let answer = match (&until.answer, &step.answer) {
            (None, _) => Fit::Yes,
            (test, Some(answer)) => answer.fit(test.as_ref()),
            (Some(_), None) => Fit::Unknown,
        };
        call.example.fit(until.args.as_ref()).and(answer)
    }

    /// Returns the matchers for which a move is a fact, as a bit set.
    pub(super) fn facts(&self, step: usize) -> u128 {
        let seen = self.seen.get(step).into_iter().flatten().enumerate();
        seen.filter(|(_, view)| view.is_some()).fold(0, |bits, (index, _)| bits | 1 << index)
    }

    /// Returns whether a move cancels anything.
    pub(super) fn is_canceller(&self, step: usize) -> bool {
        self.cancels.get(step).is_some_and(|cancels| !cancels.is_empty())
    }

    /// Returns the matchers for which a fact no longer counts after a move.
    pub(super) fn cancelled(&self, fact: &Fact, step: usize, at: CallScope) -> u128 {
        let mut bits = 0;
        for Cancellation { matcher: index, until, fit, members } in self.cancels.get(step).into_iter().flatten() {
            let is_open = (fact.live & !fact.overdue) >> index & 1 == 1;
            let Some(matcher) = self.rules.matchers.get(*index).filter(|_| is_open) else { continue };
            let Some(view) = self.seen.get(fact.step).and_then(|seen| seen.get(*index)?.as_ref()) else { continue };
            if !fact.scope.is_of(matcher.premise.per, at) {
                continue;
            }
            let equal = view.untils.get(*until).map_or(Fit::Yes, |earlier| all_equal(earlier, members));
            let is_cancelled = match matcher.role {
                Role::Permits => fit.and(equal) != Fit::No,
                _ => fit.and(equal) == Fit::Yes,
            };
            bits |= u128::from(is_cancelled) << index;
        }
        bits
    }

    /// What one side refuses a call by. `expired` is the number of times that have come at which grants expire.
    pub(super) fn refusal(
        &self,
        side: usize,
        call: usize,
        at: CallScope,
        (facts, expired): (&[Fact], usize),
    ) -> Option<RefusedBy<'_>> {
        let class = self.alphabet.calls.get(call)?;
        if class.is_admitted.get(side) != Some(&true) {
            return Some(RefusedBy::Admission);
        }
        let closes = self.rules.closes.get(class.tool).and_then(|closes| closes.get(side).copied().flatten());
        if closes.is_some_and(|closes| closes <= expired) {
            return Some(RefusedBy::Expiry);
        }
        for applied in self.applied.get(call).into_iter().flatten() {
            let Some(question) = self.rules.questions.get(applied.question).filter(|question| question.side == side)
            else {
                continue;
            };
            if !self.holds(question, applied, at, facts) {
                return Some(question.limit.map_or(RefusedBy::Rule(&question.path), RefusedBy::Limit));
            }
        }
        let is_unrecognisable = self.is_unrecognisable.get(call)?.get(side) == Some(&true);
        is_unrecognisable.then_some(RefusedBy::Incomparable)
    }

    fn rules_applied_to(&self, class: &CallClass) -> Vec<AppliedRule> {
        let questions = self.rules.questions.iter().enumerate().filter(|(_, question)| {
            question.tool == class.tool && class.example.fit(question.condition.as_ref()) != Fit::No
        });
        let applied = questions.map(|(index, question)| {
            let matchers =
                || question.matchers.iter().filter_map(|index| Some((*index, self.rules.matchers.get(*index)?)));
            let own = matchers().map(|(index, matcher)| {
                let own = own(&class.example, &matcher.premise.same);
                let is_compared =
                    own.iter().all(|member| !matches!(member, ComparedMember::Missing | ComparedMember::Incomparable));
                (index, is_compared.then_some(own))
            });
            let own = own.collect();
            let is_own = matchers().any(|(_, matcher)| {
                let is_named =
                    self.rules.tools.get(class.tool).is_some_and(|tool| matcher.premise.tools.contains(tool));
                is_named && class.example.fit(matcher.premise.args.as_ref()) != Fit::No
            });
            let mut sums = matchers().filter_map(|(_, matcher)| matcher.sum.as_ref());
            let amount = sums.next().and_then(|at| class.example.amount(at)).unwrap_or(0);
            AppliedRule { question: index, own, is_own, amount }
        });
        applied.collect()
    }

    fn is_unrecognisable(&self, side: usize, class: &CallClass) -> bool {
        let mut recognized =
            self.rules.recognized.iter().filter(|recognized| recognized.side == side && recognized.tool == class.tool);
        recognized.any(|recognized| {
            let mut members = recognized.members.iter().map(|pointer| class.example.compared(pointer));
            let is_no_amount = recognized.amount.as_ref().is_some_and(|at| class.example.amount(at).is_none());
            class.example.fit(recognized.args.as_ref()) != Fit::No
                && (is_no_amount || members.any(|member| member == ComparedMember::Incomparable))
        })
    }

    fn holds(&self, question: &SideRule, applied: &AppliedRule, at: CallScope, facts: &[Fact]) -> bool {
        let counted = |index: usize, own: &[ComparedMember]| -> Option<(usize, u64, usize)> {
            let matcher = self.rules.matchers.get(index)?;
            let counted = facts.iter().filter_map(|fact| {
                let is_live = fact.live >> index & 1 == 1 && fact.scope.is_of(matcher.counted_in(), at);
                let view = self.seen.get(fact.step).and_then(|seen| seen.get(index)?.as_ref()).filter(|_| is_live)?;
                let fit = view.fit.and(all_equal(own, &view.members));
                let counts = if matcher.role == Role::Permits { fit == Fit::Yes } else { fit != Fit::No };
                counts.then_some(view.amount)
            });
            let (count, sum) = counted.fold((0, 0u64), |(count, sum), amount| (count + 1, sum.saturating_add(amount)));
            Some((count, sum, matcher.premise.times as usize))
        };
        let mut counts = applied.own.iter().map(|(index, own)| counted(*index, own.as_deref()?));
        match question.bound {
            Bound::After => counts.any(|counts| counts.is_some_and(|(count, _, times)| count >= times)),
            Bound::Never => counts.all(|counts| counts.is_some_and(|(count, _, times)| count < times)),
            Bound::Calls(limit) => {
                counts.all(|counts| counts.is_some_and(|(count, ..)| count + usize::from(applied.is_own) <= limit))
            }
            Bound::Sum(limit) => {
                let own = if applied.is_own { applied.amount } else { 0 };
                counts.all(|counts| counts.is_some_and(|(_, sum, _)| sum.saturating_add(own) <= limit))
            }
            Bound::Owes => true,
        }
    }
}

fn all_equal(a: &[ComparedMember], b: &[ComparedMember]) -> Fit {
    a.iter().zip(b).fold(Fit::Yes, |fit, (a, b)| fit.and(a.equals(b)))
}
