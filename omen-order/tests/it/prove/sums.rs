//! Sums, compared with brute force.

use super::*;

fn sum_rule(rng: &mut Rng) -> Value {
    let mut premise =
        json!({ "tools": pick(rng, &[json!(["s/d"]), json!(["s/d"]), json!(["s/a"]), json!(["s/a", "s/d"])]) });
    premise["per"] = pick(rng, &["session", "session", "turn"]).into();
    if chance(rng, 20) {
        premise["was"] = "done".into();
    }
    if chance(rng, 25) {
        premise["within_ms"] = pick(rng, &[1, 2]).into();
    }
    if chance(rng, 20) {
        premise["where"] = json!({ "/k": { "max": rng.i64(0..3) } });
    }
    let mut rule = json!({ "kind": "max", "sum": { "at": "/k", "limit": rng.u64(0..7) }, "premise": premise });
    if chance(rng, 15) {
        rule["if"] = json!({ "/k": { "min": rng.i64(0..3) } });
    }
    rule
}

#[test]
fn sums_differ_where_brute_force_says_so() {
    let mut found = BTreeMap::<String, u64>::new();
    for seed in 0..count(80, 400) {
        let mut rng = Rng::with_seed(seed);
        let rng = &mut rng;
        let mut old = guarded(&sum_rule(rng));
        if chance(rng, 20) {
            old["tools"]["s/a"]["rules"] = json!([sum_rule(rng)]);
        }
        if chance(rng, 20) {
            old["tools"]["s/d"]["where"] = json!({ "/k": { "max": 2 } });
        }
        let mut new = old.clone();
        match rng.u32(..4) {
            0 => new["tools"]["s/d"]["rules"] = json!([]),
            1 => new["tools"]["s/d"]["rules"] = json!([sum_rule(rng)]),
            _ => new["tools"]["s/d"]["rules"][0]["sum"]["limit"] = rng.u64(0..9).into(),
        }
        let mut universe = vec![Some(json!(1)), Some(json!(3))];
        universe.extend(
            [Some(json!(0)), Some(json!(2)), Some(json!(-1)), Some(json!("x")), None]
                .into_iter()
                .filter(|_| chance(rng, 25)),
        );
        let comparison = compared(&old, &new, &universe, 2000);
        let case = || format!("seed {seed}, values {universe:?}\nold {old}\nnew {new}\n{comparison:?}");
        let (mut a, mut b) = (Runner::new(&old), Runner::new(&new));
        // A rule that is left out may refuse a call of the sequence; then the gate says so.
        for difference in &comparison.differences {
            let is_difference = shows(&mut a, &mut b, difference);
            assert!(is_difference || difference.has_left_out, "{}", case());
            *found.entry(if is_difference { "shown" } else { "left out" }.to_owned()).or_default() += 1;
        }
        if let Some(outside) = comparison.outside.first() {
            assert!(outside.why.starts_with("too large"), "{}\n{outside:?}", case());
            *found.entry("too large".to_owned()).or_default() += 1;
            continue;
        }
        let shortest = comparison.differences.iter().map(|difference| difference.steps.len()).min();
        let longest = shortest.map_or(4, |length| length - 1);
        let moves = moves([&old, &new], &universe);
        let brute = brute(&old, &new, &moves, longest, &mut 1500);
        assert!(!matches!(brute, Ok(Some(_))), "{}\nbrute force: {brute:?}", case());
        *found.entry(shortest.map_or("none".to_owned(), |length| length.to_string())).or_default() += 1;
    }
    println!("{found:?}");
    assert!(found["none"] > 0 && found["1"] > 0 && found["2"] > 0 && found["shown"] > 20, "{found:?}");
    assert!(found.get("left out").is_none_or(|left_out| *left_out < 10), "{found:?}");
}
