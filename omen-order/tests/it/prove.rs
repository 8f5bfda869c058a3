//! Comparison of two rule sets against brute force: all short sequences of calls, run through both engines.

use std::collections::BTreeMap;
use std::sync::Arc;

use fastrand::Rng;
use omen_order::prove::{
    Admission, Comparison, Difference, RuleSide, StepEnd, ValueClass, ValuePlace, Values, compare,
};
use omen_order::rules::{Test, Tool, neutral};
use omen_order::{Ask, Ended, Engine, Fit, Mode, Now, Output, RuleSet, Secret, Verdict};
use serde_json::{Value, json};

use crate::random::{chance, count, pick};
use crate::tests_of_values::table;

mod debts;
mod sums;
mod undecided;

/// All values that a member of the test has; `None` is a missing one.
struct Universe(Vec<Option<Value>>);

impl Values for Universe {
    fn pointers(&self, test: &Test) -> Result<Vec<Arc<str>>, String> {
        let content: Value = serde_json::from_str(&test.content()).unwrap();
        Ok(content.as_object().unwrap().keys().map(|key| key.as_str().into()).collect())
    }

    fn classes(&self, places: &[ValuePlace], distinct: usize, wanted: &[i64]) -> Result<Vec<ValueClass>, String> {
        let mut classes: BTreeMap<String, ValueClass> = BTreeMap::new();
        for value in &self.0 {
            let object = |pointer: &str| match value {
                Some(value) => json!({ pointer.trim_start_matches('/'): value }),
                None => json!({}),
            };
            let fits: Vec<Fit> = places
                .iter()
                .flat_map(|place| place.tests.iter().map(move |test| test.judge(&object(&place.pointer))))
                .collect();
            let kind = match value {
                None => 0,
                Some(value) if !wanted.is_empty() && value.is_u64() => 3,
                Some(Value::String(_) | Value::Bool(_) | Value::Number(_)) => 1,
                Some(_) => 2,
            };
            let class = classes.entry(format!("{kind} {fits:?}")).or_default();
            if class.len() < distinct {
                class.push(value.clone());
            }
        }
        Ok(classes.into_values().collect())
    }
}

fn side(policy: &Value) -> RuleSide {
    let tools = policy["tools"].as_object().unwrap();
    let entries = tools.iter().map(|(name, entry)| {
        let args = entry.get("where").map(|tests| table(tests).unwrap());
        let content = format!("{} {} {}", entry["where"], entry["confirm"], entry["expires"]);
        let (must_confirm, expires) = (entry["confirm"] == true, entry["expires"].as_i64());
        (neutral::tool(name).unwrap(), Admission { content, must_confirm, args, expires, ..Admission::default() })
    });
    RuleSide { policy: neutral::policy(policy, &table).unwrap(), entries: entries.collect() }
}

fn compared(old: &Value, new: &Value, universe: &[Option<Value>], max_states: usize) -> Comparison {
    compare(&side(old), &side(new), &Universe(universe.to_vec()), max_states)
}

/// Call of a sequence, for both engines.
#[derive(Clone, Debug)]
struct Call {
    pause: i64,
    tool: Tool,
    session: usize,
    turn: usize,
    args: Value,
    end: Ended,
    answer: Value,
    is_refused: bool,
}

/// Engine of one side. Sequences are so far apart in time that none sees another.
struct Runner {
    side: RuleSide,
    engine: Engine,
    now: i64,
    runs: usize,
    /// Number of debts that were reported up to the ends of the last sessions.
    owed: usize,
}

impl Runner {
    fn new(policy: &Value) -> Self {
        let side = side(policy);
        let rules = RuleSet::new(&side.policy);
        let engine = Engine::new(rules, Secret::new(&[7; 32]), Mode::Enforce, Now { mono: 0, wall: 0 });
        Self { side, engine, now: 0, runs: 0, owed: 0 }
    }

    /// Whether each call is allowed, if the first one is made at a time of day.
    fn run(&mut self, start: i64, calls: &[Call]) -> Vec<bool> {
        self.now += 1_000_000;
        self.runs += 1;
        self.owed = 0;
        let mut day = start - calls.first().map_or(0, |call| call.pause);
        let mut allowed = Vec::new();
        for call in calls {
            self.now += call.pause;
            day += call.pause;
            let now = Now { mono: self.now, wall: self.now };
            let Some(entry) = self.side.entries.get(&call.tool) else {
                allowed.push(false);
                continue;
            };
            let fits = entry.args.as_ref().is_none_or(|test| test.judge(&call.args) == Fit::Yes)
                && entry.expires.is_none_or(|expires| day < expires);
            let ask = Ask {
                tool: call.tool.clone(),
                session: format!("{} {}", self.runs, call.session),
                turn: call.turn.to_string(),
                args: Some(Arc::new(call.args.clone())),
                must_confirm: entry.must_confirm,
                is_refused: !fits,
            };
            let id = self.engine.ask(now, ask);
            let mut is_allowed = false;
            for output in self.engine.outputs().collect::<Vec<_>>() {
                is_allowed |= matches!(output, Output::Verdict(_, Verdict::Allow { .. }));
                self.owed += usize::from(matches!(output, Output::Found(_)));
                if matches!(output, Output::Confirm(_)) {
                    self.engine.confirm(now, id, true);
                    let verdicts = self.engine.outputs().collect::<Vec<_>>();
                    is_allowed |=
                        verdicts.iter().any(|output| matches!(output, Output::Verdict(_, Verdict::Allow { .. })));
                }
            }
            if is_allowed && fits {
                let answer = (call.end == Ended::Ok).then_some(&call.answer);
                self.engine.end(now, id, call.end, answer);
            }
            self.engine.outputs().for_each(drop);
            allowed.push(is_allowed && fits);
        }
        for session in 0..4 {
            self.engine.end_session(Now { mono: self.now, wall: self.now }, &format!("{} {session}", self.runs));
        }
        self.owed += self.engine.outputs().filter(|output| matches!(output, Output::Found(_))).count();
        allowed
    }
}

fn calls(difference: &Difference) -> Vec<Call> {
    let steps = difference.steps.iter().map(|step| {
        let (end, answer) = match &step.end {
            StepEnd::Ok(answer) => (Ended::Ok, answer.clone()),
            StepEnd::Failed => (Ended::Failed, Value::Null),
            StepEnd::DidNotRun => (Ended::DidNotRun, Value::Null),
            StepEnd::MayHaveRun | StepEnd::Refused => (Ended::MayHaveRun, Value::Null),
        };
        Call {
            pause: i64::try_from(step.pause_ms).unwrap(),
            tool: step.tool.clone(),
            session: step.session,
            turn: step.turn,
            args: step.args.clone(),
            end,
            answer,
            is_refused: step.end == StepEnd::Refused,
        }
    });
    steps.collect()
}

/// Checks a difference on both engines.
fn shows(old: &mut Runner, new: &mut Runner, difference: &Difference) -> bool {
    let (start, calls) = (difference.start.unwrap_or(0), calls(difference));
    let wanted: Vec<_> = calls.iter().map(|call| !call.is_refused).collect();
    let (_, before) = wanted.split_last().unwrap();
    let (olds, news) = (old.run(start, &calls), new.run(start, &calls));
    olds[..before.len()] == *before && news[..before.len()] == *before && !olds[before.len()] && news[before.len()]
}

/// Length of the shortest sequence of at most so many calls whose last one only the new rules allow.
fn brute(old: &Value, new: &Value, moves: &[Call], longest: usize, budget: &mut usize) -> Result<Option<usize>, usize> {
    let (mut a, mut b) = (Runner::new(old), Runner::new(new));
    let starts = if says([old, new], "expires") { 0..7 } else { 0..1 };
    let mut prefixes: Vec<(i64, Vec<Call>)> = starts.map(|start| (start, Vec::new())).collect();
    for length in 1..=longest {
        let mut longer = Vec::new();
        for (start, prefix) in &prefixes {
            for next in moves {
                if length == 1 && next.pause > 0 {
                    continue;
                }
                *budget = budget.checked_sub(1).ok_or(length - 1)?;
                let mut sequence = prefix.clone();
                sequence.push(next.clone());
                let (olds, news) = (a.run(*start, &sequence), b.run(*start, &sequence));
                match (*olds.last().unwrap(), *news.last().unwrap()) {
                    (false, true) => return Ok(Some(length)),
                    (true, true) => longer.push((*start, sequence)),
                    (false, false) => {
                        sequence.last_mut().unwrap().is_refused = true;
                        if next.end == Ended::Ok {
                            longer.push((*start, sequence));
                        }
                    }
                    (true, false) => {}
                }
            }
        }
        prefixes = longer;
    }
    Ok(None)
}

const TOOLS: [&str; 3] = ["s/a", "s/b", "s/d"];

fn some_tools(rng: &mut Rng) -> Value {
    let first = pick(rng, &TOOLS);
    let second = pick(rng, &TOOLS);
    if chance(rng, 15) && first != second { json!([first, second]) } else { json!([first]) }
}

fn demand(rng: &mut Rng) -> Value {
    json!({ "/k": pick(rng, &[json!({ "equals": "x" }), json!({ "in": ["x", "y"] }), json!({ "equals": "x", "optional": true }), json!({ "absent": true })]) })
}

fn premise(rng: &mut Rng, kind: &str, over_all: bool) -> Value {
    let mut premise = json!({ "tools": some_tools(rng) });
    let mut was = if kind == "after" { "ok" } else { "made" };
    if chance(rng, 30) {
        was = match kind {
            "max" => pick(rng, &["made", "done", "asked"]),
            _ => pick(rng, &["ok", "failed", "made", "done", "confirmed", "asked", "refused"]),
        };
        premise["was"] = was.into();
    }
    let has_answer = was == "ok" || was == "confirmed";
    if chance(rng, 15) {
        premise["where"] = demand(rng);
    }
    if has_answer && chance(rng, 10) {
        premise["answer"] = demand(rng);
    }
    if chance(rng, 20) {
        let member = if has_answer && chance(rng, 30) { "answer" } else { "earlier" };
        premise["same"] = json!([{ "arg": "/k", member: "/k" }]);
    }
    premise["per"] =
        pick(rng, if over_all { &["all"] } else { &["session", "session", "session", "session", "turn"] }).into();
    if premise["per"] == "all" || chance(rng, 15) {
        premise["within_ms"] = pick(rng, &[1, 2]).into();
    }
    if kind != "max" {
        if chance(rng, 15) {
            premise["times"] = 2.into();
        }
        if chance(rng, 30) {
            let mut until = json!({ "tools": some_tools(rng) });
            if chance(rng, 30) {
                until["was"] = pick(rng, &["ok", "failed", "made"]).into();
            }
            if chance(rng, 20) {
                until["other"] = true.into();
            }
            if chance(rng, 20) {
                until["same"] = json!([{ "arg": "/k", "earlier": "/k" }]);
            }
            premise["until"] = until;
        }
    }
    premise
}

fn rule(rng: &mut Rng) -> Value {
    let over_all = chance(rng, 8);
    let kind = pick(rng, &["after", "after", "never_after", "max"]);
    let mut rule = match kind {
        "after" => {
            let any: Vec<_> = (0..if chance(rng, 20) { 2 } else { 1 }).map(|_| premise(rng, kind, over_all)).collect();
            json!({ "kind": kind, "any": any })
        }
        "max" => json!({ "kind": kind, "calls": rng.u64(0..3), "premise": premise(rng, kind, over_all) }),
        _ => json!({ "kind": kind, "premise": premise(rng, kind, over_all) }),
    };
    if chance(rng, 15) {
        rule["if"] = demand(rng);
    }
    rule
}

fn policy(rng: &mut Rng) -> Value {
    let mut tools = serde_json::Map::new();
    for tool in TOOLS {
        let mut entry = json!({ "confirm": chance(rng, 20), "rules": [] });
        // Most rules are of one tool, so that the search and brute force get far.
        let rules = if tool == "s/d" { pick(rng, &[1, 1, 2]) } else { pick(rng, &[0, 0, 0, 0, 1]) };
        entry["rules"] = (0..rules).map(|_| rule(rng)).collect();
        if chance(rng, 10) {
            entry["where"] = demand(rng);
        }
        if chance(rng, 5) {
            entry["expires"] = pick(rng, &[3, 5]).into();
        }
        tools.insert(tool.to_owned(), entry);
    }
    json!({ "gather_ms": 0, "tools": tools })
}

fn changed(rng: &mut Rng, policy: &Value) -> Value {
    let mut changed = policy.clone();
    let tool = if chance(rng, 70) { "s/d" } else { pick(rng, &TOOLS) };
    let rules = changed["tools"][tool]["rules"].as_array_mut().unwrap();
    match rng.u32(..9) {
        0 => changed["tools"][tool]["expires"] = pick(rng, &[4, 6]).into(),
        1 | 2 if !rules.is_empty() => drop(rules.remove(0)),
        3 | 4 => rules.push(rule(rng)),
        5 | 6 => changed["tools"][tool]["where"] = demand(rng),
        _ => *rules = vec![rule(rng)],
    }
    changed
}

/// Whether a policy has a word, so that sequences have to differ in what it is about.
fn says(policies: [&Value; 2], word: &str) -> bool {
    policies.iter().any(|policy| policy.to_string().contains(word))
}

fn moves(policies: [&Value; 2], universe: &[Option<Value>]) -> Vec<Call> {
    let mut moves = Vec::new();
    let is_timed = says(policies, "within_ms") || says(policies, "expires");
    let pauses: &[i64] = if is_timed { &[0, 1, 2] } else { &[0] };
    let turns = if says(policies, "\"turn\"") { 2 } else { 1 };
    let sessions = if says(policies, "\"all\"") { 2 } else { 1 };
    let universe = if says(policies, "\"/k\"") { universe } else { &universe[..1] };
    let ends: &[Ended] = match says(policies, "\"failed\"") {
        true => &[Ended::Ok, Ended::Failed, Ended::DidNotRun],
        false => &[Ended::Ok, Ended::Failed],
    };
    let object = |value: &Option<Value>| value.as_ref().map_or(json!({}), |value| json!({ "k": value }));
    for tool in TOOLS {
        for args in universe {
            for &end in ends {
                let has_answer = end == Ended::Ok && (says(policies, "\"answer\""));
                for answer in if has_answer { universe } else { &universe[..1] } {
                    for pause in pauses {
                        for session in 0..sessions {
                            for turn in 0..turns {
                                moves.push(Call {
                                    pause: *pause,
                                    tool: neutral::tool(tool).unwrap(),
                                    session,
                                    turn,
                                    args: object(args),
                                    end,
                                    answer: object(answer),
                                    is_refused: false,
                                });
                            }
                        }
                    }
                }
            }
        }
    }
    moves
}

/// Compares one random pair, and counts what was found.
fn check(seed: u64, budget: usize, found: &mut BTreeMap<String, u64>) {
    let mut rng = Rng::with_seed(seed);
    let rng = &mut rng;
    let old = policy(rng);
    let new = changed(rng, &old);
    let mut universe = vec![Some(json!("x")), Some(json!("y"))];
    if chance(rng, 30) {
        universe.push(None);
    }
    if chance(rng, 20) {
        universe.push(Some(Value::Null));
    }
    let comparison = compared(&old, &new, &universe, 100);
    let case = || format!("seed {seed}, values {universe:?}\nold {old}\nnew {new}");
    let (mut a, mut b) = (Runner::new(&old), Runner::new(&new));
    for difference in &comparison.differences {
        assert!(shows(&mut a, &mut b, difference), "{}\nnot a difference: {difference:#?}", case());
    }
    if let Some(outside) = comparison.outside.first() {
        assert!(outside.why.starts_with("too large"), "{}\n{outside:?}", case());
        *found.entry("too large".to_owned()).or_default() += 1;
        return;
    }
    let shortest = comparison.differences.iter().map(|difference| difference.steps.len()).min();
    let longest = shortest.map_or(4, |length| length - 1);
    // Every start has its own sequences.
    let mut budget = if says([&old, &new], "expires") { 4 * budget } else { budget };
    let brute = brute(&old, &new, &moves([&old, &new], &universe), longest, &mut budget);
    let depth = brute.err().map_or(longest, |depth| depth);
    if let Ok(Some(length)) = brute {
        panic!("{}\nbrute force finds {length}, the search {shortest:?}", case());
    }
    let what = match shortest {
        Some(length) => format!("difference of {length}"),
        None => format!("none, tried to {depth}"),
    };
    *found.entry(what).or_default() += 1;
}

/// Number of pairs: `OMEN_TEST_PAIRS`, or more with `OMEN_PROOFS=full`.
fn wanted() -> u64 {
    let wanted = std::env::var("OMEN_TEST_PAIRS").ok().and_then(|count| count.parse().ok());
    wanted.unwrap_or_else(|| count(200, 1000))
}

#[test]
fn the_search_finds_what_brute_force_finds() {
    let first = std::env::var("OMEN_TEST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
    let mut found = BTreeMap::new();
    for seed in first..first + wanted() {
        check(seed, 600, &mut found);
    }
    println!("{found:?}");
    let decided = wanted() - found.get("too large").copied().unwrap_or_default();
    assert!(2 * decided >= wanted(), "{found:?}");
    assert!(found["difference of 1"] > 0 && found["difference of 2"] > 0 && found["difference of 3"] > 0);
}

/// Policy in which `s/d` has one rule.
fn guarded(rule: &Value) -> Value {
    let mut policy = json!({ "gather_ms": 0, "tools": {} });
    for tool in TOOLS {
        policy["tools"][tool] = json!({ "rules": [] });
    }
    policy["tools"]["s/d"]["rules"] = json!([rule]);
    policy
}

#[test]
fn a_rule_that_is_widened_by_one_is_always_found() {
    let universe = [Some(json!("x")), Some(json!("y")), Some(json!("z"))];
    let premise = |more: Value| {
        let mut premise = json!({ "tools": ["s/a"] });
        premise.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        premise
    };
    let after = |more| guarded(&json!({ "kind": "after", "any": [premise(more)] }));
    let never = |more| guarded(&json!({ "kind": "never_after", "premise": premise(more) }));
    let max = |calls: u64| {
        guarded(&json!({ "kind": "max", "calls": calls, "premise": { "tools": ["s/d"], "per": "session" } }))
    };
    for (old, new, calls) in [
        (after(json!({ "within_ms": 1000 })), after(json!({ "within_ms": 1001 })), 2),
        (after(json!({ "times": 3 })), after(json!({ "times": 2 })), 3),
        (after(json!({})), after(json!({ "was": "failed" })), 2),
        (after(json!({ "same": [{ "arg": "/k", "earlier": "/k" }] })), after(json!({})), 2),
        (after(json!({ "until": { "tools": ["s/b"] } })), after(json!({})), 3),
        (
            after(json!({ "where": { "/k": { "in": ["x"] } } })),
            after(json!({ "where": { "/k": { "in": ["x", "y"] } } })),
            2,
        ),
        (never(json!({ "within_ms": 1000 })), never(json!({ "within_ms": 999 })), 2),
        (never(json!({})), never(json!({ "until": { "tools": ["s/b"] } })), 3),
        (never(json!({ "times": 2 })), never(json!({ "times": 3 })), 3),
        (max(4), max(5), 5),
    ] {
        let comparison = compared(&old, &new, &universe, 300);
        let [difference] = comparison.differences.as_slice() else { panic!("{old}\n{new}\n{comparison:?}") };
        assert_eq!(difference.steps.len(), calls, "{old}\n{new}\n{difference:?}");
        assert!(shows(&mut Runner::new(&old), &mut Runner::new(&new), difference));
        // The other way round, nothing is allowed that was not.
        let back = compared(&new, &old, &universe, 300);
        assert!(back.outside.is_empty(), "{back:?}");
        assert_eq!(
            back.differences.is_empty(),
            !old.to_string().contains("after") || !new.to_string().contains("failed")
        );
    }
}

/// Tools of a policy that each need a call of the one before them.
fn chain(length: usize, window: u64) -> Value {
    let tools = (0..length).map(|index| {
        let before = format!("s/t{}", index.saturating_sub(1));
        let rule = json!({ "kind": "after", "any": [{ "tools": [before], "within_ms": 1000 }] });
        let last = json!({ "kind": "after", "any": [{ "tools": [before], "within_ms": window }] });
        let rules = if index == 0 { json!([]) } else { json!([if index + 1 == length { last } else { rule }]) };
        (format!("s/t{index}"), json!({ "rules": rules }))
    });
    json!({ "tools": tools.collect::<serde_json::Map<_, _>>() })
}

#[test]
fn only_tools_that_differ_are_searched() {
    let comparison = compared(&chain(6, 1000), &chain(6, 1001), &[None], 300);
    assert_eq!((comparison.searched, comparison.outside.len()), (1, 0));
    assert_eq!(comparison.differences[0].steps.len(), 6);
    assert!(comparison.states < 100, "{}", comparison.states);
    // A thousand rules, of which one differs.
    let many = |window: u64| {
        let mut policy = json!({ "tools": {} });
        for index in 0..1000 {
            let window = if index == 500 { window } else { 1000 };
            let rule = json!({ "kind": "after", "any": [{ "tools": ["s/a"], "within_ms": window }] });
            policy["tools"][format!("s/t{index}")] = json!({ "rules": [rule] });
        }
        policy["tools"]["s/a"] = json!({ "rules": [] });
        policy
    };
    let comparison = compared(&many(1000), &many(2000), &[None], 300);
    assert_eq!((comparison.searched, comparison.differences.len(), comparison.outside.len()), (1, 1, 0));
    assert!(comparison.states < 10, "{}", comparison.states);
}
