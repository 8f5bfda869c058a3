//! Calls, and the facts remembered about them.

use serde_json::Value;

use super::{CallId, Now, Scope};
use crate::rules::{ContentId, Link, Role, Side, Tool, ToolRules, Was, Watch};
use crate::values::{self, Amount, Fit, MemberValue, Secret};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Requested, and not made yet.
    Asked,
    /// Refused, or cancelled before it was made.
    Refused,
    /// Running.
    Made,
    Ok,
    Failed,
    MayHaveRun,
    DidNotRun,
}

/// Time of a fact on both clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    /// Position among the log entries.
    pub(crate) position: u64,
    /// Monotonic time from which the age is measured where the fact forbids.
    pub(crate) forbids: i64,
    /// Monotonic time from which the age is measured where the fact permits. It may be earlier after a restart.
    pub(crate) permits: i64,
    /// Latest reading of the wall clock.
    pub(crate) wall: i64,
}

impl Moment {
    /// Returns the age where the fact permits: the larger of the ages by the two clocks.
    pub(crate) fn permit_age(&self, now: Now) -> i64 {
        now.mono.saturating_sub(self.permits).max(now.wall.saturating_sub(self.wall))
    }

    pub(crate) fn forbid_age(&self, now: Now) -> i64 {
        now.mono.saturating_sub(self.forbids)
    }

    /// Returns the age for a matcher.
    pub(crate) fn age(&self, role: Role, now: Now) -> i64 {
        if role == Role::Permits { self.permit_age(now) } else { self.forbid_age(now) }
    }
}

/// Facts read of a call: results of tests, members and amounts, by their position in [`ToolRules`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    /// `None` while the answer has not arrived.
    pub(crate) tests: Vec<Option<Fit>>,
    pub(crate) members: Vec<MemberValue>,
    pub(crate) sums: Vec<Amount>,
}

impl Reading {
    /// Reads the arguments of a call; `None` if they were not recorded.
    pub(crate) fn of_args(rules: &ToolRules, secret: &Secret, args: Option<&Value>) -> Self {
        let tests = rules.tests.iter().map(|(_, side, test)| match (side, args) {
            (Side::Answer, _) => None,
            (Side::Args, Some(args)) => Some(test.judge(args)),
            (Side::Args, None) => Some(Fit::Unknown),
        });
        let members = rules.members.iter().map(|(_, member)| match (member.side, args) {
            (Side::Answer, _) => MemberValue::Pending,
            (Side::Args, Some(args)) => values::key_of(secret, args, &member.pointer),
            (Side::Args, None) => MemberValue::Unknown,
        });
        let sums = rules.sums.iter().map(|(_, at)| args.map_or(Amount::Unknown, |args| values::amount(args, at)));
        Self { tests: tests.collect(), members: members.collect(), sums: sums.collect() }
    }

    /// Reads the answer of a call; `None` if it was not recorded.
    pub(crate) fn of_answer(rules: &ToolRules, secret: &Secret, answer: Option<&Value>) -> Self {
        let tests = rules.tests.iter().map(|(_, side, test)| {
            (*side == Side::Answer).then(|| answer.map_or(Fit::Unknown, |answer| test.judge(answer)))
        });
        let members = rules.members.iter().map(|(_, member)| match (member.side, answer) {
            (Side::Answer, Some(answer)) => values::key_of(secret, answer, &member.pointer),
            _ => MemberValue::Unknown,
        });
        Self { tests: tests.collect(), members: members.collect(), sums: Vec::new() }
    }

    /// Adds what the answer states. What an earlier configuration did not read stays unknown.
    pub(crate) fn answered(&mut self, answer: Self) {
        for (known, read) in self.tests.iter_mut().zip(answer.tests) {
            *known = known.or(read);
        }
        for (known, read) in self.members.iter_mut().zip(answer.members) {
            if *known == MemberValue::Pending {
                *known = read;
            }
        }
    }

    /// Forgets everything except the contents that a predicate accepts.
    pub(crate) fn keep_known(&mut self, rules: &ToolRules, is_known: impl Fn(&ContentId) -> bool) {
        for ((content, ..), test) in rules.tests.iter().zip(&mut self.tests).filter(|(_, test)| test.is_some()) {
            if !is_known(content) {
                *test = Some(Fit::Unknown);
            }
        }
        for ((content, _), member) in rules.members.iter().zip(&mut self.members) {
            if !is_known(content) {
                *member = MemberValue::Unknown;
            }
        }
        for ((content, _), sum) in rules.sums.iter().zip(&mut self.sums) {
            if !is_known(content) {
                *sum = Amount::Unknown;
            }
        }
    }

    /// Aligns what was read under earlier rules with the present ones. What the earlier rules did not read is unknown.
    pub(crate) fn realigned(&self, before: Option<&ToolRules>, now: &ToolRules) -> Self {
        let tests = now.tests.iter().map(|(content, ..)| {
            let index = before?.tests.iter().position(|(known, ..)| known == content)?;
            Some(self.tests.get(index).copied().unwrap_or(Some(Fit::Unknown)))
        });
        let members = now.members.iter().map(|(content, _)| {
            let index = before?.members.iter().position(|(known, _)| known == content)?;
            self.members.get(index).copied()
        });
        let sums = now.sums.iter().map(|(content, _)| {
            let index = before?.sums.iter().position(|(known, _)| known == content)?;
            self.sums.get(index).copied()
        });
        Self {
            tests: tests.map(|known| known.unwrap_or(Some(Fit::Unknown))).collect(),
            members: members.map(|known| known.unwrap_or(MemberValue::Unknown)).collect(),
            sums: sums.map(|known| known.unwrap_or(Amount::Unknown)).collect(),
        }
    }
}

/// Call of a tool.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) id: CallId,
    /// Position in the queue. A call that has been held back gets a later one.
    pub(crate) arrival: u64,
    pub(crate) tool: Tool,
    /// Number of its session; `None` if the session is not remembered.
    pub(crate) session: Option<u64>,
    pub(crate) turn: Option<u64>,
    /// Name of its turn, for per-turn rules of later configurations.
    pub(crate) turn_name: Box<str>,
    pub(crate) state: State,
    pub(crate) confirmed: bool,
    pub(crate) asked: Moment,
    /// Moment of its intent or refusal.
    pub(crate) begun: Option<Moment>,
    pub(crate) ended: Option<Moment>,
    /// Log entries of its intent and its outcome.
    pub(crate) entries: [Option<u64>; 2],
    pub(crate) reading: Reading,
    /// Rules whose debts for this call are settled or reported.
    pub(crate) closed: Vec<ContentId>,
    /// Whether its session is unknown.
    pub(crate) is_unplaced: bool,
    /// Whether it was made although a rule refuses it.
    pub(crate) is_broken: bool,
    /// Number of indexes, debts and lists that hold it.
    pub(crate) held: u32,
}

impl Call {
    pub(crate) fn is_in_flight(&self) -> bool {
        matches!(self.state, State::Asked | State::Made)
    }

    /// Returns whether the call counts as a fact of an outcome now.
    pub(crate) fn is(&self, was: Was) -> bool {
        match was {
            Was::Ok => self.state == State::Ok,
            Was::Failed => matches!(self.state, State::Failed | State::MayHaveRun | State::DidNotRun),
            Was::Made => !matches!(self.state, State::Asked | State::Refused | State::DidNotRun),
            Was::Done => matches!(self.state, State::Made | State::Ok | State::MayHaveRun),
            Was::Confirmed => self.state == State::Ok && self.confirmed,
            Was::Asked => true,
            Was::Refused => self.state == State::Refused,
        }
    }

    /// Returns whether the call, if in flight, could still become a fact of an outcome.
    pub(crate) fn could_be(&self, was: Was, may_confirm: bool) -> bool {
        match (was, self.state) {
            (_, state) if !matches!(state, State::Asked | State::Made) => false,
            (Was::Ok | Was::Failed, _) | (Was::Made | Was::Done | Was::Refused, State::Asked) => true,
            (Was::Confirmed, State::Asked) => may_confirm,
            (Was::Confirmed, _) => self.confirmed,
            (Was::Made | Was::Done | Was::Refused | Was::Asked, _) => false,
        }
    }

    /// Returns the moment at which the call became a fact of an outcome.
    pub(crate) fn moment(&self, was: Was) -> Moment {
        match was {
            Was::Asked => self.asked,
            Was::Made | Was::Done => self.begun.unwrap_or(self.asked),
            Was::Ok | Was::Failed | Was::Confirmed | Was::Refused => self.ended.unwrap_or(self.asked),
        }
    }

    /// Returns the position of its intent or refusal. A call not yet made comes after all others.
    pub(crate) fn start(&self) -> u64 {
        self.begun.map_or(u64::MAX, |begun| begun.position)
    }

    /// Returns the position of its end. A running call ends after all others.
    pub(crate) fn end(&self) -> u64 {
        self.ended.map_or(u64::MAX, |ended| ended.position)
    }

    /// Returns whether the call fits the tests of a matcher now.
    pub(crate) fn fit(&self, link: &Link) -> Fit {
        self.fit_with(link, Fit::Unknown)
    }

    /// Returns whether the call could still fit the tests of a matcher: a pending answer may fit.
    pub(crate) fn could_fit(&self, link: &Link) -> Fit {
        self.fit_with(link, Fit::Yes)
    }

    fn fit_with(&self, link: &Link, pending: Fit) -> Fit {
        let results = link.tests.iter().map(|test| self.reading.tests.get(*test).copied());
        results.fold(Fit::Yes, |fit, result| fit.and(result.unwrap_or(Some(Fit::Unknown)).unwrap_or(pending)))
    }

    pub(crate) fn member(&self, index: usize) -> MemberValue {
        self.reading.members.get(index).copied().unwrap_or(MemberValue::Unknown)
    }

    pub(crate) fn members(&self, indices: &[usize]) -> Vec<MemberValue> {
        indices.iter().map(|index| self.member(*index)).collect()
    }

    /// Returns the members of an earlier call as a matcher compares them. For a premise of `after`, an incomparable
    /// member equals nothing.
    pub(crate) fn compared(&self, link: &Link) -> Vec<MemberValue> {
        let mut members = self.members(&link.members);
        if link.watch.role == Role::Permits {
            for member in &mut members {
                if *member == MemberValue::Incomparable {
                    *member = MemberValue::Missing;
                }
            }
        }
        members
    }

    pub(crate) fn sum(&self, link: &Link) -> Amount {
        link.sum.map_or(Amount::Known(0), |index| self.reading.sums.get(index).copied().unwrap_or(Amount::Unknown))
    }

    /// Returns whether a call that the index of a scope holds belongs to that scope.
    pub(crate) fn placed(&self, scope: Scope) -> Fit {
        if self.is_unplaced && scope != Scope::All { Fit::Unknown } else { Fit::Yes }
    }

    /// Returns the age of the call as a fact of a matcher.
    pub(crate) fn age(&self, watch: &Watch, now: Now) -> i64 {
        self.moment(watch.was).age(watch.role, now)
    }

    /// Returns whether the call is recent enough for a matcher.
    pub(crate) fn is_within(&self, watch: &Watch, now: Now) -> bool {
        watch.within.is_none_or(|within| self.age(watch, now) < within)
    }
}

/// Returns whether members are pairwise equal.
pub(crate) fn all_equal(a: &[MemberValue], b: &[MemberValue]) -> Fit {
    a.iter().zip(b).fold(Fit::Yes, |fit, (a, b)| fit.and(values::equal(*a, *b)))
}

/// Returns whether members could still be pairwise equal: a member of a pending answer may be.
pub(crate) fn could_equal(a: &[MemberValue], b: &[MemberValue]) -> Fit {
    let is_pending = |member: &MemberValue| *member == MemberValue::Pending;
    let settled = a.iter().zip(b).filter(|(a, b)| !is_pending(a) && !is_pending(b));
    settled.fold(Fit::Yes, |fit, (a, b)| fit.and(values::equal(*a, *b)))
}
