//! Rules of both sides in the cone of a tool, with their shared matchers.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::cone;
use super::model::{IntentLimit, RuleSide, StepEnd, intent_rules};
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
    /// Whether a rule of both sides was left out.
    pub(super) has_left_out: bool,
}

/// Calls that a rule counts. Rules of both sides with equal content share a matcher.
#[derive(Debug)]
pub(super) struct Matcher {
    pub(super) role: Role,
    pub(super) premise: Premise,
    /// Whether calls that are known not to have run also count.
    pub(super) counts_intents: bool,
    /// Side whose confirmations the matcher sees.
    pub(super) side: usize,
    /// Number of newest calls that suffice among those that are alike.
    pub(super) kept: usize,
}

/// Rule of one side.
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
            for (side, other) in [(0, 1), (1, 0)] {
                if let Some(why) = sides.get(side).and_then(|side| side.entries.get(tool)?.outside.clone()) {
                    return Err((String::new(), why));
                }
                let others = rules.get(other).into_iter().flatten();
                let others: Vec<_> = others.map(|(rule, _)| cone::rule_content(rule)).collect();
                for (rule, limit) in rules.get(side).into_iter().flatten() {
                    if let Some(why) = too_large(rule) {
                        // A rule of both sides restricts both alike, so it alone cannot cause a difference.
                        if !others.contains(&cone::rule_content(rule)) {
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
        if let Some(rule) = all.refusal_counter().filter(|_| all.has_left_out) {
            // The search does not know which calls a left-out rule refuses, so it misses what such a refusal permits.
            let why = "it counts refused calls, and a rule that may refuse some of them is too large to search";
            return Err((rule.path.clone(), why.to_owned()));
        }
        let mut windows: Vec<_> = all.matchers.iter().filter_map(|matcher| matcher.premise.within_ms).collect();
        windows.sort_unstable();
        windows.dedup();
        if windows.len() > MAX_WINDOWS {
            return Err((String::new(), format!("more than {MAX_WINDOWS} different windows bear on it")));
        }
        if all.matchers.len() > MAX_MATCHERS {
            return Err((String::new(), format!("more than {MAX_MATCHERS} premises bear on it")));
        }
        Ok(all)
    }

    /// Collects the members that bans and limits of all tools need from calls in the cone.
    fn recognized_members(&mut self, sides: &[&RuleSide; 2]) -> Result<(), OutsideRule> {
        let required = sides.map(cone::required_members);
        for (index, tool) in self.tools.clone().iter().enumerate() {
            let [old, new] = [0, 1].map(|side: usize| required.get(side).and_then(|required| required.get(tool)));
            for (side, own, other) in [(0, old, new), (1, new, old)] {
                for (text, (rule, premise)) in own.into_iter().flatten() {
                    if matches!(rule.kind, RuleKind::MaxSum(..)) {
                        if other.is_none_or(|other| !other.contains_key(text)) {
                            return Err((rule.path.clone(), SUM.to_owned()));
                        }
                        self.has_left_out = true;
                        continue;
                    }
                    let earlier = premise.same.iter().map(|pair| &pair.earlier);
                    let members = earlier.filter(|member| member.side == Side::Args);
                    let members = members.map(|member| Arc::clone(&member.pointer)).collect();
                    self.recognized.push(RecognizedMembers { side, tool: index, args: premise.args.clone(), members });
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
            RuleKind::MaxSum(..) => return Err((rule.path.clone(), SUM.to_owned())),
        };
        let mut matchers = Vec::new();
        for premise in rule.kind.premises() {
            let confirms =
                premise.was == Was::Confirmed || premise.until.iter().any(|until| until.was == Was::Confirmed);
            let text = format!("{role:?} {limit:?} {} {}", if confirms { side } else { 0 }, described(premise));
            let next = self.matchers.len();
            let index = *known.entry(text).or_insert(next);
            if index == next {
                let (premise, counts_intents) = (premise.clone(), limit.is_some());
                self.matchers.push(Matcher { role, premise, counts_intents, side, kept: 0 });
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

    /// Returns the first rule that counts refused calls.
    pub(super) fn refusal_counter(&self) -> Option<&SideRule> {
        let is_such = |was: Was| matches!(was, Was::Asked | Was::Refused);
        let counts = |matcher: &Matcher| {
            is_such(matcher.premise.was) || matcher.premise.until.iter().any(|until| is_such(until.was))
        };
        let counts = |index: &usize| self.matchers.get(*index).is_some_and(counts);
        self.questions.iter().find(|question| question.matchers.iter().any(counts))
    }

    /// Returns the number of sessions that a shortest sequence can need, and whether turns must be distinguished. A
    /// session other than that of the deciding call only adds or cancels facts of rules over all sessions.
    pub(super) fn scopes(&self) -> (usize, bool) {
        let has = |per| self.matchers.iter().any(|matcher| matcher.premise.per == per);
        if !has(Per::Session) && !has(Per::Turn) {
            return (1, false);
        }
        let over_all = self.matchers.iter().filter(|matcher| matcher.premise.per == Per::All);
        let facts = over_all.map(|matcher| matcher.kept + matcher.premise.until.len());
        (1 + facts.sum::<usize>(), has(Per::Turn))
    }
}

/// Returns the reason why a rule cannot be searched, if any.
fn too_large(rule: &Rule) -> Option<String> {
    if let Some(premise) = rule.kind.premises().iter().find(|premise| premise.times > MAX_TIMES) {
        return Some(format!("`times = {}` is above {MAX_TIMES}", premise.times));
    }
    match &rule.kind {
        RuleKind::MaxCalls(calls, _) if *calls > MAX_COUNT => {
            Some(format!("a limit of {calls} calls is above {MAX_COUNT}"))
        }
        RuleKind::MaxSum(..) => Some(SUM.to_owned()),
        _ => None,
    }
}

const SUM: &str = "sums that differ between the two are not compared";

impl Matcher {
    /// Returns whether a call with an outcome is a fact, whatever its arguments.
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
    /// Its clock in the zone; 0 if no window applies to it.
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
