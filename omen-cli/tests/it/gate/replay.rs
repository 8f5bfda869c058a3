//! `omen gate replay`: compares two policies on the calls of a log, or on plans.

use std::sync::Arc;

use omen_gate::audit::{Audit, Key, Kind, Options, Record};
use omen_gate::{SystemClock, TurnId};

use super::*;

/// Returns a configuration in which the tool `read_file` may be called with these paths.
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

/// Returns the log of a gate with the old policy that has a call of each path, one of them without its arguments.
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
    let time = |part: &&str| !part.starts_with("20");
    let shown: Vec<_> =
        run.stdout.lines().map(|line| line.split("  ").filter(time).collect::<Vec<_>>().join("  ")).collect();
    let broken = |values: &str| {
        format!(
            "PG-3: `/path` of `files/read_file` breaks the operator's rule `in = {values}`: it is not an allowed value"
        )
    };
    assert_eq!(
        shown,
        [
            "ALLOW→DENY  files/read_file: 1 call would be refused".to_owned(),
            "  old: allow".to_owned(),
            format!("  new: {}", broken(r#"["b","c"]"#)),
            r#"    2  turn_0  {"path":"a"}"#.to_owned(),
            "DENY→ALLOW  files/read_file: 1 call would be made".to_owned(),
            format!("  old: {}", broken(r#"["a","b"]"#)),
            "  new: allow".to_owned(),
            r#"    4  turn_2  {"path":"c"}"#.to_owned(),
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
    // Comparing a policy with itself gives no difference.
    write(folder.path(), "new.toml", policy(OLD).as_bytes());
    let same = replay(&folder, &LOG);
    assert_eq!((same.code, same.stdout.lines().count()), (0, 3));
    // An invalid log is refused.
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
    let examples: Vec<_> = run.stdout.lines().filter(|line| line.starts_with("    ")).collect();
    assert_eq!(examples, [r#"    1  {"path":"a"}"#, r#"    5  {"path":"c"}"#]);
    // Plans have no time.
    let since = replay(&folder, &["--since", "2h", "plans.jsonl"]);
    assert!(since.code == 2 && since.stderr.contains("plans have no time"), "{}", since.stderr);
    // A missing file, and a log without its key.
    let missing = replay(&folder, &["no.jsonl"]);
    assert_eq!(missing.code, 3);
    let log = recorded();
    let run = replay(&log, &["audit.jsonl"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("this is an audit log; pass its key"), "{}", run.stderr);
}

/// A hundred refusals for one reason are printed once.
#[test]
fn differences_of_one_kind_are_printed_together() {
    let plans = ["a"; 5].map(|path| plan("read_file", json!({ "path": path }))).join("\n");
    let confirmed = format!("always_confirm = true\n{OLD}");
    let folder = folder(&[
        ("old.toml", policy(&confirmed).as_bytes()),
        ("new.toml", policy(NEW).as_bytes()),
        ("catalog.json", json!({ "files": tools() }).to_string().as_bytes()),
        ("plans.jsonl", plans.as_bytes()),
    ]);
    let run = replay(&folder, &["--catalog", "catalog.json", "plans.jsonl"]);
    let lines: Vec<_> = run.stdout.lines().collect();
    assert_eq!(
        lines[0],
        "CONFIRM→DENY  files/read_file: 5 calls would be refused without asking anybody to confirm it"
    );
    assert_eq!(lines[1], "  old: allow once somebody has confirmed it");
    assert_eq!(
        lines[3..7].join("|"),
        r#"    1  {"path":"a"}|    2  {"path":"a"}|    3  {"path":"a"}|    and 2 more; `--format json` lists each"#
    );
    assert!(lines[7].starts_with("5 calls: 0 DENY→ALLOW, 5 ALLOW→DENY, "), "{}", lines[7]);
    let json = replay(&folder, &["--format", "json", "--catalog", "catalog.json", "plans.jsonl"]);
    let found: Value = serde_json::from_str(&json.stdout).unwrap();
    let changes = found["changes"].as_array().unwrap();
    assert_eq!((changes.len(), &changes[4]["args"]), (5, &json!({ "path": "a" })));
    assert_eq!((&changes[4]["change"], &changes[4]["old"]["verdict"]), (&json!("allow_to_deny"), &json!("confirm")));
}

#[test]
fn a_time_limits_what_is_replayed() {
    let folder = recorded();
    for (times, calls) in [
        (&["--since", "1h"][..], 4),
        (&["--until", "1h"], 0),
        (&["--since", "2026-01-01T00:00:00Z", "--until", "9999-01-01"], 4),
        (&["--since", "9999-01-01"], 0),
    ] {
        let run = replay(&folder, &[times, &LOG[..]].concat());
        assert!(run.stdout.contains(&format!("{calls} calls: ")), "{times:?}: {}", run.stdout);
    }
}

/// A relative path in a rule means another folder in a copy elsewhere.
#[test]
fn configurations_of_different_folders_are_noted() {
    let folder = recorded();
    fs::create_dir(folder.path().join("copy")).unwrap();
    fs::copy(folder.path().join("new.toml"), folder.path().join("copy/new.toml")).unwrap();
    let args = ["replay", "--old", "old.toml", "--new", "copy/new.toml"];
    let run = gate(&folder, &[&args, &LOG[..]].concat());
    let here = folder.path().canonicalize().unwrap();
    let note = format!(
        "omen: note: the configurations are in different folders, `{}` and `{}`: relative paths in their rules start there, so they are judged differently\n",
        here.display(),
        here.join("copy").display()
    );
    assert_eq!((run.code, run.stderr), (1, note));
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
