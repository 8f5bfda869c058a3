//! Every statement of the documents has its code, test and example, and all that is named is there.

use std::collections::BTreeMap;

use omen_pages::statements::{Document, Statements, World};

/// How many statements the documents make, as they were counted.
const STATEMENTS: usize = 474;

#[test]
fn every_statement_has_code_test_and_example() {
    let statements = Statements::read().expect("the files of statements");
    let faults = statements.faults(&World::read().expect("what statements refer to"));
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    assert!(statements.count() >= STATEMENTS, "{} of {STATEMENTS} statements", statements.count());
}

/// What is wrong with one statement, but that other codes have none.
fn faults(statement: &str) -> Vec<String> {
    let text = format!(r#"{{"title": "D", "sections": [{{"title": "S", "statements": [{statement}]}}]}}"#);
    let documents = vec![Document::parse(&text).expect("a document")];
    let without = BTreeMap::from([("form".to_owned(), "A form.".to_owned())]);
    let found = Statements::of(documents, without).faults(&World::read().expect("a world"));
    let about_it = found.into_iter().filter(|fault| fault.starts_with("D, S"));
    about_it.map(|fault| fault.rsplit_once("\": ").map_or(fault.clone(), |(_, what)| what.to_owned())).collect()
}

/// A statement that is in order, with one member replaced or added.
fn with(key: &str, value: &str) -> Vec<String> {
    let mut members = BTreeMap::from([
        ("says", r#""A task has a name.""#),
        ("state", r#""met""#),
        ("code", r#"["schema/v0.7/common.schema.json#/$defs/TaskId"]"#),
        ("tests", r#"["pages/tests/it/statements.rs::names_are_looked_up"]"#),
        ("examples", r#"["valid/read-only.jsonl"]"#),
    ]);
    members.insert(key, value);
    let members: Vec<_> = members.iter().map(|(key, value)| format!("\"{key}\": {value}")).collect();
    faults(&format!("{{{}}}", members.join(", ")))
}

#[test]
fn names_are_looked_up() {
    for (key, right) in [
        (
            "code",
            r#"["schema/v0.7/episode.fsm.json#/rules/E1/title", "schema/v0.7/episode.fsm.json#/rows/S0_IDLE:observe"]"#,
        ),
        ("code", r#"["pages/src/statements.rs::Statements::read", "pages/src/statements.rs"]"#),
        ("code", r#"["schema/v0.7/Packet.schema.json#/oneOf/9"]"#),
        ("tests", r#"["omen-gate/tests/ui/pg6_dispatched_twice.rs"]"#),
        ("examples", r#"["examples/read_only.rs"]"#),
        ("decisions", r#"["D1"]"#),
        ("gate", r#""PG-0""#),
    ] {
        assert_eq!(with(key, right), [""; 0], "{key}: {right}");
    }
    for (key, wrong, fault) in [
        ("code", r#"["schema/v0.7/none.json#/a"]"#, "there is no JSON file `schema/v0.7/none.json`"),
        (
            "code",
            r#"["schema/v0.7/episode.fsm.json#/rules/E8"]"#,
            "`/rules/E8` leads nowhere in `schema/v0.7/episode.fsm.json`",
        ),
        (
            "code",
            r#"["schema/v0.7/episode.fsm.json#/rows/S0_IDLE:believe"]"#,
            "`/rows/S0_IDLE:believe` leads nowhere in `schema/v0.7/episode.fsm.json`",
        ),
        ("code", r#"["pages/src/none.rs"]"#, "there is no file `pages/src/none.rs`"),
        ("code", r#"["pages/src/statements.rs::Statements::reed"]"#, "`reed` is not in `pages/src/statements.rs`"),
        (
            "tests",
            r#"["pages/tests/it/statements.rs::faults"]"#,
            "there is no test `faults` in `pages/tests/it/statements.rs`",
        ),
        (
            "tests",
            r#"["pages/tests/it/statements.rs::names"]"#,
            "there is no test `names` in `pages/tests/it/statements.rs`",
        ),
        (
            "tests",
            r#"["omen-gate/tests/ui/pg6_none.rs"]"#,
            "`omen-gate/tests/ui/pg6_none.rs` is not a program that must not compile",
        ),
        ("examples", r#"["valid/none.jsonl"]"#, "there is no example `valid/none.jsonl`"),
        ("examples", r#"["pages/src/lib.rs"]"#, "there is no example `pages/src/lib.rs`"),
        ("decisions", r#"["D0"]"#, "there is no decision D0"),
        ("rules", r#"["INV-099"]"#, "there is no code INV-099"),
        ("gate", r#""PG-9""#, "the gate has no evidence of PG-9"),
        ("without", r#""form""#, "either there are examples, or `without` says why not"),
    ] {
        assert_eq!(with(key, wrong), [fault], "{key}: {wrong}");
    }
}

#[test]
fn a_statement_is_whole() {
    let missing = faults(r#"{"says": "A task has a name.", "state": "met"}"#);
    assert_eq!(
        missing,
        ["no code is named", "no test is named", "either there are examples, or `without` says why not"]
    );
    assert_eq!(with("state", r#""decided""#), ["no decision is named"]);
    assert_eq!(with("state", r#""not_checkable""#), ["no reason is given"]);
    assert_eq!(with("says", r#""Name""#), ["a statement is a sentence"]);
    // A log that breaks another rule shows nothing of this one.
    let other = r#"["E1"], "examples": ["invalid/inv-002-subpar-act.jsonl"]"#;
    assert!(
        faults(&format!(
            r#"{{"says": "A decision needs beliefs.", "state": "met", "code": ["pages/src/lib.rs"],
            "tests": ["pages/tests/it/statements.rs::a_statement_is_whole"], "rules": {other}}}"#
        ))
        .contains(&"no example has a finding of E1".to_owned())
    );
    assert!(Document::parse(r#"{"title": "D", "sections": [], "more": 1}"#).is_err());
}

#[test]
fn statements_and_codes_are_neither_repeated_nor_left_out() {
    let one =
        r#"{"says": "A task has a name.", "state": "not_checkable", "reason": "It is a name.", "without": "other"}"#;
    let text = format!(r#"{{"title": "D", "sections": [{{"title": "S", "statements": [{one}, {one}]}}]}}"#);
    let without = BTreeMap::from([("form".to_owned(), "A form.".to_owned())]);
    let statements = Statements::of(vec![Document::parse(&text).expect("a document")], without);
    let world = World::read().expect("a world");
    let faults = statements.faults(&world);
    let has = |text: &str| faults.iter().any(|fault| fault.ends_with(text));
    assert_eq!(statements.count(), 2);
    assert!(has("\"A task has a name.\" stands there twice"), "{faults:?}");
    assert!(has("there is no kind `other` of statements without an example"), "{faults:?}");
    assert!(has("no statement is of the kind `form`"), "{faults:?}");
    assert!(world.codes.iter().all(|code| has(&format!("no statement is about {code}"))), "{faults:?}");
}
