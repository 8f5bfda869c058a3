//! Rules that are valid and cannot have been meant: each is found, and its neighbour that can be meant is not.

use omen_order::lint;

use crate::worked::policy;

/// Findings in a policy with the tools `a`, `b`, `c` and `d` of `s`.
fn findings(a: &str, b: &str, d: &str) -> Vec<String> {
    let mut text = String::new();
    for (tool, keys) in [("a", a), ("b", b), ("c", ""), ("d", d)] {
        text.push_str(&format!("[[allow]]\nserver = \"s\"\ntool = \"{tool}\"\n{keys}\n"));
    }
    let findings = lint(&policy(&text).unwrap()).into_iter();
    findings.map(|found| format!("{} {}: {}", found.is_error, found.path, found.message)).collect()
}

#[test]
fn a_tool_that_waits_for_itself_is_dead() {
    assert_eq!(
        findings(r#"after = ["b"]"#, r#"after = ["a"]"#, r#"after = ["a"]"#),
        [
            "true allow[0].after[0]: `s/a` can never be called: `s/a` after `s/b` after `s/a`",
            "true allow[1].after[0]: `s/b` can never be called: `s/b` after `s/a` after `s/b`",
            "true allow[3].after[0]: `s/d` can never be called: `s/d` after `s/a` after `s/b` after `s/a`",
        ]
    );
    for (a, b) in [
        (r#"after = ["b"]"#, r#"after = [{ any = ["a", "c"] }]"#),
        (r#"after = ["b"]"#, r#"after = [{ tool = "a", was = "refused" }]"#),
        (r#"after = ["b"]"#, r#"after = [{ tool = "a", if = { "/k" = { equals = 1 } } }]"#),
    ] {
        assert!(findings(a, b, r#"after = ["a"]"#).is_empty(), "{b}");
    }
}

#[test]
fn rules_that_contradict_each_other_are_found() {
    for (d, message) in [
        (
            "after = ['a']\nnever_after = ['a']",
            "allow[3].never_after[0]: `s/d` can never be called: `allow[3].never_after[0]` forbids the calls that \
             `allow[3].after[0]` needs",
        ),
        (
            "after = [{ tool = 'a', only = [] }, { tool = 'b', per = 'turn', only = [] }, { tool = 'c', only = [] }]",
            "allow[3].after[2]: `s/d` can never be called: it has to come directly after both `s/a` and `s/c`",
        ),
        (
            "after = [{ tool = 'a', only = [] }, { tool = 'b', only = [] }]",
            "allow[3].after[1]: `s/d` can never be called: it has to come directly after both `s/a` and `s/b`",
        ),
    ] {
        assert_eq!(findings("", "", d), [format!("true {message}")], "{d}");
    }
    for d in [
        "after = ['a']\nnever_after = [{ tool = 'a', until = ['b'] }]",
        "after = ['a']\nnever_after = [{ tool = 'a', was = 'failed' }]",
        "after = ['a']\nnever_after = [{ tool = 'a', times = 2 }]",
        "after = ['a']\nnever_after = [{ tool = 'a', same = ['/k'] }]",
        "after = ['a']\nnever_after = [{ tool = 'a', within = '1h' }]",
        "after = [{ tool = 'a', only = [] }, { tool = 'a', only = [] }]",
        "after = [{ tool = 'a', only = [] }, { tool = 'b', only = ['a'] }]",
        "after = [{ tool = 'a', only = [] }, { tool = 'b', was = 'asked', only = [] }]",
        "after = [{ tool = 'a', was = 'refused', only = [] }, { tool = 'b', only = [] }]",
        "after = [{ tool = 'a', only = [] }, { tool = 'b', was = 'failed', only = [] }]",
        "after = [{ tool = 'a', per = 'turn', only = [] }, { tool = 'b', only = [] }]",
    ] {
        assert!(findings("", "", d).is_empty(), "{d}");
    }
}

#[test]
fn more_calls_than_a_limit_allows_are_found() {
    let d = "after = [{ tool = 'a', times = 3 }]";
    assert_eq!(
        findings("max = { calls = 2, per = 'session' }", "", d),
        ["true allow[3].after[0]: `s/d` can never be called: it needs 3 calls of `s/a`, and `allow[0].max` allows 2"]
    );
    assert!(findings("max = { calls = 3, per = 'session' }", "", d).is_empty());
    assert!(findings("max = { calls = 2, per = 'turn' }", "", d).is_empty());
    assert!(findings("max = { calls = 2, per = 'session', within = '1h' }", "", d).is_empty());
}

#[test]
fn a_debt_that_nothing_can_settle_is_found() {
    let d = "before_end = ['b']";
    assert_eq!(
        findings("", "never_after = ['d']", d),
        [
            "true allow[3].before_end[0]: the debt of `s/d` can never be settled: `allow[1].never_after[0]` forbids `s/b` \
             after `s/d`"
        ]
    );
    assert!(findings("", "never_after = [{ tool = 'd', until = ['a'] }]", d).is_empty());
    assert!(findings("", "never_after = ['d']", "before_end = [{ tool = ['a', 'b'] }]").is_empty());
}
