//! Every statement of the documents has its code, test and example, and everything that it names exists.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use omen_pages::statements::{Document, Statements, World};

/// Reading the schema files takes a second, so all tests share one.
static WORLD: LazyLock<World> = LazyLock::new(|| World::read().expect("what statements refer to"));

/// The number of statements in the documents, as counted by hand.
const STATEMENTS: usize = 474;

#[test]
fn every_statement_has_code_test_and_example() {
    let statements = Statements::read().expect("the files of statements");
    let faults = statements.faults(&WORLD);
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    assert!(statements.count() >= STATEMENTS, "{} of {STATEMENTS} statements", statements.count());
}

/// The faults of one statement, without those of codes that no statement names.
fn faults(statement: &str) -> Vec<String> {
    let text = format!(r#"{{"title": "D", "sections": [{{"title": "S", "statements": [{statement}]}}]}}"#);
    let documents = vec![Document::parse(&text).expect("a document")];
    let without = BTreeMap::from([("form".to_owned(), "A form.".to_owned())]);
    let found = Statements::new(documents, without).faults(&WORLD);
    let about_it = found.into_iter().filter(|fault| fault.starts_with("D, S"));
    about_it.map(|fault| fault.rsplit_once("\": ").map_or(fault.clone(), |(_, what)| what.to_owned())).collect()
}

/// A valid statement, with one member replaced or added.
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
        ("tests", r#"["compile-tests/tests/ui/pg6_dispatched_twice.rs"]"#),
        ("examples", r#"["examples/read_only.rs"]"#),
        ("decisions", r#"["D1"]"#),
        ("gate", r#""PG-0""#),
    ] {
        assert_eq!(with(key, right), [""; 0], "{key}: {right}");
    }
    for (key, wrong, fault) in [
        ("code", r#"["schema/v0.7/none.json#/a"]"#, "no JSON file `schema/v0.7/none.json`"),
        (
            "code",
            r#"["schema/v0.7/episode.fsm.json#/rules/E8"]"#,
            "`/rules/E8` is not in `schema/v0.7/episode.fsm.json`",
        ),
        (
            "code",
            r#"["schema/v0.7/episode.fsm.json#/rows/S0_IDLE:believe"]"#,
            "`/rows/S0_IDLE:believe` is not in `schema/v0.7/episode.fsm.json`",
        ),
        ("code", r#"["pages/src/none.rs"]"#, "no file `pages/src/none.rs`"),
        ("code", r#"["pages/src/statements.rs::Statements::reed"]"#, "`reed` is not in `pages/src/statements.rs`"),
        ("tests", r#"["pages/tests/it/statements.rs::faults"]"#, "no test `faults` in `pages/tests/it/statements.rs`"),
        ("tests", r#"["pages/tests/it/statements.rs::names"]"#, "no test `names` in `pages/tests/it/statements.rs`"),
        (
            "tests",
            r#"["compile-tests/tests/ui/pg6_none.rs"]"#,
            "`compile-tests/tests/ui/pg6_none.rs` is not a compile-fail case",
        ),
        ("examples", r#"["valid/none.jsonl"]"#, "no example `valid/none.jsonl`"),
        ("examples", r#"["pages/src/lib.rs"]"#, "no example `pages/src/lib.rs`"),
        ("decisions", r#"["D0"]"#, "unknown decision D0"),
        ("rules", r#"["INV-099"]"#, "unknown code INV-099"),
        ("gate", r#""PG-9""#, "the gate has no evidence for PG-9"),
        ("without", r#""form""#, "expected either `examples` or `without`"),
    ] {
        assert_eq!(with(key, wrong), [fault], "{key}: {wrong}");
    }
}

#[test]
fn a_statement_is_complete() {
    let missing = faults(r#"{"says": "A task has a name.", "state": "met"}"#);
    assert_eq!(missing, ["missing `code`", "missing `tests`", "expected either `examples` or `without`"]);
    assert_eq!(with("state", r#""decided""#), ["missing `decisions`"]);
    assert_eq!(with("state", r#""not_checkable""#), ["missing `reason`"]);
    assert_eq!(with("says", r#""Name""#), ["`says` is not a sentence with a full stop"]);
    // A log that breaks another rule does not show this one.
    let other = r#"["E1"], "examples": ["invalid/inv-002-subpar-act.jsonl"]"#;
    assert!(
        faults(&format!(
            r#"{{"says": "A decision needs beliefs.", "state": "met", "code": ["pages/src/lib.rs"],
            "tests": ["pages/tests/it/statements.rs::a_statement_is_complete"], "rules": {other}}}"#
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
    let statements = Statements::new(vec![Document::parse(&text).expect("a document")], without);
    let faults = statements.faults(&WORLD);
    let has = |text: &str| faults.iter().any(|fault| fault.ends_with(text));
    assert_eq!(statements.count(), 2);
    assert!(has("\"A task has a name.\" is repeated"), "{faults:?}");
    assert!(has("unknown kind `other` in `without`"), "{faults:?}");
    assert!(has("no statement has the kind `form`"), "{faults:?}");
    assert!(WORLD.codes.iter().all(|code| has(&format!("no statement names the code {code}"))), "{faults:?}");
}
