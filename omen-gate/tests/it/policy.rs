//! PG-0: the policy on queries.

use omen_gate::{BadPolicy, GateCode, Policy};

#[track_caller]
fn refused(policy: &Policy, query: &str, message: &str) {
    let blocked = policy.screen(query).unwrap_err();
    assert_eq!((blocked.code, blocked.message.as_str()), (GateCode::Pg0, message));
    assert!(!blocked.help.is_empty());
}

#[test]
fn a_query_that_matches_is_halted_with_the_reason() {
    let policy = Policy::new([
        (r"(?i)\bmake (a )?bomb\b", "weapons"),
        (r"(?i)explosives?", "weapons"),
        (r"\b\d{16}\b", "card numbers"),
    ])
    .unwrap();
    policy.screen("what is the time?").unwrap();
    policy.screen("").unwrap();
    refused(&policy, "how do I MAKE A BOMB at home", "the policy does not allow this query: weapons");
    // A pattern matches anywhere, across lines too, and a reason is reported once.
    refused(
        &policy,
        "hello\nexplosive 4111111111111111 make bomb",
        "the policy does not allow this query: weapons; card numbers",
    );
}

#[test]
fn the_message_does_not_repeat_the_query() {
    let policy = Policy::new([("secret", "secrets")]).unwrap();
    let blocked = policy.screen("my secret is hunter2").unwrap_err();
    assert!(!format!("{blocked:?}").contains("hunter2"));
}

#[test]
fn case_counts_unless_the_pattern_says_otherwise() {
    let policy = Policy::new([("bomb", "weapons")]).unwrap();
    policy.screen("BOMB").unwrap();
    refused(&policy, "bomb", "the policy does not allow this query: weapons");
}

#[test]
fn a_query_has_a_largest_size() {
    let policy = Policy::new::<&str, &str>([]).unwrap();
    policy.screen(&"a".repeat(Policy::MAX_QUERY)).unwrap();
    refused(&policy, &"a".repeat(Policy::MAX_QUERY + 1), "the query exceeds 65536 bytes (65537 bytes)");
}

#[test]
fn a_policy_is_taken_as_a_whole_or_not_at_all() {
    let bad = |second: (&'static str, &'static str)| Policy::new([("fine", "fine"), second]).unwrap_err();
    assert!(matches!(bad(("(", "x")), BadPolicy::Pattern { index: 1, .. }));
    assert!(matches!(bad(("(?:a{1000}){1000}", "x")), BadPolicy::Pattern { index: 1, .. }));
    assert_eq!(bad(("x*", "x")), BadPolicy::All { index: 1 });
    assert_eq!(bad(("", "x")), BadPolicy::All { index: 1 });
    assert_eq!(bad(("x", " \n")), BadPolicy::NoReason { index: 1 });
    let many = (0..=Policy::MAX_PATTERNS).map(|i| (format!("x{i}"), "many"));
    assert!(matches!(Policy::new(many), Err(BadPolicy::Whole { .. })));
}

/// With a backtracking engine this would not end.
#[test]
fn no_pattern_takes_long() {
    let policy = Policy::new([("(a+)+b", "slow")]).unwrap();
    policy.screen(&"a".repeat(Policy::MAX_QUERY)).unwrap();
}
