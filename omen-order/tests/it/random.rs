//! Random traces over random rules: both engines decide alike.

use std::collections::BTreeMap;

use fastrand::Rng;
use omen_testkit::proofs::Proofs;
use serde_json::{Value, json};

use crate::naive;
use crate::tests_of_values::table;

/// Tools, and whether a human confirms their calls.
const TOOLS: [&str; 4] = ["s/a", "s/b", "t/a", "t/d"];

pub(crate) fn pick<T: Clone>(rng: &mut Rng, of: &[T]) -> T {
    of[rng.usize(..of.len())].clone()
}

pub(crate) fn chance(rng: &mut Rng, percent: u32) -> bool {
    rng.u32(..100) < percent
}

fn some_tools(rng: &mut Rng) -> Value {
    let mut tools = vec![pick(rng, &TOOLS)];
    if chance(rng, 25) {
        let other = pick(rng, &TOOLS);
        if other != tools[0] {
            tools.push(other);
        }
    }
    json!(tools)
}

fn test(rng: &mut Rng) -> Value {
    let demand = match rng.u32(..6) {
        0 => json!({ "equals": value(rng) }),
        1 => json!({ "in": [1, "x"] }),
        2 => json!({ "min": rng.i64(0..3) }),
        3 => json!({ "max": rng.i64(0..3), "optional": true }),
        4 => json!({ "absent": true }),
        _ => json!({ "equals": true }),
    };
    let mut tests = serde_json::Map::new();
    tests.insert(pick(rng, &["/k", "/n", "/m"]).to_owned(), demand);
    Value::Object(tests)
}

fn value(rng: &mut Rng) -> Value {
    match rng.u32(..40) {
        0 => json!(1.5),
        1 => json!(null),
        2 => json!([1]),
        3 => json!("1"),
        4 => json!(9_007_199_254_740_992_u64),
        5..10 => json!("x"),
        10..14 => json!(true),
        _ => json!(rng.i64(0..3)),
    }
}

fn pairs(rng: &mut Rng, with_answer: bool) -> Option<Value> {
    if !chance(rng, 40) {
        return None;
    }
    let pair = |rng: &mut Rng| {
        let arg = pick(rng, &["/k", "/n"]);
        match with_answer && chance(rng, 50) {
            true => json!({ "arg": arg, "answer": pick(rng, &["/k", "/m"]) }),
            false => json!({ "arg": arg, "earlier": if chance(rng, 80) { arg } else { "/m" } }),
        }
    };
    let mut pairs = vec![pair(rng)];
    if chance(rng, 20) {
        pairs.push(pair(rng));
    }
    Some(json!(pairs))
}

fn until(rng: &mut Rng, with_answer: bool) -> Value {
    let mut until = json!({ "tools": some_tools(rng) });
    if chance(rng, 25) {
        until["was"] = pick(rng, &["ok", "failed", "made", "done", "confirmed", "asked", "refused"]).into();
    }
    if chance(rng, 15) {
        until["other"] = true.into();
    }
    if chance(rng, 15) {
        until["where"] = test(rng);
    }
    if (until["was"] == "ok" || until["was"] == "confirmed") && chance(rng, 30) {
        until["answer"] = test(rng);
    }
    if let Some(pairs) = pairs(rng, with_answer) {
        until["same"] = pairs;
    }
    until
}

fn premise(rng: &mut Rng, kind: &str) -> Value {
    let mut premise = json!({ "tools": some_tools(rng) });
    let default = match kind {
        "after" => "ok",
        "owes" => "ok",
        _ => "made",
    };
    let mut was = default;
    if kind != "owes" && chance(rng, 35) {
        was = match kind {
            "max" => pick(rng, &["made", "done", "asked"]),
            _ => pick(rng, &["ok", "failed", "made", "done", "confirmed", "asked", "refused"]),
        };
        premise["was"] = was.into();
    }
    let has_answer = kind == "owes" || was == "ok" || was == "confirmed";
    if chance(rng, 20) {
        premise["where"] = test(rng);
    }
    if has_answer && chance(rng, 20) {
        premise["answer"] = test(rng);
    }
    if let Some(pairs) = pairs(rng, has_answer) {
        premise["same"] = pairs;
    }
    if chance(rng, 30) {
        premise["within_ms"] = pick(rng, &[100, 1000, 5000]).into();
    }
    if chance(rng, 30) {
        premise["per"] = pick(rng, &["session", "turn", "all"]).into();
    }
    if matches!(kind, "after" | "never_after") {
        if chance(rng, 15) {
            premise["times"] = 2.into();
        }
        if chance(rng, 40) {
            premise["until"] = until(rng, has_answer);
            if chance(rng, 20) {
                premise["until"] = json!([premise["until"], until(rng, has_answer)]);
            }
        }
    }
    premise
}

fn rule(rng: &mut Rng) -> Value {
    let kind = pick(rng, &["after", "after", "never_after", "never_after", "max", "owes"]);
    let mut rule = match kind {
        "after" => {
            let mut any = vec![premise(rng, kind)];
            if chance(rng, 15) {
                any.push(premise(rng, kind));
            }
            json!({ "kind": kind, "any": any })
        }
        "max" if chance(rng, 50) => {
            let at = pick(rng, &["/n", "/items/*"]);
            json!({ "kind": kind, "sum": { "at": at, "limit": rng.u64(1..5) }, "premise": premise(rng, kind) })
        }
        "max" => json!({ "kind": kind, "calls": rng.u64(0..3), "premise": premise(rng, kind) }),
        _ => json!({ "kind": kind, "premise": premise(rng, kind) }),
    };
    if chance(rng, 12) {
        rule["if"] = test(rng);
    }
    rule
}

fn policy(rng: &mut Rng) -> Value {
    let mut tools = serde_json::Map::new();
    for tool in TOOLS {
        let count = pick(rng, &[0, 0, 1, 1, 2]);
        let mut rules: Vec<_> = (0..count).map(|_| rule(rng)).collect();
        let order = ["after", "never_after", "max", "owes"];
        rules.sort_by_key(|rule| order.iter().position(|kind| rule["kind"] == *kind));
        tools.insert(tool.to_owned(), json!({ "confirm": tool == "t/d", "rules": rules }));
    }
    json!({ "wait_ms": pick(rng, &[1000, 300]), "gather_ms": pick(rng, &[0, 100, 100]), "tools": tools })
}

/// A policy that has most rules of another one.
fn changed(rng: &mut Rng, policy: &Value) -> Value {
    let mut policy = policy.clone();
    let tool = pick(rng, &TOOLS);
    match rng.u32(..3) {
        0 => policy["tools"][tool]["rules"] = json!([]),
        1 => policy["tools"][tool]["rules"] = json!([rule(rng)]),
        _ => {
            let other = pick(rng, &TOOLS);
            policy["tools"][tool]["rules"] = policy["tools"][other]["rules"].clone();
        }
    }
    policy
}

fn args(rng: &mut Rng) -> Value {
    let mut args = json!({ "k": value(rng), "n": value(rng), "items": [rng.i64(0..2)] });
    for (key, percent) in [("k", 10), ("n", 10), ("items", 30)] {
        if chance(rng, percent) {
            args.as_object_mut().unwrap().remove(key);
        }
    }
    if chance(rng, 30) {
        args["m"] = value(rng);
    }
    args
}

/// A trace with its policies.
pub(crate) fn case(seed: u64) -> Value {
    let mut rng = Rng::with_seed(seed);
    let rng = &mut rng;
    let mut policies = vec![policy(rng)];
    while chance(rng, 30) && policies.len() < 3 {
        let next = if chance(rng, 70) { changed(rng, &policies[0]) } else { policy(rng) };
        policies.push(next);
    }
    let observes = chance(rng, 15);
    let (mut t, mut trace, mut ids) = (0i64, Vec::new(), 0usize);
    for _ in 0..rng.usize(4..32) {
        t += pick(rng, &[0, 0, 0, 1, 20, 80, 99, 100, 101, 300, 1000, 1001, 4000]);
        let mut event = json!({ "t": t });
        if chance(rng, 4) {
            event["w"] = (t + rng.i64(-6000..6000)).into();
        }
        let (session, turn) = (pick(rng, &["p", "p", "p", "q"]), pick(rng, &["1", "1", "2"]));
        let recent = |rng: &mut Rng| format!("c{}", ids.saturating_sub(1 + rng.usize(..5)));
        let kind = match rng.u32(..100) {
            _ if ids == 0 => "ask",
            0..45 => "ask",
            45..78 => "end",
            78..84 => "confirm",
            84..87 => "cancel",
            87..89 => "turn_end",
            89..91 => "session_end",
            91..94 => "restart",
            94..96 if policies.len() > 1 => "reload",
            _ => "tick",
        };
        event["ev"] = kind.into();
        match kind {
            "ask" => {
                event["id"] = format!("c{ids}").into();
                ids += 1;
                event["tool"] = pick(rng, &TOOLS).into();
                (event["session"], event["turn"]) = (session.into(), turn.into());
                event["args"] = if observes && chance(rng, 10) { Value::Null } else { args(rng) };
                if chance(rng, 4) {
                    event["pre"] = "PG-3".into();
                }
            }
            "end" => {
                event["id"] = recent(rng).into();
                event["result"] = pick(rng, &["ok", "ok", "ok", "failed", "unknown", "not_run"]).into();
                if event["result"] == "ok" && !chance(rng, 5) {
                    event["answer"] = args(rng);
                }
            }
            "confirm" => {
                event["id"] = recent(rng).into();
                event["yes"] = chance(rng, 80).into();
            }
            "cancel" => event["id"] = recent(rng).into(),
            "turn_end" => (event["session"], event["turn"]) = (session.into(), turn.into()),
            "session_end" => event["session"] = session.into(),
            "reload" => event["policy"] = rng.usize(..policies.len()).into(),
            _ => {}
        }
        trace.push(event);
    }
    trace.push(json!({ "ev": "tick", "t": t + 10_000 }));
    json!({ "policies": policies, "trace": trace, "mode": if observes { "facts" } else { "live" } })
}

/// What both engines say, if they differ.
fn differ(case: &Value) -> Option<String> {
    against(case, &naive::run(case))
}

fn against(case: &Value, theirs: &naive::Result) -> Option<String> {
    let ours = omen_order::trace::run(case, &table).unwrap();
    let ours = naive::Result { verdicts: ours.verdicts, waits: ours.waits, times: ours.times, findings: ours.findings };
    (ours != *theirs).then(|| format!("engine: {ours:?}\nnaive:  {theirs:?}"))
}

/// The smallest trace that still differs.
fn shrunk(mut case: Value) -> Value {
    loop {
        let before = case.to_string().len();
        let mut index = 0;
        while index < case["trace"].as_array().unwrap().len() {
            let mut smaller = case.clone();
            smaller["trace"].as_array_mut().unwrap().remove(index);
            if differ(&smaller).is_some() { case = smaller } else { index += 1 }
        }
        for policy in 0..case["policies"].as_array().unwrap().len() {
            for tool in TOOLS {
                let mut rule = 0;
                while rule < case["policies"][policy]["tools"][tool]["rules"].as_array().unwrap().len() {
                    let mut smaller = case.clone();
                    smaller["policies"][policy]["tools"][tool]["rules"].as_array_mut().unwrap().remove(rule);
                    if differ(&smaller).is_some() { case = smaller } else { rule += 1 }
                }
            }
        }
        if case.to_string().len() == before {
            return case;
        }
    }
}

fn compare(seed: u64, said: &mut BTreeMap<String, u64>) {
    let case = case(seed);
    let theirs = naive::run(&case);
    if against(&case, &theirs).is_some() {
        let case = shrunk(case);
        panic!("seed {seed}: {case}\n{}", differ(&case).unwrap());
    }
    for verdict in theirs.verdicts.into_values() {
        *said.entry(verdict).or_default() += 1;
    }
}

/// Number of cases: more with `OMEN_PROOFS=full`.
pub(crate) fn count(few: u64, full: u64) -> u64 {
    Proofs::wanted().choose(few, full)
}

/// `OMEN_TEST_TRACES` says how many traces, and `OMEN_TEST_SEED` which is the first.
#[test]
fn both_engines_decide_alike() {
    let wanted = std::env::var("OMEN_TEST_TRACES").ok().and_then(|count| count.parse().ok());
    let first = std::env::var("OMEN_TEST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
    let tried: u64 = wanted.unwrap_or(count(3_000, 100_000));
    let mut said = BTreeMap::new();
    for seed in first..first + tried {
        compare(seed, &mut said);
    }
    println!("{tried} traces: {said:?}");
    for verdict in ["allow", "cancelled", "undecidable", "O-1", "O-2", "O-3", "O-5", "O-6"] {
        assert!(said.get(verdict).is_some_and(|count| count * 1000 > tried), "hardly any {verdict}: {said:?}");
    }
}
