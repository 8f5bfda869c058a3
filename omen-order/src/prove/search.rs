//! Search for the shortest sequence of calls whose last call only the new rules allow: breadth first over what the rules of both
//! sides remember.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::Value;

use super::classes::{Alphabet, ValueName};
use super::facts::{CallScope, ConeRules, Fact, OutsideRule};
use super::judge::{RefusedBy, SequenceJudge};
use super::model::{Difference, ProvenStep, RuleSide, StepEnd, Values, WhyRefused};
use super::times::{AgeBound, FIRST_EXPIRY, earliest};
use super::zone::Zone;
use crate::rules::Tool;

/// State after a sequence of calls, and how it was reached.
#[derive(Debug)]
struct Node {
    facts: Vec<Fact>,
    zone: Zone,
    depth: usize,
    reached: Option<(usize, Edge)>,
}

/// Last call of a sequence.
#[derive(Clone, Debug)]
struct Edge {
    step: usize,
    scope: CallScope,
    bounds: Vec<AgeBound>,
}

struct Search<'s> {
    judge: &'s SequenceJudge,
    nodes: Vec<Node>,
    /// Zones of the visited states, by the rest of the state.
    seen: BTreeMap<Vec<i64>, Vec<Zone>>,
    ahead: VecDeque<usize>,
    /// Largest numbers of sessions, and of turns of a session.
    scopes: (usize, usize),
    /// Number of moments that were visited.
    moments: usize,
    /// Maximum number of moments, and of remembered states.
    max_states: usize,
    /// Number of names of each class that the last call may have.
    last: BTreeMap<u32, u32>,
}

/// Searches for a difference in the calls of a tool. Returns it with the number of states.
pub(super) fn tool(
    sides: &[&RuleSide; 2],
    tool: &Tool,
    values: &dyn Values,
    max_states: usize,
) -> Result<(Option<Difference>, usize), OutsideRule> {
    let rules = ConeRules::new(sides, tool)?;
    let alphabet = Alphabet::new(sides, &rules, values)?;
    let scopes = rules.scopes();
    let judge = SequenceJudge::new(rules, alphabet);
    let last = judge.last_names();
    let (nodes, seen, ahead) = (Vec::new(), BTreeMap::new(), VecDeque::new());
    let mut search = Search { judge: &judge, nodes, seen, ahead, scopes, moments: 0, max_states, last };
    // No time of day is before 1970.
    let zone = judge.rules.expiries.first().map_or_else(Zone::new, |first| Zone::with_clock_from(*first));
    search.add(Node { facts: Vec::new(), zone, depth: 0, reached: None });
    while let Some(index) = search.ahead.pop_front() {
        if let Some((call, at, leaf)) = search.expand(index) {
            let why = why(sides, tool, &judge, call, (&leaf.facts, leaf.expired), at);
            let (start, steps) = search.steps(index, call, at, &leaf.bounds);
            let has_left_out = judge.rules.has_left_out;
            let difference = Difference { tool: tool.clone(), start, steps, ended_session: None, why, has_left_out };
            return Ok((Some(difference), search.moments));
        }
        if search.is_too_large() {
            return Err((String::new(), format!("too large to search: more than {max_states} states")));
        }
    }
    match judge.alphabet.has_more_amounts.then(|| judge.rules.sum()).flatten() {
        Some(sum) => {
            let why = "no difference was found, but calls have too many amounts to try them all";
            Err((sum.path.clone(), why.to_owned()))
        }
        None => Ok((None, search.moments)),
    }
}

/// Returns the reason why the old rules refuse.
fn why(
    sides: &[&RuleSide; 2],
    tool: &Tool,
    judge: &SequenceJudge,
    call: usize,
    moment: (&[Fact], usize),
    at: CallScope,
) -> WhyRefused {
    match judge.refusal(0, call, at, moment) {
        Some(RefusedBy::Expiry) => WhyRefused::Expired,
        Some(RefusedBy::Rule(path)) => WhyRefused::Rule(path.to_owned()),
        Some(RefusedBy::Limit(limit)) => WhyRefused::Limit(limit),
        Some(RefusedBy::Incomparable) => WhyRefused::Incomparable,
        Some(RefusedBy::Admission) | None => {
            let [old, new] = sides.map(|side| side.entries.get(tool));
            match (old, new) {
                (None, _) => WhyRefused::NotAllowed,
                (Some(old), Some(new)) if old.pin != new.pin => WhyRefused::OtherPin,
                (Some(old), _) => old.closed.clone().map_or(WhyRefused::Arguments, WhyRefused::Closed),
            }
        }
    }
}

/// State at the moment of a call: what counts then, how many times have come at which grants expire, and the bounds that say so.
#[derive(Clone)]
struct Leaf {
    facts: Vec<Fact>,
    expired: usize,
    zone: Zone,
    bounds: Vec<AgeBound>,
}

/// Call that only the new rules allow: its class, its scope and its moment.
type FoundCall = (usize, CallScope, Leaf);

impl Search<'_> {
    fn add(&mut self, mut node: Node) {
        self.judge.reduce(&mut node.facts, &mut node.zone);
        let zones = self.seen.entry(key(self.judge, &self.last, &node)).or_default();
        if !zones.iter().any(|zone| zone.includes(&node.zone)) {
            zones.push(node.zone.clone());
            self.ahead.push_back(self.nodes.len());
            self.nodes.push(node);
        }
    }

    fn is_too_large(&self) -> bool {
        self.moments.max(self.nodes.len()) > self.max_states
    }

    /// Finds a call that only the new rules allow after a state, or adds the successor states, up to the limit.
    fn expand(&mut self, index: usize) -> Option<FoundCall> {
        let leaves = self.leaves(index);
        self.moments += leaves.len();
        if self.is_too_large() {
            return None;
        }
        let depth = self.nodes.get(index)?.depth;
        for leaf in &leaves {
            for (call, class) in self.judge.alphabet.calls.iter().enumerate().filter(|(_, class)| class.tool == 0) {
                if class.is_admitted.get(1) != Some(&true) || !self.judge.may_be_last(class) {
                    continue;
                }
                for at in self.scopes_at(&leaf.facts) {
                    let moment = (leaf.facts.as_slice(), leaf.expired);
                    let is_allowed = |side| self.judge.refusal(side, call, at, moment).is_none();
                    if is_allowed(1) && !is_allowed(0) {
                        return Some((call, at, leaf.clone()));
                    }
                }
            }
        }
        for leaf in leaves {
            let scopes = self.scopes_at(&leaf.facts);
            // Verdicts on the call of the last move, by scope. Moves that differ only in outcome are adjacent.
            let mut judged: Option<(usize, Vec<[bool; 2]>)> = None;
            for (step, taken) in self.judge.alphabet.moves.iter().enumerate() {
                let facts = self.judge.facts(step);
                if facts == 0 && !self.judge.is_canceller(step) {
                    continue;
                }
                let Some(class) = self.judge.alphabet.calls.get(taken.call) else { continue };
                let answer = taken.answer.iter().flat_map(|answer| &answer.names);
                let names: Vec<_> = class.example.names.iter().chain(answer).copied().collect();
                if !self.may_name(&leaf.facts, &names) {
                    continue;
                }
                let (_, refused) = match judged.take_if(|(call, _)| *call == taken.call) {
                    Some(known) => judged.insert(known),
                    None => {
                        let moment = (leaf.facts.as_slice(), leaf.expired);
                        let refused = |at: &CallScope| {
                            [0, 1].map(|side| self.judge.refusal(side, taken.call, *at, moment).is_some())
                        };
                        judged.insert((taken.call, scopes.iter().map(refused).collect()))
                    }
                };
                for (at, _) in
                    scopes.iter().zip(refused).filter(|(_, refused)| **refused == [taken.end == StepEnd::Refused; 2])
                {
                    let edge = Edge { step, scope: *at, bounds: leaf.bounds.clone() };
                    let node = self.after(&leaf, edge, facts, (index, depth));
                    self.add(node);
                    if self.is_too_large() {
                        return None;
                    }
                }
            }
        }
        None
    }

    /// Returns the state after a call.
    fn after(&self, leaf: &Leaf, edge: Edge, live: u128, (index, depth): (usize, usize)) -> Node {
        let (mut facts, mut zone) = (leaf.facts.clone(), leaf.zone.clone());
        for fact in &mut facts {
            fact.live &= !self.judge.cancelled(fact, edge.step, edge.scope);
        }
        let mut fact = Fact { step: edge.step, scope: edge.scope, live, overdue: 0, clock: 0, event: depth };
        if self.judge.is_timed(&fact) {
            fact.clock = zone.start();
        }
        facts.push(fact);
        zone.elapse();
        Node { facts, zone, depth: depth + 1, reached: Some((index, edge)) }
    }

    /// Moments after a state, one for each set of facts that are still within their windows, and of expiries that have come. Those
    /// beyond the limit are left out.
    fn leaves(&self, index: usize) -> Vec<Leaf> {
        let Some(node) = self.nodes.get(index) else { return Vec::new() };
        let mut leaves = self.expired(node);
        for (place, fact) in node.facts.iter().enumerate().filter(|(_, fact)| fact.clock > 0) {
            for window in self.judge.windows(fact) {
                let mut split = Vec::new();
                for leaf in leaves {
                    for is_below in [true, false] {
                        let Some(zone) = leaf.zone.with(fact.clock, window, is_below) else { continue };
                        let bound = AgeBound { earlier: fact.event, later: node.depth, window, is_below };
                        let mut facts = leaf.facts.clone();
                        if let Some(fact) = facts.get_mut(place).filter(|_| !is_below) {
                            let (facts, debts) = self.judge.within(window);
                            fact.live &= !facts;
                            fact.overdue |= fact.live & debts;
                        }
                        let bounds = leaf.bounds.iter().copied().chain([bound]).collect();
                        split.push(Leaf { facts, zone, bounds, ..leaf });
                    }
                }
                if split.len() > self.max_states {
                    return split;
                }
                leaves = split;
            }
        }
        leaves
    }

    /// Moments after a state, by how many of the times have come at which grants expire.
    fn expired(&self, node: &Node) -> Vec<Leaf> {
        let expiries = &self.judge.rules.expiries;
        let first = expiries.first().copied().unwrap_or(0);
        let mut leaves = Vec::new();
        for expired in 0..=expiries.len() {
            let (mut zone, mut bounds) = (Some(node.zone.clone()), Vec::new());
            let begin = expired.checked_sub(1).and_then(|last| expiries.get(last));
            for (time, is_below) in [(begin, false), (expiries.get(expired), true)] {
                let Some(window) = time.map(|time| time - first) else { continue };
                zone = zone.and_then(|zone| zone.with(DAY_CLOCK, window, is_below));
                bounds.push(AgeBound { earlier: FIRST_EXPIRY, later: node.depth, window, is_below });
            }
            leaves.extend(zone.map(|zone| Leaf { facts: node.facts.clone(), expired, zone, bounds }));
        }
        leaves
    }

    /// Returns the sessions and turns to which a call may belong: those of facts, and a new one.
    fn scopes_at(&self, facts: &[Fact]) -> Vec<CallScope> {
        let (max_sessions, max_turns) = self.scopes;
        let known = |is_known: &dyn Fn(usize) -> bool| (0..).find(|number| !is_known(*number)).unwrap_or(0);
        let mut sessions = BTreeSet::from([0]);
        if max_sessions > 1 {
            sessions = facts.iter().map(|fact| fact.scope.session).collect();
        }
        if max_sessions > 1 && sessions.len() < max_sessions {
            sessions.insert(known(&|number| facts.iter().any(|fact| fact.scope.session == number)));
        }
        let mut scopes = Vec::new();
        for session in sessions {
            let of_session = || facts.iter().filter(|fact| fact.scope.session == session).map(|fact| fact.scope.turn);
            let mut turns = BTreeSet::from([0]);
            if max_turns > 1 {
                turns = of_session().collect();
            }
            if turns.len() < max_turns {
                turns.insert(known(&|number| of_session().any(|turn| turn == number)));
            }
            scopes.extend(turns.into_iter().map(|turn| CallScope { session, turn }));
        }
        scopes
    }

    /// Returns whether a call names only values that facts have, or the first unused one: the others are alike.
    fn may_name(&self, facts: &[Fact], names: &[ValueName]) -> bool {
        if names.is_empty() {
            return true;
        }
        // The values of the last call are distinguished from all others.
        let mut used: BTreeMap<u32, BTreeSet<u32>> =
            self.last.iter().map(|(class, count)| (*class, (0..*count).collect())).collect();
        for name in facts.iter().flat_map(|fact| self.judge.names(fact)) {
            used.entry(name.class).or_default().insert(name.index);
        }
        names.iter().all(|name| {
            let used = used.entry(name.class).or_default();
            let first = (0..).find(|index| !used.contains(index)).unwrap_or(0);
            let may = used.contains(&name.index) || name.index == first;
            used.insert(name.index);
            may
        })
    }

    /// The sequence that ends with a call after a state, with the time of day at which it starts, if that matters.
    fn steps(&self, index: usize, call: usize, at: CallScope, bounds: &[AgeBound]) -> (Option<i64>, Vec<ProvenStep>) {
        let mut edges = Vec::new();
        let mut bounds = bounds.to_vec();
        let mut place = index;
        while let Some((before, edge)) = self.nodes.get(place).and_then(|node| node.reached.as_ref()) {
            bounds.extend(&edge.bounds);
            edges.push(edge);
            place = *before;
        }
        edges.reverse();
        let first = self.judge.rules.expiries.first().copied();
        let times = earliest(edges.len() + 1, &bounds, first.unwrap_or(0));
        let begin = times.first().copied().unwrap_or(0);
        let start = first.zip(times.last()).map(|(first, at)| first + begin - at);
        let alphabet = &self.judge.alphabet;
        let taken = edges.iter().filter_map(|edge| {
            let step = alphabet.moves.get(edge.step)?;
            Some((step.call, edge.scope, step.end.clone()))
        });
        let last = (call, at, StepEnd::Ok(Value::Object(serde_json::Map::new())));
        let mut before = begin;
        let steps = taken.chain([last]).zip(times).filter_map(|((call, scope, end), time)| {
            let class = alphabet.calls.get(call)?;
            let pause = time - std::mem::replace(&mut before, time);
            Some(ProvenStep {
                pause_ms: u64::try_from(pause).unwrap_or(0),
                tool: self.judge.rules.tools.get(class.tool)?.clone(),
                session: scope.session,
                turn: scope.turn,
                args: class.example.value.clone(),
                end,
            })
        });
        (start, steps.collect())
    }
}

/// Number of the clock of the time of day.
const DAY_CLOCK: usize = 1;

/// Numbers of a state, but for its times, that are equal for states that differ in the names of values, sessions and turns alone.
fn key(judge: &SequenceJudge, last: &BTreeMap<u32, u32>, node: &Node) -> Vec<i64> {
    let mut key = Vec::new();
    let mut names: BTreeMap<ValueName, usize> = BTreeMap::new();
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    let (mut sessions, mut turns) = (Vec::new(), Vec::new());
    let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
    for fact in &node.facts {
        key.extend(judge.shape(fact.step));
        for name in judge.names(fact) {
            let first = last.get(&name.class).copied().unwrap_or(0);
            if name.index < first {
                key.push(-1 - i64::from(name.index));
                continue;
            }
            let next = counts.entry(name.class).or_default();
            let renamed = *names.entry(name).or_insert_with(|| {
                *next += 1;
                *next
            });
            key.push(number(renamed));
        }
        for bits in [fact.live, fact.overdue] {
            key.push((bits & u128::from(u64::MAX)) as i64);
            key.push((bits >> 64) as i64);
        }
        let place = |known: &mut Vec<(usize, usize)>, scope| {
            known.iter().position(|other| *other == scope).unwrap_or_else(|| {
                known.push(scope);
                known.len() - 1
            })
        };
        key.push(number(place(&mut sessions, (fact.scope.session, 0))));
        key.push(number(place(&mut turns, (fact.scope.session, fact.scope.turn))));
        key.push(i64::from(fact.clock > 0));
    }
    key
}

impl SequenceJudge {
    fn names(&self, fact: &Fact) -> impl Iterator<Item = ValueName> {
        let step = self.alphabet.moves.get(fact.step);
        let call = step.and_then(|step| self.alphabet.calls.get(step.call));
        let answer = step.and_then(|step| step.answer.as_ref());
        let call = call.into_iter().flat_map(|call| &call.example.names);
        call.chain(answer.into_iter().flat_map(|answer| &answer.names)).copied()
    }

    /// Returns the number of names of each class that the last call may have.
    fn last_names(&self) -> BTreeMap<u32, u32> {
        let mut last: BTreeMap<u32, u32> = BTreeMap::new();
        let calls = self.alphabet.calls.iter().filter(|class| class.tool == 0 && self.may_be_last(class));
        for name in calls.flat_map(|class| &class.example.names) {
            let count = last.entry(name.class).or_default();
            *count = (*count).max(name.index + 1);
        }
        last
    }

    /// Windows that bear on a fact, from the shortest.
    fn windows(&self, fact: &Fact) -> BTreeSet<i64> {
        let open = fact.live & !fact.overdue;
        let windows = self.rules.matchers.iter().enumerate().filter(|(index, _)| open >> index & 1 == 1);
        windows.filter_map(|(_, matcher)| i64::try_from(matcher.premise.within_ms?).ok()).collect()
    }

    fn is_timed(&self, fact: &Fact) -> bool {
        !self.windows(fact).is_empty()
    }

    /// Matchers with a window, as bits: those of facts, and those of debts.
    fn within(&self, window: i64) -> (u128, u128) {
        let matchers = self.rules.matchers.iter().enumerate();
        let with = matchers
            .filter(|(_, matcher)| matcher.premise.within_ms.and_then(|ms| i64::try_from(ms).ok()) == Some(window));
        with.fold((0, 0), |(facts, debts), (index, matcher)| match matcher.is_debt {
            true => (facts, debts | 1 << index),
            false => (facts | 1 << index, debts),
        })
    }

    /// Returns the class of a move, without names of values.
    fn shape(&self, step: usize) -> [i64; 4] {
        let Some(taken) = self.alphabet.moves.get(step) else { return [0; 4] };
        let Some(call) = self.alphabet.calls.get(taken.call) else { return [0; 4] };
        let end = match taken.end {
            StepEnd::Ok(_) => 0,
            StepEnd::Failed => 1,
            StepEnd::MayHaveRun => 2,
            StepEnd::DidNotRun => 3,
            StepEnd::Refused => 4,
        };
        let answer = taken.answer.as_ref().map_or(-1, |answer| i64::from(answer.shape));
        [i64::try_from(call.tool).unwrap_or(i64::MAX), i64::from(call.example.shape), end, answer]
    }

    /// Drops what can decide nothing any more: facts that nothing counts, and all but the newest of facts that are alike. Of debts that
    /// are alike, the oldest is overdue first, and what settles it settles the others.
    fn reduce(&self, facts: &mut Vec<Fact>, zone: &mut Zone) {
        for index in 0..self.rules.matchers.len() {
            let (kept, is_debt) =
                self.rules.matchers.get(index).map_or((0, false), |matcher| (matcher.kept, matcher.is_debt));
            let mut newer: BTreeMap<(usize, CallScope), usize> = BTreeMap::new();
            let mut counted: Vec<_> = facts.iter_mut().filter(|fact| fact.live >> index & 1 == 1).collect();
            counted.sort_by_key(|fact| if is_debt { fact.event } else { usize::MAX - fact.event });
            for fact in counted {
                let count = newer.entry((self.alike(fact.step, index), fact.scope)).or_default();
                if *count >= kept {
                    fact.live &= !(1 << index);
                }
                *count += 1;
            }
        }
        for fact in facts.iter_mut() {
            fact.overdue &= fact.live;
        }
        facts.retain(|fact| fact.live != 0);
        facts.sort_by_key(|fact| (self.shape(fact.step), fact.live, fact.overdue, fact.event));
        let mut clocks: Vec<_> = self.rules.expiries.first().map(|_| DAY_CLOCK).into_iter().collect();
        for fact in facts {
            if fact.clock > 0 && self.is_timed(fact) {
                clocks.push(fact.clock);
                fact.clock = clocks.len();
            } else {
                fact.clock = 0;
            }
        }
        *zone = zone.keep(&clocks);
    }
}
