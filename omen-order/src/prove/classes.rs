//! Classes of calls: everything that a rule can distinguish in a call's arguments, outcome and answer, with one example each.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::facts::{ConeRules, Matcher, OutsideRule, cancels, is_fact, later};
use super::model::{RuleSide, StepEnd, ValueClass, ValuePlace, Values, is_session_end};
use crate::rules::{Bound, Member, Pair, Side, Test, Tool};
use crate::values::{Amount, Fit, amount, plain};

/// Member that `same` compares.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum ComparedMember {
    Missing,
    Incomparable,
    Text(String),
    Integer(i64),
    Boolean(bool),
}

impl ComparedMember {
    fn new(value: &Value, pointer: &str) -> Self {
        match value.pointer(pointer) {
            None => Self::Missing,
            Some(Value::String(text)) => Self::Text(text.clone()),
            Some(Value::Bool(yes)) => Self::Boolean(*yes),
            Some(other) => plain(other).map_or(Self::Incomparable, Self::Integer),
        }
    }

    pub(super) fn equals(&self, other: &Self) -> Fit {
        match (self, other) {
            (Self::Missing, _) | (_, Self::Missing) => Fit::No,
            (Self::Incomparable, _) | (_, Self::Incomparable) => Fit::Unknown,
            (a, b) if a == b => Fit::Yes,
            _ => Fit::No,
        }
    }
}

/// Name of a value: its index among the interchangeable values of its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ValueName {
    pub(super) class: u32,
    pub(super) index: u32,
}

/// Part of a call, arguments or answer, that represents all others that no rule can distinguish from it.
#[derive(Clone, Debug)]
pub(super) struct Example {
    pub(super) value: Value,
    pub(super) names: Vec<ValueName>,
    /// Number shared by examples that differ only in names.
    pub(super) shape: u32,
    /// Class of each member.
    classes: Vec<u32>,
    /// Results of the tests, by their content.
    fits: Arc<HashMap<String, Fit>>,
}

impl Example {
    pub(super) fn fit(&self, test: Option<&Test>) -> Fit {
        test.map_or(Fit::Yes, |test| self.fits.get(&test.content()).copied().unwrap_or(Fit::Unknown))
    }

    pub(super) fn compared(&self, pointer: &str) -> ComparedMember {
        ComparedMember::new(&self.value, pointer)
    }

    /// Amount that limits add up; nothing if it is not valid.
    pub(super) fn amount(&self, pointer: &str) -> Option<u64> {
        match amount(&self.value, pointer) {
            Amount::Known(amount) => Some(amount),
            Amount::Invalid | Amount::Unknown => None,
        }
    }
}

/// Call of a tool, before its outcome.
#[derive(Clone, Debug)]
pub(super) struct CallClass {
    pub(super) tool: usize,
    pub(super) example: Example,
    /// Whether each side lets it pass before its order rules.
    pub(super) is_admitted: [bool; 2],
}

/// Call with its outcome.
#[derive(Clone, Debug)]
pub(super) struct Move {
    pub(super) call: usize,
    pub(super) end: StepEnd,
    pub(super) answer: Option<Example>,
}

/// All calls that a search tries.
#[derive(Debug, Default)]
pub(super) struct Alphabet {
    pub(super) calls: Vec<CallClass>,
    /// Calls that some rule counts, or that cancel something.
    pub(super) moves: Vec<Move>,
    /// Whether a human confirms the calls of a tool, on each side.
    pub(super) confirms: Vec<[bool; 2]>,
    /// Whether calls are left out because they have too many amounts.
    pub(super) has_more_amounts: bool,
}

/// Maximum number of combinations of values of one tool.
const MAX_COMBINATIONS: usize = 20_000;
/// Maximum number of calls, and of calls with their outcomes, that a search tries.
const MAX_MOVES: usize = 20_000;
/// Maximum number of values that one `same` must distinguish.
const MAX_DISTINCT: usize = 9;
/// Largest number of amounts that are all tried.
const MAX_AMOUNTS: usize = 64;

/// Place of a value: index of the tool, part of the call, pointer.
type MemberPlace = (usize, Side, Arc<str>);

struct AlphabetBuilder<'b> {
    sides: &'b [&'b RuleSide; 2],
    rules: &'b ConeRules,
    values: &'b dyn Values,
    /// Tests of each part of each tool's calls.
    tests: BTreeMap<(usize, Side), Vec<Test>>,
    /// Union-find parents: places that are compared with each other have the same root.
    places: BTreeMap<MemberPlace, MemberPlace>,
    /// Places of amounts, with the limits of their sums.
    amounts: BTreeMap<MemberPlace, BTreeSet<u64>>,
}

impl Alphabet {
    pub(super) fn new(sides: &[&RuleSide; 2], rules: &ConeRules, values: &dyn Values) -> Result<Self, OutsideRule> {
        let mut build = AlphabetBuilder {
            sides,
            rules,
            values,
            tests: BTreeMap::new(),
            places: BTreeMap::new(),
            amounts: BTreeMap::new(),
        };
        build.read()?;
        let pools = build.pools()?;
        let counts_refusals = rules.refusal_counter().is_some();
        let mut alphabet = Self::default();
        for (index, tool) in rules.tools.iter().enumerate() {
            let confirms = sides.map(|side| side.entries.get(tool).is_some_and(|admission| admission.must_confirm));
            alphabet.confirms.push(confirms);
            let answers = build.examples(index, Side::Answer, &pools)?;
            for example in build.examples(index, Side::Args, &pools)? {
                let is_admitted = admitted(sides, tool, &example);
                let is_tried = is_admitted.get(1) == Some(&true) || counts_refusals;
                if !is_tried {
                    continue;
                }
                let more: Vec<_> = pools.values().flat_map(|pool| &pool.more).collect();
                alphabet.has_more_amounts |= example.classes.iter().any(|class| more.contains(&class));
                let call = alphabet.calls.len();
                alphabet.calls.push(CallClass { tool: index, example, is_admitted });
                for end in build.ends(tool) {
                    let is_ok = matches!(end, StepEnd::Ok(_));
                    let with: Vec<_> = if is_ok { answers.iter().cloned().map(Some).collect() } else { vec![None] };
                    for answer in with {
                        let end = match &answer {
                            Some(answer) => StepEnd::Ok(answer.value.clone()),
                            None => end.clone(),
                        };
                        alphabet.moves.push(Move { call, end, answer });
                    }
                }
                if alphabet.calls.len().max(alphabet.moves.len()) > MAX_MOVES {
                    let why = format!("its rules distinguish too many calls: more than {MAX_MOVES}");
                    return Err((String::new(), why));
                }
            }
        }
        Ok(alphabet)
    }
}

/// Returns whether each side lets a call pass before its order rules.
fn admitted(sides: &[&RuleSide; 2], tool: &Tool, example: &Example) -> [bool; 2] {
    let new = sides.get(1).and_then(|side| side.entries.get(tool));
    let mut is_old = true;
    sides.map(|side| {
        let is_old_side = std::mem::replace(&mut is_old, false);
        side.entries.get(tool).is_some_and(|entry| {
            let is_form = !is_old_side || new.is_none_or(|new| new.pin == entry.pin);
            is_form && entry.closed.is_none() && example.fit(entry.args.as_ref()) == Fit::Yes
        })
    })
}

impl AlphabetBuilder<'_> {
    /// Collects what the rules read of calls.
    fn read(&mut self) -> Result<(), OutsideRule> {
        let rules = self.rules;
        for (index, tool) in rules.tools.iter().enumerate() {
            for admission in self.sides.iter().filter_map(|side| side.entries.get(tool)) {
                self.test(index, Side::Args, admission.args.as_ref());
            }
            for question in rules.questions.iter().filter(|question| question.tool == index) {
                self.test(index, Side::Args, question.condition.as_ref());
            }
            for matcher in &rules.matchers {
                let premise = &matcher.premise;
                if premise.tools.contains(tool) {
                    self.test(index, Side::Args, premise.args.as_ref());
                    self.test(index, Side::Answer, premise.answer.as_ref());
                }
                for until in premise.until.iter().filter(|until| cancels(until, tool)) {
                    self.test(index, Side::Args, until.args.as_ref());
                    self.test(index, Side::Answer, until.answer.as_ref());
                }
            }
        }
        for matcher in &rules.matchers {
            let Some(at) = &matcher.sum else { continue };
            for (index, _) in rules.tools.iter().enumerate().filter(|(_, tool)| matcher.premise.tools.contains(tool)) {
                self.amount(index, at);
            }
        }
        for question in &rules.questions {
            let Bound::Sum(limit) = question.bound else { continue };
            for matcher in question.matchers.iter().filter_map(|index| rules.matchers.get(*index)) {
                let of_matcher = |place: &MemberPlace| {
                    let is_named = rules.tools.get(place.0).is_some_and(|tool| matcher.premise.tools.contains(tool));
                    is_named && matcher.sum.as_ref() == Some(&place.2)
                };
                let limits = self.amounts.iter_mut().filter(|(place, _)| of_matcher(place));
                limits.for_each(|(_, limits)| limits.extend([limit]));
            }
        }
        for recognized in &rules.recognized {
            self.test(recognized.tool, Side::Args, recognized.args.as_ref());
            if let Some(at) = &recognized.amount {
                self.amount(recognized.tool, at);
            }
            recognized.members.iter().for_each(|pointer| drop(self.place(recognized.tool, Side::Args, pointer)));
        }
        for ((index, side), tests) in self.tests.clone() {
            for test in tests {
                let pointers = self.values.pointers(&test).map_err(|why| (String::new(), why))?;
                pointers.into_iter().for_each(|pointer| drop(self.place(index, side, &pointer)));
            }
        }
        for question in &rules.questions {
            for matcher in question.matchers.iter().filter_map(|index| rules.matchers.get(*index)) {
                self.link(question.tool, &matcher.premise.same, &matcher.premise.tools);
            }
        }
        for matcher in &rules.matchers {
            for until in &matcher.premise.until {
                for (index, tool) in rules.tools.iter().enumerate() {
                    if cancels(until, tool) {
                        self.link(index, &until.same, &matcher.premise.tools);
                    }
                }
            }
        }
        Ok(())
    }

    fn amount(&mut self, tool: usize, at: &Arc<str>) {
        self.place(tool, Side::Args, at);
        self.amounts.entry((tool, Side::Args, Arc::clone(at))).or_default();
    }

    fn test(&mut self, tool: usize, side: Side, test: Option<&Test>) {
        let Some(test) = test else { return };
        let tests = self.tests.entry((tool, side)).or_default();
        if tests.iter().all(|known| known.content() != test.content()) {
            tests.push(Arc::clone(test));
        }
    }

    fn place(&mut self, tool: usize, side: Side, pointer: &Arc<str>) -> MemberPlace {
        let at = (tool, side, Arc::clone(pointer));
        self.places.entry(at.clone()).or_insert_with(|| at.clone());
        self.root(at)
    }

    fn root(&self, mut at: MemberPlace) -> MemberPlace {
        while let Some(next) = self.places.get(&at).filter(|next| **next != at) {
            at = next.clone();
        }
        at
    }

    /// Records that members of a later call are compared with those of earlier ones.
    fn link(&mut self, later: usize, pairs: &[Pair], earlier: &[Tool]) {
        for Pair { arg, earlier: Member { side, pointer } } in pairs {
            let later = self.place(later, Side::Args, arg);
            let tools = self.rules.tools.iter().enumerate().filter(|(_, tool)| earlier.contains(tool));
            for (index, _) in tools.collect::<Vec<_>>() {
                let root = self.place(index, *side, pointer);
                let later = self.root(later.clone());
                if root != later {
                    self.places.insert(root, later);
                }
            }
        }
    }

    /// Returns the values of each place, by the root of its pool.
    fn pools(&self) -> Result<BTreeMap<MemberPlace, Pool>, OutsideRule> {
        let mut members: BTreeMap<MemberPlace, Vec<MemberPlace>> = BTreeMap::new();
        for at in self.places.keys() {
            members.entry(self.root(at.clone())).or_default().push(at.clone());
        }
        let mut pools = BTreeMap::new();
        let mut next = 0;
        for (root, members) in members {
            let is_compared = self.is_compared(&members);
            let needed = if is_compared { self.distinct(&members) } else { 1 };
            let distinct = needed.min(MAX_DISTINCT);
            let places: Vec<_> = members
                .iter()
                .map(|(tool, side, pointer)| ValuePlace {
                    pointer: Arc::clone(pointer),
                    tests: self.tests.get(&(*tool, *side)).cloned().unwrap_or_default(),
                })
                .collect();
            let amounts = members.iter().filter_map(|member| Some((member, self.amounts.get(member)?)));
            let amounts: Vec<_> = amounts.collect();
            if let Some((member, limits)) = amounts.first() {
                if members.len() > 1 || is_compared {
                    let why = format!("`{}` is both added up and compared", member.2);
                    return Err((String::new(), why));
                }
                let pool = self.amounts_of(&places, limits, next)?;
                next += u32::try_from(pool.classes.len()).unwrap_or(u32::MAX);
                pools.insert(root, pool);
                continue;
            }
            let classes = self.values.classes(&places, distinct, &[]).map_err(|why| (String::new(), why))?;
            if needed > MAX_DISTINCT && classes.iter().any(|class| class.len() == MAX_DISTINCT) {
                let why =
                    format!("its rules could need {needed} values of a member in `same`, more than {MAX_DISTINCT}");
                return Err((String::new(), why));
            }
            let first = next;
            next += u32::try_from(classes.len()).unwrap_or(u32::MAX);
            pools.insert(root, Pool { classes, first, is_compared, more: Vec::new() });
        }
        Ok(pools)
    }

    /// Values of a place of amounts. Each amount is a class of its own. Of those that are too many, some are tried: the largest, the
    /// smallest, and those that reach or exceed a limit alone or after calls with the largest one.
    fn amounts_of(&self, places: &[ValuePlace], limits: &BTreeSet<u64>, first: u32) -> Result<Pool, OutsideRule> {
        let outside = |why: String| (String::new(), why);
        let mut pool = Pool { classes: Vec::new(), first, is_compared: false, more: Vec::new() };
        let Some(most) = limits.last() else {
            // Only whether it is valid matters.
            pool.classes = self.values.classes(places, 1, &[0]).map_err(outside)?;
            return Ok(pool);
        };
        let number = |limit: u64| i64::try_from(limit).unwrap_or(i64::MAX);
        let amounts = |class: &ValueClass| -> BTreeSet<u64> {
            class.iter().filter_map(|value| value.as_ref()?.as_u64()).collect()
        };
        let mut wanted: Vec<_> =
            limits.iter().flat_map(|limit| [number(*limit), number(*limit).saturating_add(1)]).collect();
        let found = self.values.classes(places, MAX_AMOUNTS + 1, &wanted).map_err(outside)?;
        for largest in found.iter().filter_map(|class| amounts(class).last().copied()) {
            let rests: Vec<_> = wanted.iter().filter_map(|limit| limit.checked_rem(number(largest))).collect();
            wanted.extend(rests);
        }
        for class in self.values.classes(places, MAX_AMOUNTS + 1, &wanted).map_err(outside)? {
            let amounts = amounts(&class);
            // A sum of more calls than are remembered would be too small.
            let is_seen = |amount: &u64| *amount == 0 || most / amount < MAX_AMOUNTS as u64;
            if amounts.is_empty() {
                pool.classes.extend(class.into_iter().take(1).map(|value| vec![value]));
                continue;
            }
            let is_large = class.len() > MAX_AMOUNTS || !amounts.iter().all(is_seen);
            let ends = [amounts.first(), amounts.last()];
            let is_tried = |amount: &&u64| {
                !is_large || (is_seen(amount) && (ends.contains(&Some(amount)) || wanted.contains(&number(**amount))))
            };
            let tried: Vec<_> =
                amounts.iter().filter(is_tried).map(|amount| vec![Some(Value::from(*amount))]).collect();
            if is_large && tried.is_empty() {
                return Err(outside(format!("a sum of {most} can take more than {MAX_AMOUNTS} calls to reach")));
            }
            let next = first + u32::try_from(pool.classes.len()).unwrap_or(u32::MAX);
            pool.more.extend(is_large.then_some(next));
            pool.classes.extend(tried);
        }
        Ok(pool)
    }

    fn is_compared(&self, members: &[MemberPlace]) -> bool {
        let is_read = |arg: &Arc<str>, earlier: &Member| {
            members.iter().any(|(_, side, pointer)| {
                (*side == Side::Args && pointer == arg) || (*side == earlier.side && *pointer == earlier.pointer)
            })
        };
        self.rules.matchers.iter().any(|matcher| {
            let untils = matcher.premise.until.iter().flat_map(|until| &until.same);
            matcher.premise.same.iter().chain(untils).any(|pair| is_read(&pair.arg, &pair.earlier))
        })
    }

    /// Returns the maximum number of different values that a shortest sequence can need: one for each fact, and one more.
    fn distinct(&self, members: &[MemberPlace]) -> usize {
        let is_counted = |tools: &[Tool]| {
            members.iter().any(|(index, ..)| self.rules.tools.get(*index).is_some_and(|tool| tools.contains(tool)))
        };
        let matchers = &self.rules.matchers;
        // Counted calls may all have one value, unless a rule restricts calls with the same value.
        let needs_others = self.rules.questions.iter().any(|question| {
            let is_ban = question.bound != Bound::After;
            let mut own = question.matchers.iter().filter_map(|index| matchers.get(*index));
            is_ban
                && members.iter().any(|(index, ..)| *index == question.tool)
                && own.any(|matcher| !matcher.premise.same.is_empty())
        });
        let counted = matchers.iter().filter(|matcher| is_counted(&matcher.premise.tools));
        let most = |matcher: &Matcher| if needs_others { matcher.kept } else { 1 };
        1 + counted.map(|matcher| most(matcher).max(1)).sum::<usize>()
    }

    /// Returns the combinations of values of one part of a tool's calls that rules can distinguish.
    fn examples(
        &self,
        tool: usize,
        part: Side,
        pools: &BTreeMap<MemberPlace, Pool>,
    ) -> Result<Vec<Example>, OutsideRule> {
        let places = self.places.keys().filter(|(index, side, _)| (*index, *side) == (tool, part));
        let mut partial = vec![(Value::Object(Map::new()), Vec::<(u32, Option<ValueName>)>::new())];
        for at in places {
            let Some(pool) = pools.get(&self.root(at.clone())) else { continue };
            let mut longer = Vec::new();
            for (value, names) in &partial {
                for (class, values) in (pool.first..).zip(&pool.classes) {
                    for (index, chosen) in (0..).zip(values) {
                        let mut value = value.clone();
                        if let Some(chosen) = chosen {
                            put(&mut value, &at.2, chosen).map_err(|why| (String::new(), why))?;
                        }
                        let is_named = pool.is_compared && values.len() > 1;
                        let mut names = names.clone();
                        names.push((class, is_named.then_some(ValueName { class, index })));
                        longer.push((value, names));
                    }
                }
                if longer.len() > MAX_COMBINATIONS {
                    let name = self.rules.tools.get(tool).map(ToString::to_string).unwrap_or_default();
                    let why = format!(
                        "the rules read too many members of `{name}`: more than {MAX_COMBINATIONS} combinations"
                    );
                    return Err((String::new(), why));
                }
            }
            partial = longer;
        }
        let tests = self.tests.get(&(tool, part)).map_or(&[][..], Vec::as_slice);
        let mut known = BTreeSet::new();
        let mut shapes: BTreeMap<Vec<u32>, u32> = BTreeMap::new();
        let mut found = Vec::new();
        for (value, choices) in partial {
            let fits: Vec<_> = tests.iter().map(|test| test.judge(&value)).collect();
            let compared: Vec<_> = self
                .places
                .keys()
                .filter(|at| {
                    (at.0, at.1) == (tool, part)
                        && pools.get(&self.root((*at).clone())).is_some_and(|pool| pool.is_compared)
                })
                .map(|at| ComparedMember::new(&value, &at.2))
                .collect();
            let amounts = self.amounts.keys().filter(|at| (at.0, at.1) == (tool, part));
            let amounts: Vec<_> = amounts.map(|at| amount(&value, &at.2)).collect();
            let recognized =
                self.rules.recognized.iter().filter(|recognized| recognized.tool == tool && part == Side::Args);
            let recognized = recognized.flat_map(|recognized| &recognized.members);
            let recognized: Vec<_> = recognized
                .map(|pointer| ComparedMember::new(&value, pointer) == ComparedMember::Incomparable)
                .collect();
            // Calls that all tests take alike, with equal members where they are compared, are one.
            if !known.insert((fits.clone(), compared, recognized, amounts)) {
                continue;
            }
            let classes: Vec<_> = choices.iter().map(|(class, _)| *class).collect();
            let next = u32::try_from(shapes.len()).unwrap_or(u32::MAX);
            let shape = *shapes.entry(classes.clone()).or_insert(next);
            let fits = tests.iter().map(|test| test.content()).zip(fits).collect();
            let names = choices.into_iter().filter_map(|(_, name)| name).collect();
            found.push(Example { value, names, shape, classes, fits: Arc::new(fits) });
        }
        Ok(found)
    }

    /// Returns the outcomes of a tool's calls that the rules can distinguish; none if no rule depends on them.
    fn ends(&self, tool: &Tool) -> Vec<StepEnd> {
        if is_session_end(tool) {
            return Vec::new();
        }
        let mut seen = BTreeSet::new();
        let all =
            [StepEnd::Ok(Value::Null), StepEnd::Failed, StepEnd::MayHaveRun, StepEnd::DidNotRun, StepEnd::Refused];
        let confirmed = self.sides.map(|side| side.entries.get(tool).is_some_and(|entry| entry.must_confirm));
        all.into_iter()
            .filter(|end| {
                let facts: Vec<_> = self
                    .rules
                    .matchers
                    .iter()
                    .flat_map(|matcher| {
                        let own = matcher.premise.tools.contains(tool) && matcher.counts(end, confirmed);
                        let is_confirmed = confirmed.get(matcher.side).copied().unwrap_or(false);
                        let untils = matcher
                            .premise
                            .until
                            .iter()
                            .map(move |until| cancels(until, tool) && is_fact(until.was, end, is_confirmed));
                        std::iter::once(own).chain(untils)
                    })
                    .collect();
                // A call that did not run must have been allowed; a refused one must not.
                facts.contains(&true) && seen.insert((*end == StepEnd::Refused, facts))
            })
            .collect()
    }
}

/// Values of places that are compared with each other.
struct Pool {
    classes: Vec<ValueClass>,
    /// Index of its first class among those of all pools.
    first: u32,
    is_compared: bool,
    /// Classes that stand for more amounts than there are values.
    more: Vec<u32>,
}

fn put(value: &mut Value, pointer: &str, member: &Value) -> Result<(), String> {
    let conflict = || format!("rules read both `{pointer}` and a member above or below it");
    let steps: Vec<_> = pointer.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~")).collect();
    let Some((last, above)) = steps.split_last() else { return Err(conflict()) };
    let mut place = value;
    for step in above {
        let Value::Object(members) = place else { return Err(conflict()) };
        place = members.entry(step.clone()).or_insert_with(|| Value::Object(Map::new()));
    }
    match place {
        Value::Object(members) if !members.contains_key(last) => {
            members.insert(last.clone(), member.clone());
            Ok(())
        }
        _ => Err(conflict()),
    }
}

/// Returns the members of a later call that pairs compare.
pub(super) fn own(example: &Example, pairs: &[Pair]) -> Vec<ComparedMember> {
    later(pairs).map(|pointer| example.compared(pointer)).collect()
}

/// Returns the members of an earlier call that pairs compare.
pub(super) fn earlier(call: &Example, answer: Option<&Example>, pairs: &[Pair]) -> Vec<ComparedMember> {
    let member = |pair: &Pair| match (pair.earlier.side, answer) {
        (Side::Args, _) => call.compared(&pair.earlier.pointer),
        (Side::Answer, Some(answer)) => answer.compared(&pair.earlier.pointer),
        // A member of an answer that never arrived.
        (Side::Answer, None) => ComparedMember::Incomparable,
    };
    pairs.iter().map(member).collect()
}
