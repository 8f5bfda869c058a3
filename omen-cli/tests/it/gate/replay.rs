//! `omen gate replay`: what two policies say of the calls of a log, or of plans.

use std::sync::Arc;

use omen_gate::audit::{Audit, Key, Kind, Options, Record};
use omen_gate::{SystemClock, TurnId};

use super::*;

/// A configuration in which the tool `read_file` may be called with these paths.
fn policy(rules: &str) -> String {
    format!(
        "[audit]\nlog = 'audit.jsonl'\nkey_file = 'audit.key'\n[servers.files]\n[[allow]]\nserver = 'files'\n\
         tool = 'read_file'\npermissions = ['READ']\npin = '{}'\n{rules}\n[[grants]]\nserver = 'files'\ntool = 'read_file'\n\
         permissions = ['READ']\n",
        pin_of("read_file")
    )
}

const OLD: &str = "where = { '/path' = { in = ['a', 'b'] } }";
const NEW: &str = "where = { '/path' = { in = ['b', 'c'] } }";

/// A log with a call of each path, as a gate with the old policy leaves it; and one whose arguments are not there.
fn recorded() -> TempDir {
    let folder = folder(&[("old.toml", policy(OLD).as_bytes()), ("new.toml", policy(NEW).as_bytes())]);
    drop(Key::create(folder.path().join("audit.key")).unwrap());
    let key = Key::from_file(folder.path().join("audit.key")).unwrap();
    let clock = Arc::new(SystemClock::default());
    let audit = Audit::open(folder.path().join("audit.jsonl"), key, clock, Options::default()).unwrap();
    let tool = json!({ "server": "files", "tool": "read_file" });
    for (number, path) in ["a", "b", "c", "-"].iter().enumerate() {
        let turn = TurnId::new(format!("turn_{number}")).unwrap();
        let mut data = json!({ "tool": tool, "pin": pin_of("read_file"), "args": { "path": path }, "call": "00" });
        let kind = match *path {
            "c" => {
                data["outcome"] = json!("denied");
                data["code"] = json!("PG-3");
                Kind::Decision
            }
            "-" => {
                drop(data.as_object_mut().unwrap().remove("args"));
                Kind::Intent
            }
            _ => Kind::Intent,
        };
        let Value::Object(data) = data else { panic!("an object") };
        let _ = audit.append(Record::new(kind, &turn, data)).unwrap();
    }
    folder
}

fn replay(folder: &TempDir, more: &[&str]) -> Run {
    let args = ["replay", "--old", "old.toml", "--new", "new.toml"];
    gate(folder, &[&args, more].concat())
}

const LOG: [&str; 3] = ["--key-file", "audit.key", "audit.jsonl"];

fn hash(rules: &str) -> String {
    omen_gate::Config::parse(&policy(rules)).unwrap().hash().to_string()
}

#[test]
fn each_difference_has_its_reasons() {
    let folder = recorded();
    let run = replay(&folder, &LOG);
    assert_eq!((run.code, run.stderr.as_str()), (1, ""));
    // The times are those of the log.
    let shown: Vec<_> = run
        .stdout
        .lines()
        .map(|line| line.split("  ").filter(|part| !part.starts_with("20")).collect::<Vec<_>>().join("  "))
        .collect();
    let broken = |values: &str| {
        format!("PG-3: `/path` of `files/read_file` breaks the operator's rule `in = {values}`: it is none of them")
    };
    assert_eq!(
        shown,
        [
            "ALLOW→DENY  2  turn_0  files/read_file".to_owned(),
            "  old: allow".to_owned(),
            format!("  new: {}", broken(r#"["b","c"]"#)),
            "DENY→ALLOW  4  turn_2  files/read_file".to_owned(),
            format!("  old: {}", broken(r#"["a","b"]"#)),
            "  new: allow".to_owned(),
            "4 calls: 1 DENY→ALLOW, 1 ALLOW→DENY, 0 without a confirmation, 0 with one, 1 unchanged, 1 undecidable"
                .to_owned(),
            format!("old policy {}", hash(OLD)),
            format!("new policy {}", hash(NEW)),
        ]
    );
}

#[test]
fn the_exit_code_is_for_what_is_asked() {
    let folder = recorded();
    for (fail_on, code) in [
        ("deny-to-allow", 1),
        ("allow-to-deny", 1),
        ("undecidable", 1),
        ("unconfirmed", 0),
        ("never", 0),
        ("unconfirmed,undecidable", 1),
    ] {
        assert_eq!(replay(&folder, &[&["--fail-on", fail_on], &LOG[..]].concat()).code, code, "{fail_on}");
    }
    // A policy beside itself changes nothing.
    write(folder.path(), "new.toml", policy(OLD).as_bytes());
    let same = replay(&folder, &LOG);
    assert_eq!((same.code, same.stdout.lines().count()), (0, 3));
    // A log that is not sound proves nothing.
    let path = folder.path().join("audit.jsonl");
    let text = fs::read_to_string(&path).unwrap().replace("\"path\":\"b\"", "\"path\":\"a\"");
    fs::write(&path, text).unwrap();
    let tampered = replay(&folder, &LOG);
    assert_eq!(tampered.code, 1);
    assert!(tampered.stderr.contains("audit.jsonl is tampered"), "{}", tampered.stderr);
}

#[test]
fn json_is_one_object() {
    let folder = recorded();
    let run = replay(&folder, &[&["--format", "json"], &LOG[..]].concat());
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    let changes = found["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 2);
    assert_eq!((&changes[0]["change"], &changes[0]["number"]), (&json!("allow_to_deny"), &json!(2)));
    assert_eq!((&changes[1]["old"]["verdict"], &changes[1]["old"]["code"]), (&json!("deny"), &json!("PG-3")));
    assert_eq!(changes[1]["new"], json!({ "verdict": "allow", "code": null, "why": null }));
    assert_eq!((&found["calls"], &found["undecidable"], &found["unchanged"]), (&json!(4), &json!(1), &json!(1)));
    assert_eq!((&found["old"], &found["new"]), (&json!(hash(OLD)), &json!(hash(NEW))));
    assert_eq!(found["patterns_differ"], json!(false));
    write(folder.path(), "new.toml", policy(OLD).as_bytes());
    let same = replay(&folder, &[&["--format", "json"], &LOG[..]].concat());
    assert_eq!(serde_json::from_str::<Value>(&same.stdout).unwrap()["changes"], json!([]));
}

#[test]
fn plans_are_replayed_too() {
    let plans = ["a", "b", "c"].map(|path| plan("read_file", json!({ "path": path }))).join("\n\n");
    let catalog = json!({ "files": tools() }).to_string();
    let folder = folder(&[
        ("old.toml", policy(OLD).as_bytes()),
        ("new.toml", policy(NEW).as_bytes()),
        ("catalog.json", catalog.as_bytes()),
        ("plans.jsonl", plans.as_bytes()),
    ]);
    let run = replay(&folder, &["--catalog", "catalog.json", "plans.jsonl"]);
    assert_eq!((run.code, run.stderr.as_str()), (1, ""));
    let changes: Vec<_> = run.stdout.lines().filter(|line| line.contains('→')).collect();
    assert_eq!(changes[..2], ["ALLOW→DENY  1  files/read_file", "DENY→ALLOW  5  files/read_file"]);
    // A file that is missing, and a log without its key.
    let missing = replay(&folder, &["no.jsonl"]);
    assert_eq!(missing.code, 3);
    let log = recorded();
    let run = replay(&log, &["audit.jsonl"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("this is an audit log; name its key"), "{}", run.stderr);
}

#[test]
fn patterns_that_differ_are_noted() {
    let folder = recorded();
    let pattern = "[[policy.patterns]]\npattern = 'drop'\nreason = 'no'\n";
    write(folder.path(), "new.toml", format!("{pattern}{}", policy(OLD)).as_bytes());
    let run = replay(&folder, &LOG);
    assert_eq!(run.code, 0);
    assert!(run.stderr.contains("note: the patterns of queries differ (PG-0)"), "{}", run.stderr);
}
