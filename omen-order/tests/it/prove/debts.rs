//! Debts at the end of a session, compared with brute force.

use super::*;

/// Debt of `s/d`, and rules on the other tools.
fn debt(rng: &mut Rng) -> Value {
    let mut premise = json!({ "tools": some_tools(rng), "per": pick(rng, &["session", "session", "session", "turn"]) });
    if chance(rng, 30) {
        premise["within_ms"] = pick(rng, &[1, 2]).into();
    }
    if chance(rng, 30) {
        premise["same"] = json!([{ "arg": "/k", (if chance(rng, 40) { "answer" } else { "earlier" }): "/k" }]);
    }
    if chance(rng, 25) {
        premise["where"] = demand(rng);
    }
    if chance(rng, 20) {
        premise["answer"] = demand(rng);
    }
    let mut rule = json!({ "kind": "owes", "premise": premise });
    if chance(rng, 25) {
        rule["if"] = demand(rng);
    }
    rule
}

/// Length of the shortest sequence that both allow, after which only the old rules report a debt.
fn brute(old: &Value, new: &Value, moves: &[Call], longest: usize, budget: &mut usize) -> Result<Option<usize>, usize> {
    let (mut a, mut b) = (Runner::new(old), Runner::new(new));
    let mut prefixes: Vec<Vec<Call>> = vec![Vec::new()];
    for length in 1..=longest {
        let mut longer = Vec::new();
        for (prefix, next) in prefixes.iter().flat_map(|prefix| moves.iter().map(move |next| (prefix, next))) {
            *budget = budget.checked_sub(1).ok_or(length - 1)?;
            let mut sequence = prefix.clone();
            sequence.push(next.clone());
            let verdicts = [a.run(0, &sequence), b.run(0, &sequence)];
            let are_allowed = verdicts.iter().all(|verdicts| verdicts.iter().all(|allowed| *allowed));
            if are_allowed && a.owed > 0 && b.owed == 0 {
                return Ok(Some(length));
            }
            if are_allowed {
                longer.push(sequence);
            }
        }
        prefixes = longer;
    }
    Ok(None)
}

#[test]
fn debts_differ_where_brute_force_says_so() {
    let mut found = BTreeMap::<String, u64>::new();
    let wanted = count(150, 400);
    for seed in 0..wanted {
        let mut rng = Rng::with_seed(seed);
        let rng = &mut rng;
        let mut old = guarded(&debt(rng));
        if chance(rng, 30) {
            old["tools"]["s/a"]["rules"] =
                json!([{ "kind": "after", "any": [{ "tools": ["s/b"], "per": "session" }] }]);
        }
        let mut new = old.clone();
        new["tools"]["s/d"]["rules"] = if chance(rng, 20) { json!([]) } else { json!([debt(rng)]) };
        let mut universe = vec![Some(json!("x")), Some(json!("y"))];
        if chance(rng, 30) {
            universe.push(pick(rng, &[None, Some(Value::Null)]));
        }
        let comparison = compared(&old, &new, &universe, 2000);
        let case = || format!("seed {seed}, values {universe:?}\nold {old}\nnew {new}\n{comparison:?}");
        if let Some(outside) = comparison.outside.first() {
            assert!(outside.why.starts_with("too large"), "{}", case());
            *found.entry("too large".to_owned()).or_default() += 1;
            continue;
        }
        let difference = comparison.differences.first();
        let shortest = difference.map(|difference| difference.steps.len());
        if let Some(difference) = difference {
            assert_eq!(difference.ended_session, Some(0), "{}", case());
            let (mut a, mut b) = (Runner::new(&old), Runner::new(&new));
            let calls = calls(difference);
            let verdicts = [a.run(0, &calls), b.run(0, &calls)];
            assert!(verdicts.iter().flatten().all(|allowed| *allowed), "{}", case());
            assert!(a.owed > 0 && b.owed == 0, "{}", case());
        }
        let longest = shortest.map_or(4, |length| length - 1);
        let moves = moves([&old, &new], &universe);
        let brute = brute(&old, &new, &moves, longest, &mut 2000);
        assert!(!matches!(brute, Ok(Some(_))), "{}\nbrute force: {brute:?}", case());
        *found.entry(shortest.map_or("none".to_owned(), |length| length.to_string())).or_default() += 1;
    }
    println!("{found:?}");
    assert!(found["none"] > 0 && found["1"] > 0 && found["2"] > 0, "{found:?}");
    assert!(found.get("too large").is_none_or(|too_large| 10 * too_large < wanted), "{found:?}");
}

#[test]
fn a_deadline_that_is_later_or_gone_is_shown_by_a_late_call() {
    let owes = |more: Value| {
        let mut premise = json!({ "tools": ["s/a"], "per": "session" });
        premise.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        guarded(&json!({ "kind": "owes", "premise": premise }))
    };
    for (old, new, pauses) in [
        (owes(json!({ "within_ms": 5 })), owes(json!({ "within_ms": 6 })), vec![0, 5]),
        (owes(json!({ "within_ms": 5 })), owes(json!({})), vec![0, 5]),
        // Settled in the session, and in another turn.
        (owes(json!({ "per": "turn" })), owes(json!({})), vec![0, 0]),
    ] {
        let comparison = compared(&old, &new, &[None], 300);
        let [difference] = comparison.differences.as_slice() else { panic!("{old}\n{new}\n{comparison:?}") };
        assert_eq!(difference.steps.iter().map(|step| step.pause_ms).collect::<Vec<_>>(), pauses, "{difference:?}");
        let calls = calls(difference);
        let (mut a, mut b) = (Runner::new(&old), Runner::new(&new));
        assert_eq!((a.run(0, &calls), b.run(0, &calls)), (vec![true; 2], vec![true; 2]));
        assert_eq!((a.owed, b.owed), (1, 0), "{difference:?}");
        let back = compared(&new, &old, &[None], 300);
        assert!(back.differences.is_empty() && back.outside.is_empty(), "{back:?}");
    }
}
