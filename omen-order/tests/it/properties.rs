//! What holds for every run: calls that wait end, limits hold, memory is bounded, and a restart changes nothing.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use fastrand::Rng;
use omen_order::rules::{Premise, Rule, RuleKind, Test, ToolPolicy, Was};
use omen_order::{
    Ask, CallId, Ended, Engine, Fit, Mode, Now, Output, Policy, RuleSet, Secret, Tool, ValueTest, Verdict,
};
use serde_json::{Value, json};

use crate::random::{case, count};
use crate::tests_of_values::table;
use crate::worked::policy;

fn engine(policy: &Policy) -> Engine {
    Engine::new(RuleSet::new(policy), Secret::new(&[1; 32]), Mode::Enforce, at(0))
}

fn at(ms: i64) -> Now {
    Now { mono: ms, wall: ms }
}

fn ask(engine: &mut Engine, ms: i64, tool: &str, session: &str, args: Value) -> CallId {
    let tool = Tool::new("s", tool);
    let (session, turn, args) = (session.to_owned(), "t".to_owned(), Some(Arc::new(args)));
    engine.ask(at(ms), Ask { tool, session, turn, args, must_confirm: false, is_refused: false })
}

fn entries(tools: &[(&str, &str)]) -> Policy {
    let entry = |(tool, keys): &(&str, &str)| format!("[[allow]]\nserver = \"s\"\ntool = \"{tool}\"\n{keys}\n");
    policy(&tools.iter().map(entry).collect::<String>()).unwrap()
}

/// Test that counts how often it is asked, as one that queries the file system would be.
#[derive(Debug, Default)]
struct Counted(AtomicUsize);

impl ValueTest for Counted {
    fn judge(&self, _: &Value) -> Fit {
        self.0.fetch_add(1, Ordering::Relaxed);
        Fit::Yes
    }

    fn content(&self) -> String {
        "counted".to_owned()
    }

    fn may_block(&self) -> bool {
        true
    }
}

#[test]
fn what_was_read_beside_the_engine_is_not_read_while_it_judges() {
    let (test, get, set) = (Arc::new(Counted::default()), Tool::new("s", "get"), Tool::new("s", "set"));
    let both: [Test; 2] = [test.clone(), test.clone()];
    let [args, answer] = both.map(Some);
    let premise = Premise { args, answer, ..Premise::new(vec![get.clone()], Was::Ok) };
    let rule = Rule { kind: RuleKind::After(vec![premise]), condition: None, path: String::new() };
    let tools = [(get.clone(), vec![]), (set.clone(), vec![rule])];
    let tools = tools.map(|(tool, rules)| (tool, ToolPolicy { may_confirm: false, rules }));
    let mut engine = engine(&Policy { tools: tools.into(), ..Policy::default() });
    let reader = engine.reader();
    assert_eq!((reader.may_block(&get), reader.may_block(&set)), (true, false));
    let value = Arc::new(json!({}));
    let asked = Ask {
        tool: get.clone(),
        session: "a".to_owned(),
        turn: "t".to_owned(),
        args: Some(Arc::clone(&value)),
        must_confirm: false,
        is_refused: false,
    };
    let args = reader.args(&get, Some(&value));
    let answer = reader.answer(&get, Some(&value));
    let read = test.0.load(Ordering::Relaxed);
    assert_eq!(read, 2);
    let id = engine.ask_read(at(0), asked, args);
    engine.end_read(at(1), id, Ended::Ok, Some(answer));
    let after = ask(&mut engine, 2, "set", "a", json!({}));
    assert_eq!(test.0.load(Ordering::Relaxed), read);
    assert!(matches!(verdicts(&mut engine)[&after], Verdict::Allow { .. }));
}

#[test]
fn what_waits_is_not_read_while_the_rules_change() {
    let (test, get, set) = (Arc::new(Counted::default()), Tool::new("s", "get"), Tool::new("s", "set"));
    let policy = |args: Option<Test>| {
        let premise = Premise { args: args.clone(), ..Premise::new(vec![get.clone()], Was::Ok) };
        let rule = Rule { kind: RuleKind::After(vec![premise]), condition: args, path: String::new() };
        let tools = [(get.clone(), vec![]), (set.clone(), vec![rule])];
        let tools = tools.map(|(tool, rules)| (tool, ToolPolicy { may_confirm: false, rules }));
        Policy { tools: tools.into(), ..Policy::default() }
    };
    let mut engine = engine(&policy(None));
    let waits = ask(&mut engine, 0, "set", "s", json!({}));
    let rules = Arc::new(RuleSet::new(&policy(Some(test.clone()))));
    let reader = engine.reader_by(&rules);
    let read: Vec<_> = engine.unmade().collect();
    let readings = read.into_iter().map(|(id, tool, args)| (id, reader.args(&tool, args.as_deref()))).collect();
    // One that comes in between is not read, so the condition of the rule cannot be decided for it.
    let late = ask(&mut engine, 1, "set", "s", json!({}));
    let count = test.0.load(Ordering::Relaxed);
    assert_eq!(count, 1);
    engine.reload_read(at(2), rules, readings);
    assert_eq!(test.0.load(Ordering::Relaxed), count);
    engine.tick(at(200));
    let said = verdicts(&mut engine);
    let codes = [waits, late].map(|id| match &said[&id] {
        Verdict::Refuse(refusal) => refusal.code.as_str(),
        other => panic!("{other:?}"),
    });
    assert_eq!(codes, ["O-1", "O-6"]);
}

fn verdicts(engine: &mut Engine) -> BTreeMap<CallId, Verdict> {
    let verdicts = engine.outputs().filter_map(|output| match output {
        Output::Verdict(id, verdict) => Some((id, verdict)),
        _ => None,
    });
    verdicts.collect()
}

#[test]
fn of_a_hundred_calls_at_once_none_that_depends_is_refused() {
    let rules = entries(&[("build", ""), ("test", r#"after = [{ tool = "build", same = ["/k"] }]"#)]);
    let mut engine = engine(&rules);
    let mut rng = Rng::with_seed(5);
    let mut wanted: Vec<_> = (0..30).flat_map(|k| [("build", k), ("test", k)]).collect();
    rng.shuffle(&mut wanted);
    let mut asked = BTreeMap::new();
    for (index, (tool, k)) in wanted.into_iter().enumerate() {
        let id = ask(&mut engine, i64::try_from(index).unwrap(), tool, "s", json!({ "k": k }));
        asked.insert(id, tool);
    }
    let mut said = verdicts(&mut engine);
    engine.tick(at(200));
    let builds = asked.iter().filter(|(_, tool)| **tool == "build");
    for (id, _) in builds {
        engine.end(at(5000), *id, Ended::Ok, None);
    }
    said.extend(verdicts(&mut engine));
    assert!(asked.keys().all(|id| matches!(said.get(id), Some(Verdict::Allow { .. }))), "{said:?}");
}

#[test]
fn whatever_waits_has_a_verdict_in_the_end() {
    for seed in 0..count(1_000, 100_000) {
        let mut case = case(seed);
        // After the last event, no call ends.
        let last = case["trace"].as_array().unwrap().last().unwrap()["t"].as_i64().unwrap();
        for step in 1..8 {
            case["trace"].as_array_mut().unwrap().push(json!({ "ev": "tick", "t": last + step * 1000 }));
        }
        let report = omen_order::trace::run(&case, &table).unwrap();
        let restarts = case["trace"].as_array().unwrap().iter().any(|event| event["ev"] == "restart");
        let open = report.waits.iter().filter(|id| !report.verdicts.contains_key(*id));
        let asks = |id: &str| {
            case["trace"].as_array().unwrap().iter().any(|event| event["id"] == id && event["tool"] == "t/d")
        };
        // A call that waited may be the one that a human is asked about now.
        assert!(restarts || open.clone().all(|id| asks(id)), "seed {seed}: {:?}", open.collect::<Vec<_>>());
    }
}

#[test]
fn a_limit_is_never_exceeded() {
    let rules = entries(&[(
        "pay",
        r#"max = [{ calls = 3, within = "1min", same = ["/to"] }, { sum = { "/n" = 100 }, within = "1min" }]"#,
    )]);
    for seed in 0..count(300, 3_000) {
        let (mut engine, mut rng) = (engine(&rules), Rng::with_seed(seed));
        let (mut made, mut t) = (Vec::<(i64, u64, i64, CallId)>::new(), 0);
        for _ in 0..60 {
            t += rng.i64(0..20_000);
            let (to, n) = (rng.u64(0..3), rng.i64(0..60));
            let session = if rng.bool() { "p" } else { "q" };
            let id = ask(&mut engine, t, "pay", session, json!({ "to": to, "n": n }));
            if matches!(verdicts(&mut engine).get(&id), Some(Verdict::Allow { .. })) {
                made.push((t, to, n, id));
            }
            let recent = || made.iter().filter(|(at, ..)| t - at < 60_000);
            assert!(recent().map(|(_, _, n, _)| n).sum::<i64>() <= 100, "seed {seed}");
            assert!((0..3).all(|to| recent().filter(|(_, other, ..)| *other == to).count() <= 3), "seed {seed}");
            // What did not run gives its room back.
            if rng.u32(..4) == 0
                && let Some((.., id)) = made.pop()
            {
                engine.end(at(t), id, Ended::DidNotRun, None);
            }
        }
        assert!(made.len() > 3, "seed {seed}");
    }
}

#[test]
fn beyond_the_bounds_a_ban_refuses_and_a_premise_forgets() {
    let rules = entries(&[
        ("open", ""),
        ("next", r#"after = [{ tool = "open", same = ["/k"] }]"#),
        ("send", r#"never_after = [{ tool = "send", same = ["/k"] }]"#),
    ]);
    let mut engine = engine(&rules);
    for k in 0..10_001 {
        let id = ask(&mut engine, k, "open", "s", json!({ "k": k }));
        engine.end(at(k), id, Ended::Ok, None);
        let id = ask(&mut engine, k, "send", "s", json!({ "k": k }));
        engine.end(at(k), id, Ended::Ok, None);
    }
    let said = verdicts(&mut engine);
    let refused: Vec<_> = said.values().filter(|verdict| matches!(verdict, Verdict::Refuse(_))).collect();
    let [Verdict::Refuse(refusal)] = refused[..] else { panic!("{refused:?}") };
    assert_eq!(refusal.code.as_str(), "O-6");
    assert_eq!(refusal.text().message, "the order rules cannot remember any more calls of `s/send`");
    let first = ask(&mut engine, 20_000, "next", "s", json!({ "k": 0 }));
    let last = ask(&mut engine, 20_000, "next", "s", json!({ "k": 10_000 }));
    engine.tick(at(21_000));
    let said = verdicts(&mut engine);
    assert!(matches!(said[&first], Verdict::Refuse(_)) && matches!(said[&last], Verdict::Allow { .. }), "{said:?}");
}

#[test]
fn rules_that_are_replaced_are_freed() {
    let mut rules = entries(&[("a", ""), ("b", r#"never_after = [{ tool = "a", until = ["b"] }]"#)]);
    let test = table(&json!({ "/k": { "equals": 1 } })).unwrap();
    let premise = match &mut rules.tools.get_mut(&Tool::new("s", "b")).unwrap().rules[0].kind {
        RuleKind::NeverAfter(premise) => premise,
        other => panic!("{other:?}"),
    };
    premise.args = Some(Arc::clone(&test));
    let mut engine = engine(&rules);
    ask(&mut engine, 0, "a", "s", json!({ "k": 1 }));
    for ms in 0..100 {
        engine.reload(at(ms), RuleSet::new(&rules));
    }
    drop(rules);
    assert_eq!(Arc::strong_count(&test), 2, "the rules in force have one");
    drop(engine);
    assert_eq!(Arc::strong_count(&test), 1);
}

/// A call is held against the matchers that name its tool, whatever the number of others.
#[test]
fn rules_on_other_tools_are_not_read_for_a_call() {
    let reads = |others: usize| {
        let (own, foreign) = (Arc::new(Counted::default()), Arc::new(Counted::default()));
        let after = |tool: &Tool, test: &Arc<Counted>| {
            let args: Test = test.clone();
            let premise = Premise { args: Some(args), ..Premise::new(vec![tool.clone()], Was::Ok) };
            Rule { kind: RuleKind::After(vec![premise]), condition: None, path: String::new() }
        };
        let plain = |rules| ToolPolicy { may_confirm: false, rules };
        let (login, read, logout) = (Tool::new("s", "login"), Tool::new("s", "read"), Tool::new("s", "logout"));
        let mut tools = vec![
            (login.clone(), plain(vec![])),
            (logout.clone(), plain(vec![])),
            (read, plain(vec![after(&login, &own)])),
        ];
        for index in 0..others {
            tools.push((Tool::new("s", &format!("tool{index}")), plain(vec![after(&logout, &foreign)])));
        }
        let mut engine = engine(&Policy { tools: tools.into_iter().collect(), ..Policy::default() });
        for tool in ["login", "read"] {
            let id = ask(&mut engine, 0, tool, "s", json!({}));
            assert!(matches!(verdicts(&mut engine)[&id], Verdict::Allow { .. }), "{tool}");
            engine.end(at(0), id, Ended::Ok, None);
        }
        (own.0.load(Ordering::Relaxed), foreign.0.load(Ordering::Relaxed))
    };
    assert_eq!(reads(1), reads(1000));
    assert_eq!(reads(1000), (1, 0));
}

#[test]
fn a_restart_between_calls_changes_nothing() {
    let mut compared = 0;
    for seed in 0..count(300, 20_000) {
        let case = case(seed);
        if case["mode"] == "facts" {
            continue;
        }
        // One call after the other, each ended before the next.
        let (mut trace, mut restarted) = (Vec::new(), Vec::new());
        for event in case["trace"].as_array().unwrap() {
            let mut event = event.clone();
            event.as_object_mut().unwrap().remove("w");
            let mut events = match event["ev"].as_str().unwrap() {
                "restart" | "confirm" | "cancel" | "end" => continue,
                "ask" => {
                    let results = ["ok", "ok", "failed", "unknown", "not_run"];
                    let mut rng = Rng::with_seed(seed + u64::try_from(trace.len()).unwrap());
                    let (t, id) = (event["t"].clone(), event["id"].clone());
                    let confirm = json!({ "ev": "confirm", "t": t, "id": id, "yes": true });
                    let result = results[rng.usize(..results.len())];
                    let mut end = json!({ "ev": "end", "t": t, "id": id, "result": result });
                    if result == "ok" {
                        end["answer"] = event["args"].clone();
                    }
                    vec![event.clone(), confirm, end]
                }
                _ => vec![event.clone()],
            };
            trace.extend(events.iter().cloned());
            events.push(json!({ "ev": "restart", "t": event["t"] }));
            restarted.extend(events);
        }
        let run = |trace: Vec<Value>| {
            let mut case = case.clone();
            for policy in case["policies"].as_array_mut().unwrap() {
                policy["gather_ms"] = 0.into();
            }
            case["trace"] = trace.into();
            let report = omen_order::trace::run(&case, &table).unwrap();
            (report.verdicts, report.findings)
        };
        let (without, with) = (run(trace), run(restarted));
        assert_eq!(without, with, "seed {seed}");
        compared += without.0.len();
    }
    assert!(compared > 1_000, "{compared}");
}
