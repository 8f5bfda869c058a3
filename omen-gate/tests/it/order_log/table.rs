//! What a log decides, by how it records arguments and by kind of rule. Section of the documentation: "Order rules and logs".

use omen_gate::audit::store::Memory;
use serde_json::json;

use super::{Recording, Rules, judged, logged, word};
use crate::support::{clock, secs};

/// Ways to record arguments.
const MODES: [&str; 3] = ["full", "redacted", "hash"];

/// Rule that says nothing of the calls, but has the log say which session each is of.
const ANY: &str = "max = { calls = 1000, within = '24h' }";

/// Judges the last one of the calls `get pool`, `set pool 5`, `set pool 7` by a new rule for `set`, and returns the verdict for
/// each way to record.
async fn verdicts(in_force: Rules<'_>, set: &str, has_key: bool) -> Vec<String> {
    let mut verdicts = Vec::new();
    for audit in MODES {
        let (memory, clock) = (Memory::default(), clock());
        let gate = Recording::start(&Rules { audit, ..in_force }.text().await, &memory, &clock);
        for (number, (tool, args)) in [
            ("get", json!({ "key": "pool" })),
            ("set", json!({ "key": "pool", "value": 5 })),
            ("set", json!({ "key": "pool", "value": 7 })),
        ]
        .into_iter()
        .enumerate()
        {
            gate.call("s", &format!("t{number}"), tool, args).await.unwrap();
            clock.advance(secs(60));
        }
        let text = Rules { get: "", set, audit: "" }.text().await;
        let (found, _) = judged(&text, &logged(&memory), has_key);
        assert_eq!(found.len(), 3);
        verdicts.push(word(found.last().and_then(|(.., finding)| finding.as_ref())).to_owned());
    }
    verdicts
}

const UNDECIDED: &str = "undecidable";

#[tokio::test]
async fn rules_in_force_are_decided() {
    for (rule, verdict) in [
        ("after = [{ tool = 'get', same = ['/key'], answer = { '/structuredContent/value' = { min = 1 } } }]", "allow"),
        ("after = [{ tool = 'get', same = ['/key'], where = { '/key' = { equals = 'pool' } } }]", "allow"),
        ("max = { sum = { '/value' = 12 }, within = '1h' }", "allow"),
    ] {
        let in_force = Rules { set: rule, ..Rules::default() };
        for has_key in [true, false] {
            assert_eq!(verdicts(in_force, rule, has_key).await, [verdict; 3], "{rule}");
        }
    }
}

#[tokio::test]
async fn new_rules_by_name_are_decided() {
    let in_force = Rules { set: ANY, ..Rules::default() };
    for (rule, verdict) in [
        ("after = ['get']", "allow"),
        ("after = [{ tool = 'get', was = 'failed' }]", "O-1"),
        ("after = [{ tool = 'get', within = '3min' }]", "allow"),
        ("after = [{ tool = 'get', within = '2min' }]", "O-1"),
        ("after = [{ tool = 'get', times = 2 }]", "O-1"),
        ("after = [{ tool = 'get', until = ['set'] }]", "O-1"),
        ("never_after = ['get']", "O-2"),
        ("never_after = [{ tool = 'get', until = ['set'] }]", "allow"),
        ("max = { calls = 1, within = '1h' }", "O-3"),
    ] {
        assert_eq!(verdicts(in_force, rule, false).await, [verdict; 3], "{rule}");
    }
}

#[tokio::test]
async fn new_rules_on_numbers_need_arguments() {
    let in_force = Rules { set: ANY, ..Rules::default() };
    for (rule, verdict) in [
        ("after = [{ tool = 'set', where = { '/value' = { max = 5 } } }]", "allow"),
        ("after = [{ tool = 'set', where = { '/value' = { min = 6 } } }]", "O-1"),
        ("never_after = [{ tool = 'set', where = { '/more' = { absent = true } } }]", "O-2"),
        ("never_after = [{ tool = 'get', if = { '/value' = { min = 7 } } }]", "O-2"),
        ("never_after = [{ tool = 'get', if = { '/value' = { min = 8 } } }]", "allow"),
    ] {
        assert_eq!(verdicts(in_force, rule, true).await, [verdict, verdict, UNDECIDED], "{rule}");
    }
}

#[tokio::test]
async fn new_rules_on_texts_need_texts() {
    let seen = "where = { '/key' = { matches = '[a-z]+' } }\n";
    let with = format!("{seen}{ANY}");
    for (rule, verdict) in [
        ("after = [{ tool = 'get', where = { '/key' = { equals = 'pool' } } }]", "allow"),
        ("after = [{ tool = 'get', where = { '/key' = { equals = 'other' } } }]", "O-1"),
        ("never_after = [{ tool = 'get', if = { '/key' = { equals = 'pool' } } }]", "O-2"),
        ("after = [{ tool = 'get', same = ['/key'] }]", "allow"),
        ("never_after = [{ tool = 'get', same = ['/key'] }]", "O-2"),
    ] {
        let hidden = Rules { set: ANY, ..Rules::default() };
        assert_eq!(verdicts(hidden, rule, true).await, [verdict, UNDECIDED, UNDECIDED], "{rule}");
        // Texts that a rule of the tool is about are not hidden.
        let shown = Rules { get: seen, set: &with, ..Rules::default() };
        assert_eq!(verdicts(shown, rule, true).await, [verdict, verdict, UNDECIDED], "{rule}");
    }
    // Keys of arguments cannot be made without the key of the log.
    let rule = "after = [{ tool = 'get', same = ['/key'] }]";
    let hidden = Rules { set: ANY, ..Rules::default() };
    assert_eq!(verdicts(hidden, rule, false).await, [UNDECIDED; 3]);
}

#[tokio::test]
async fn secrets_are_not_decided() {
    let in_force = Rules { set: ANY, audit: "full", ..Rules::default() };
    let (memory, clock) = (Memory::default(), clock());
    let gate = Recording::start(&in_force.text().await, &memory, &clock);
    let secret = "AKIAABCDEFGHIJKLMNOP";
    gate.call("s", "t0", "get", json!({ "key": secret })).await.unwrap();
    gate.call("s", "t1", "set", json!({ "key": secret, "value": 1 })).await.unwrap();
    let rule = "after = [{ tool = 'get', same = ['/key'] }]";
    let (found, _) = judged(&Rules { set: rule, ..Rules::default() }.text().await, &logged(&memory), true);
    assert_eq!(word(found[1].2.as_ref()), UNDECIDED);
}

#[tokio::test]
async fn new_sums_need_arguments() {
    let in_force = Rules { set: ANY, ..Rules::default() };
    for (limit, verdict) in [(12, "allow"), (11, "O-3")] {
        let rule = format!("max = {{ sum = {{ '/value' = {limit} }}, within = '1h' }}");
        assert_eq!(verdicts(in_force, &rule, true).await, [verdict, verdict, UNDECIDED], "{rule}");
    }
}

#[tokio::test]
async fn new_rules_on_answers_are_not_decided() {
    let in_force = Rules { set: ANY, ..Rules::default() };
    for rule in [
        "after = [{ tool = 'get', answer = { '/structuredContent/value' = { min = 1 } } }]",
        "after = [{ tool = 'get', same = [{ arg = '/key', answer = '/structuredContent/key' }] }]",
    ] {
        assert_eq!(verdicts(in_force, rule, true).await, [UNDECIDED; 3], "{rule}");
    }
}

#[tokio::test]
async fn what_is_known_anyway_is_decided() {
    let in_force = Rules { set: ANY, ..Rules::default() };
    for (rule, verdict) in [
        // There was no such call at all.
        ("after = [{ tool = 'get', within = '1min', where = { '/key' = { equals = 'x' } } }]", "O-1"),
        // Another rule refuses for certain.
        ("after = [{ tool = 'get', where = { '/key' = { equals = 'x' } } }]\nnever_after = ['get']", "O-2"),
        ("after = [{ any = [{ tool = 'get', where = { '/key' = { equals = 'x' } } }, { tool = 'set' }] }]", "allow"),
    ] {
        assert_eq!(verdicts(in_force, rule, true).await[2], verdict, "{rule}");
    }
}

/// A log from a time without order rules does not say which session a call is of.
#[tokio::test]
async fn without_a_rule_in_force_sessions_are_not_known() {
    for (rule, verdict) in [
        ("after = ['get']", UNDECIDED),
        ("after = [{ tool = 'get', per = 'all', within = '1h' }]", "allow"),
        ("never_after = [{ tool = 'get', per = 'all', within = '1h' }]", "O-2"),
        ("max = { calls = 1, within = '1h' }", "O-3"),
    ] {
        assert_eq!(verdicts(Rules::default(), rule, true).await, [verdict; 3], "{rule}");
    }
}
