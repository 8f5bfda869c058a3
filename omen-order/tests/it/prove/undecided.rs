//! Questions that are not decided, each with its reason.

use super::*;

/// Reason why the question about `s/d` is not decided, with the path of the rule.
fn undecided(old: &Value, new: &Value, universe: &[Option<Value>]) -> (String, String) {
    let comparison = compared(old, new, universe, 300);
    let [outside] = comparison.outside.as_slice() else { panic!("{old}\n{new}\n{comparison:?}") };
    (outside.path.clone(), outside.why.clone())
}

#[test]
fn limits_that_differ_and_are_too_large_are_named() {
    let sum = |at: &str, limit: u64| {
        guarded(
            &json!({ "kind": "max", "sum": { "at": at, "limit": limit }, "premise": { "tools": ["s/d"], "within_ms": 5 } }),
        )
    };
    let elements = "different sums over elements of an array are not compared";
    assert_eq!(undecided(&sum("/k/*", 1), &sum("/k/*", 2), &[None]).1, elements);
    let many = |calls: u64| {
        guarded(&json!({ "kind": "max", "calls": calls, "premise": { "tools": ["s/d"], "per": "session" } }))
    };
    assert_eq!(undecided(&many(65), &many(66), &[None]).1, "a limit of 65 calls exceeds 64");
    // A limit that is smaller allows nothing new, however large it is.
    for (old, new) in [(many(66), many(65)), (sum("/k/*", 2), sum("/k/*", 1)), (sum("/k", 2000), sum("/k", 1000))] {
        let comparison = compared(&old, &new, &[Some(json!(1))], 300);
        assert!(comparison.outside.is_empty() && comparison.differences.is_empty(), "{comparison:?}");
    }
    assert_eq!(
        undecided(&sum("/k", 1000), &sum("/k", 2000), &[Some(json!(1))]).1,
        "a sum of 2000 can take more than 64 calls to reach"
    );
}

/// A limit that both sides have is left out of the search, and refuses calls that the new rules count.
#[test]
fn refusals_by_rules_that_are_left_out_are_not_searched() {
    for limit in [
        json!({ "kind": "max", "calls": 65, "premise": { "tools": ["s/a"], "per": "session" } }),
        json!({ "kind": "max", "sum": { "at": "/k", "limit": 1 }, "premise": { "tools": ["s/a"], "per": "session" } }),
    ] {
        let policy = |premise: Value| {
            let mut policy = guarded(&json!({ "kind": "after", "any": [premise] }));
            policy["tools"]["s/a"]["rules"] = json!([limit]);
            policy
        };
        let never = policy(json!({ "tools": ["s/a"], "was": "failed", "where": { "/k": { "equals": "never" } } }));
        for premise in [
            json!({ "tools": ["s/a"], "was": "refused" }),
            json!({ "tools": ["s/a"], "was": "asked" }),
            json!({ "tools": ["s/b"], "until": { "tools": ["s/a"], "was": "refused" } }),
        ] {
            assert_eq!(
                undecided(&never, &policy(premise.clone()), &[Some(json!("x"))]).1,
                "it counts refused calls, and a rule that may refuse some of them is too large to search",
                "{limit} {premise}"
            );
        }
        // Without refusals that count, the limit changes nothing.
        let made = compared(&never, &policy(json!({ "tools": ["s/a"], "was": "made" })), &[Some(json!("x"))], 300);
        assert!(made.outside.is_empty() && made.differences[0].has_left_out, "{made:?}");
    }
}

#[test]
fn calls_that_are_too_many_together_are_not_searched() {
    let universe = [Some(json!("x")), Some(json!("y"))];
    let pairs = |member: &str, count: usize| {
        let pairs = ["/a", "/b", "/c", "/d", "/e", "/f", "/g", "/h"];
        json!(pairs[..count].iter().map(|at| json!({ "arg": at, member: at })).collect::<Vec<_>>())
    };
    let policy = |was: &str| {
        let any = [
            json!({ "tools": ["s/a"], "was": was, "same": pairs("earlier", 8) }),
            json!({ "tools": ["s/a"], "same": pairs("answer", 7) }),
        ];
        guarded(&json!({ "kind": "after", "any": any }))
    };
    // 256 arguments, each with 128 answers: neither alone is too many.
    assert_eq!(
        undecided(&policy("failed"), &policy("made"), &universe).1,
        "its rules distinguish too many calls: more than 20000"
    );
}

#[test]
fn states_that_are_remembered_are_bounded() {
    let policy = |was: &str| {
        let any = json!([{ "tools": ["s/a"], "was": was }, { "tools": ["s/b"], "was": "failed" }]);
        guarded(&json!({ "kind": "after", "any": any }))
    };
    let bounded = |max_states| compared(&policy("failed"), &policy("ok"), &[None], max_states);
    // The second moment shows a difference, and the first one leads to several states.
    assert_eq!(bounded(2).outside[0].why, "too large to search: more than 2 states");
    let comparison = bounded(20);
    assert_eq!((comparison.differences.len(), comparison.states), (1, 2));
}
