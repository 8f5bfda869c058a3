//! Rules of both sides in the cone of a tool, with their shared matchers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::cone;
use super::model::{IntentLimit, RuleSide, StepEnd, intent_rules, is_session_end};
use crate::rules::{
    Bound, MAX_CALLS, Pair, Per, Premise, Role, Rule, RuleKind, Side, Test, Tool, Until, Was, described,
};

/// Rules of both sides about the calls of some tools.
#[derive(Debug, Default)]
pub(super) struct ConeRules {
    /// Tools, the deciding one first.
    pub(super) tools: Vec<Tool>,
    pub(super) matchers: Vec<Matcher>,
    pub(super) questions: Vec<SideRule>,
    pub(super) recognized: Vec<RecognizedMembers>,
    /// Times at which grants expire, in milliseconds since 1970.
    pub(super) expiries: Vec<i64>,
    /// By the number of a tool, for each side: how many of these times have come when no call passes any more.
    pub(super) closes: Vec<[Option<usize>; 2]>,
    /// Whether a rule was left out.
    pub(super) has_left_out: bool,
    /// Whether the sums of the deciding tool are searched.
    searches_sums: bool,
}

/// Calls that a rule counts. Rules of both sides with equal content share a matcher.
#[derive(Debug)]
pub(super) struct Matcher {
    pub(super) role: Role,
    pub(super) premise: Premise,
    /// Whether calls that are known not to have run also count.
    pub(super) counts_intents: bool,
    /// Pointer of the amounts, if it adds them up instead of counting calls.
    pub(super) sum: Option<Arc<str>>,
    /// Side whose confirmations it sees.
    pub(super) side: usize,
    /// Whether it is a debt: then its window is the deadline, after which nothing settles it.
    pub(super) is_debt: bool,
    /// Number of alike calls of which the newest are enough.
    pub(super) kept: usize,
}

#[derive(Debug)]
pub(super) struct SideRule {
    pub(super) side: usize,
    /// Index of the tool.
    pub(super) tool: usize,
    pub(super) path: String,
    pub(super) condition: Option<Test>,
    pub(super) bound: Bound,
    /// Limit of intents that the rule represents, unless it is an order rule.
    pub(super) limit: Option<IntentLimit>,
    /// Indices of the matchers.
    pub(super) matchers: Vec<usize>,
}

/// Member that a rule of one side must recognize in the calls of a tool.
#[derive(Debug)]
pub(super) struct RecognizedMembers {
    pub(super) side: usize,
    /// Index of the tool.
    pub(super) tool: usize,
    pub(super) args: Option<Test>,
    pub(super) members: Vec<Arc<str>>,
    /// Pointer of an amount that has to be an integer from 0 on.
    pub(super) amount: Option<Arc<str>>,
}

/// Why a question cannot be decided: path of the rule, and the reason.
pub(super) type OutsideRule = (String, String);

/// Limits of the values that a search can handle.
const MAX_TIMES: u32 = 8;
const MAX_COUNT: u32 = 64;
const MAX_WINDOWS: usize = 6;
const MAX_MATCHERS: usize = 128;

impl ConeRules {
    pub(super) fn new(sides: &[&RuleSide; 2], deciding: &Tool) -> Result<Self, OutsideRule> {
        let mut all = Self { tools: cone::tools(sides, deciding), ..Self::default() };
        let mut known = BTreeMap::new();
        for (index, tool) in all.tools.clone().iter().enumerate() {
            let of_side = |side: usize| -> Vec<(Rule, Option<IntentLimit>)> {
                let Some(side) = sides.get(side) else { return Vec::new() };
                let rules = side.policy.tools.get(tool).map_or(&[][..], |tool| &tool.rules);
                let limits = side.entries.get(tool).into_iter().flat_map(|entry| intent_rules(tool, entry));
                rules.iter().map(|rule| (rule.clone(), None)).chain(limits).collect()
            };
            let rules = [of_side(0), of_side(1)];
            if index == 0 {
                all.searches_sums = has_looser_sum(&rules);
            }
            let searches_sums = index == 0 && all.searches_sums;
            for side in [0, 1] {
                if let Some(why) = sides.get(side).and_then(|side| side.entries.get(tool)?.outside.clone()) {
                    return Err((String::new(), why));
                }
                for (rule, limit) in rules.get(side).into_iter().flatten() {
                    let is_sum = matches!(rule.kind, RuleKind::MaxSum(..));
                    let why = if is_sum && searches_sums { None } else { too_large(rule) };
                    if let Some(why) = why {
                        // Without a rule, more sequences are tried, so none is missed; but for those whose last call the old
                        // rule alone refuses, if the new rules may allow that.
                        if index == 0 && side == 0 && !rules[1].iter().any(|(new, _)| is_as_strict(new, rule)) {
                            return Err((rule.path.clone(), why));
                        }
                        all.has_left_out = true;
                        continue;
                    }
                    all.question((side, index), rule, *limit, &mut known)?;
                }
            }
        }
        all.recognized_members(sides)?;
        all.confirmations(sides)?;
        all.note_expiries(sides);
        if let Some(rule) = all.refusal_counter().filter(|_| all.has_left_out) {
            // The search does not know which calls a left-out rule refuses, so it misses what such a refusal permits.
            let why = "it counts refused calls, and a rule that may refuse some of them is too large to search";
            return Err((rule.path.clone(), why.to_owned()));
        }
        let mut windows: Vec<_> = all.matchers.iter().filter_map(|matcher| matcher.premise.within_ms).collect();
        windows.sort_unstable();
        windows.dedup();
        if windows.len() > MAX_WINDOWS {
            return Err((String::new(), format!("more than {MAX_WINDOWS} different windows apply to it")));
        }
        if all.matchers.len() > MAX_MATCHERS {
            return Err((String::new(), format!("more than {MAX_MATCHERS} premises apply to it")));
        }
        Ok(all)
    }

    /// Checks that rules which count confirmed calls know which ones are.
    fn confirmations(&self, sides: &[&RuleSide; 2]) -> Result<(), OutsideRule> {
        let is_open = |side: usize, tool: &Tool| {
            sides.get(side).and_then(|side| side.entries.get(tool)).is_some_and(|entry| entry.may_confirm)
        };
        for question in &self.questions {
            for matcher in question.matchers.iter().filter_map(|index| self.matchers.get(*index)) {
                let premise = &matcher.premise;
                let mut tools = self.tools.iter().filter(|tool| is_open(question.side, tool));
                let counts = |tool: &Tool| {
                    let by_premise = premise.was == Was::Confirmed && premise.tools.contains(tool);
                    let mut untils = premise.until.iter().filter(|until| until.was == Was::Confirmed);
                    by_premise || untils.any(|until| cancels(until, tool))
                };
                if let Some(tool) = tools.find(|tool| counts(tool)) {
                    let why = format!(
                        "it counts confirmed calls of `{tool}`, and whether a call is confirmed depends on the grant that it uses"
                    );
                    return Err((question.path.clone(), why));
                }
            }
        }
        Ok(())
    }

    /// Collects the times at which the grants of the tools expire.
    fn note_expiries(&mut self, sides: &[&RuleSide; 2]) {
        let of = |side: &RuleSide, tool: &Tool| side.entries.get(tool).and_then(|entry| entry.expires);
        let all = self.tools.iter().flat_map(|tool| sides.iter().filter_map(move |side| of(side, tool)));
        self.expiries = all.collect::<BTreeSet<_>>().into_iter().collect();
        let reached = |time: i64| self.expiries.iter().filter(|expiry| **expiry <= time).count();
        let closes = self.tools.iter().map(|tool| sides.map(|side| of(side, tool).map(reached)));
        self.closes = closes.collect();
    }

    /// Collects what bans and limits of all tools need of the calls in the cone.
    fn recognized_members(&mut self, sides: &[&RuleSide; 2]) -> Result<(), OutsideRule> {
        let required = sides.map(cone::required_members);
        for (index, tool) in self.tools.clone().iter().enumerate() {
            let of = |side: usize| required.get(side).and_then(|required| required.get(tool));
            for (side, other) in [(0, of(1)), (1, of(0))] {
                for (rule, premise) in of(side).into_iter().flat_map(BTreeMap::values) {
                    let amount = match &rule.kind {
                        RuleKind::MaxSum(_, at, _) => Some(Arc::clone(at)),
                        _ => None,
                    };
                    // What both need alike, both refuse alike.
                    let is_alike = |(other, others): &(&Rule, &Premise)| {
                        matches!((&rule.kind, &other.kind), (RuleKind::MaxSum(_, at, _), RuleKind::MaxSum(_, of, _)) if at == of)
                            && described(premise) == described(others)
                    };
                    let is_of_elements = amount.as_ref().is_some_and(|at| is_of_elements(at));
                    if amount.is_some() && (is_of_elements || !self.searches_sums) {
                        if other.is_some_and(|other| other.values().any(is_alike)) {
                            self.has_left_out = true;
                            continue;
                        }
                        if is_of_elements {
                            return Err((rule.path.clone(), SUM_OF_ELEMENTS.to_owned()));
                        }
                    }
                    let earlier = premise.same.iter().map(|pair| &pair.earlier);
                    let members = earlier.filter(|member| member.side == Side::Args);
                    let members = members.map(|member| Arc::clone(&member.pointer)).collect();
                    let args = premise.args.clone();
                    self.recognized.push(RecognizedMembers { side, tool: index, args, members, amount });
                }
            }
        }
        Ok(())
    }

    fn question(
        &mut self,
        (side, tool): (usize, usize),
        rule: &Rule,
        limit: Option<IntentLimit>,
        known: &mut BTreeMap<String, usize>,
    ) -> Result<(), OutsideRule> {
        let (bound, role, kept) = match &rule.kind {
            RuleKind::After(_) => (Bound::After, Role::Permits, 0),
            RuleKind::NeverAfter(_) => (Bound::Never, Role::Forbids, 0),
            // A call that the limit itself does not count is refused after one more.
            RuleKind::MaxCalls(calls, _) => (Bound::Calls(*calls as usize), Role::Limits(0), *calls as usize + 1),
            // Debts never refuse a call.
            RuleKind::BeforeEnd(_) => return Ok(()),
            RuleKind::MaxSum(_, at, _) if is_of_elements(at) => {
                return Err((rule.path.clone(), SUM_OF_ELEMENTS.to_owned()));
            }
            RuleKind::MaxSum(_, _, premise) if premise.was == Was::Asked => {
                return Err((rule.path.clone(), "sums that count refused calls are not compared".to_owned()));
            }
            RuleKind::MaxSum(limit, ..) => (Bound::Sum(*limit), Role::Limits(0), MAX_COUNT as usize),
        };
        let sum = match &rule.kind {
            RuleKind::MaxSum(_, at, _) => Some(Arc::clone(at)),
            _ => None,
        };
        let mut matchers = Vec::new();
        for premise in rule.kind.premises() {
            let confirms =
                premise.was == Was::Confirmed || premise.until.iter().any(|until| until.was == Was::Confirmed);
            let is_debt = self.tools.get(tool).is_some_and(is_session_end);
            let text = format!(
                "{role:?} {limit:?} {is_debt} {sum:?} {} {}",
                if confirms { side } else { 0 },
                described(premise)
            );
            let next = self.matchers.len();
            let index = *known.entry(text).or_insert(next);
            if index == next {
                let (premise, counts_intents, sum) = (premise.clone(), limit.is_some(), sum.clone());
                self.matchers.push(Matcher { role, premise, counts_intents, sum, side, is_debt, kept: 0 });
            }
            if let Some(matcher) = self.matchers.get_mut(index) {
                matcher.kept = matcher.kept.max(kept).max(matcher.premise.times as usize);
            }
            matchers.push(index);
        }
        let condition = rule.condition.clone();
        self.questions.push(SideRule { side, tool, path: rule.path.clone(), condition, bound, limit, matchers });
        Ok(())
    }

    /// First rule that adds up amounts.
    pub(super) fn sum(&self) -> Option<&SideRule> {
        self.questions.iter().find(|question| matches!(question.bound, Bound::Sum(_)))
    }

    /// First rule that counts refused calls.
    pub(super) fn refusal_counter(&self) -> Option<&SideRule> {
        let is_such = |was: Was| matches!(was, Was::Asked | Was::Refused);
        let counts = |matcher: &Matcher| {
            is_such(matcher.premise.was) || matcher.premise.until.iter().any(|until| is_such(until.was))
        };
        let counts = |index: &usize| self.matchers.get(*index).is_some_and(counts);
        self.questions.iter().find(|question| question.matchers.iter().any(counts))
    }

    /// Numbers of sessions, and of turns of one, that a shortest sequence can need. Another session than that of the deciding
    /// call only adds or cancels facts of rules over all sessions. A debt of a turn is shown in that turn, and one other
    /// turn can settle whatever others could.
    pub(super) fn scopes(&self) -> (usize, usize) {
        let per = |per| self.matchers.iter().filter(move |matcher| matcher.premise.per == per);
        let turns = match per(Per::Turn).map(|matcher| matcher.is_debt).min() {
            None => 1,
            Some(true) => 2,
            Some(false) => usize::MAX,
        };
        if per(Per::Session).next().is_none() && turns == 1 {
            return (1, turns);
        }
        let facts = per(Per::All).map(|matcher| matcher.kept + matcher.premise.until.len());
        (1 + facts.sum::<usize>(), turns)
    }
}

/// Returns the reason why a rule cannot be searched, if any.
fn too_large(rule: &Rule) -> Option<String> {
    if let Some(premise) = rule.kind.premises().iter().find(|premise| premise.times > MAX_TIMES) {
        return Some(format!("`times = {}` exceeds {MAX_TIMES}", premise.times));
    }
    match &rule.kind {
        RuleKind::MaxCalls(calls, _) if *calls > MAX_COUNT => {
            Some(format!("a limit of {calls} calls exceeds {MAX_COUNT}"))
        }
        RuleKind::MaxSum(..) => Some(SUM.to_owned()),
        _ => None,
    }
}

const SUM: &str = "it limits a sum";
const SUM_OF_ELEMENTS: &str = "different sums over elements of an array are not compared";

/// Whether an old order rule adds up amounts, and no new one refuses what it refuses.
fn has_looser_sum(rules: &[Vec<(Rule, Option<IntentLimit>)>; 2]) -> bool {
    let [old, new] = rules;
    let mut sums = old.iter().filter(|(rule, _)| matches!(rule.kind, RuleKind::MaxSum(..)));
    sums.any(|(old, _)| !new.iter().any(|(new, _)| is_as_strict(new, old)))
}

/// Whether a rule refuses whatever another one refuses: they are equal, or limits that differ in their numbers alone.
fn is_as_strict(rule: &Rule, other: &Rule) -> bool {
    let with = |kind: RuleKind| cone::rule_content(&Rule { kind, ..rule.clone() }) == cone::rule_content(other);
    match (&rule.kind, &other.kind) {
        (RuleKind::MaxCalls(calls, own), RuleKind::MaxCalls(others, _)) => {
            calls <= others && with(RuleKind::MaxCalls(*others, own.clone()))
        }
        (RuleKind::MaxSum(limit, at, own), RuleKind::MaxSum(others, ..)) => {
            limit <= others && with(RuleKind::MaxSum(*others, Arc::clone(at), own.clone()))
        }
        (kind, _) => with(kind.clone()),
    }
}

/// Whether a pointer leads to elements of an array.
fn is_of_elements(pointer: &str) -> bool {
    pointer.split('/').any(|step| step == "*")
}

impl Matcher {
    /// Whose calls count. The end of a session is that of its turns.
    pub(super) fn counted_in(&self) -> Per {
        if self.is_debt { Per::Session } else { self.premise.per }
    }

    /// Whether a call with an outcome is a fact, whatever its arguments are.
    pub(super) fn counts(&self, end: &StepEnd, is_confirmed: [bool; 2]) -> bool {
        let is_confirmed = is_confirmed.get(self.side).copied().unwrap_or(false);
        (self.counts_intents && *end != StepEnd::Refused) || is_fact(self.premise.was, end, is_confirmed)
    }
}

/// Returns whether a call with the outcome `end` counts as a fact of `was`.
pub(super) fn is_fact(was: Was, end: &StepEnd, is_confirmed: bool) -> bool {
    match was {
        Was::Ok => matches!(end, StepEnd::Ok(_)),
        Was::Failed => matches!(end, StepEnd::Failed | StepEnd::MayHaveRun | StepEnd::DidNotRun),
        Was::Made => matches!(end, StepEnd::Ok(_) | StepEnd::Failed | StepEnd::MayHaveRun),
        Was::Done => matches!(end, StepEnd::Ok(_) | StepEnd::MayHaveRun),
        Was::Confirmed => matches!(end, StepEnd::Ok(_)) && is_confirmed,
        Was::Asked => true,
        Was::Refused => *end == StepEnd::Refused,
    }
}

/// Returns whether the canceller of a premise names a tool.
pub(super) fn cancels(until: &Until, tool: &Tool) -> bool {
    until.tools.contains(tool) != until.is_other
}

/// Returns the pointers into the arguments of a later call.
pub(super) fn later(pairs: &[Pair]) -> impl Iterator<Item = &Arc<str>> {
    pairs.iter().map(|pair| &pair.arg)
}

// An engine forgets calls beyond `MAX_CALLS`; a search forgets none.
const _: () = assert!(MAX_COUNT < MAX_CALLS);

/// Call that a rule may still count.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Fact {
    /// Index of the move.
    pub(super) step: usize,
    pub(super) scope: CallScope,
    /// Matchers that still count it, as a bit set.
    pub(super) live: u128,
    /// Those of them that nothing settles any more.
    pub(super) overdue: u128,
    /// Its clock in the zone; 0 if no window looks at it.
    pub(super) clock: usize,
    /// Its index in the sequence.
    pub(super) event: usize,
}

/// Session and turn of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct CallScope {
    pub(super) session: usize,
    pub(super) turn: usize,
}

impl CallScope {
    pub(super) fn is_of(self, per: Per, other: Self) -> bool {
        match per {
            Per::All => true,
            Per::Session => self.session == other.session,
            Per::Turn => self == other,
        }
    }
}
