//! `omen check --order`, and what `omen audit` and `omen gate replay` say of order between calls.

use std::sync::Arc;

use omen_gate::audit::{Audit, Key, Kind, Options, Record};
use omen_gate::{SystemClock, TurnId};
use serde_json::json;

use super::*;
use crate::formats::valid;

const TOOLS: [&str; 5] = ["run_tests", "write_file", "deploy", "finish", "close"];

/// Returns a configuration with order rules for `deploy` and `finish`.
fn policy(deploy: &str, finish: &str) -> String {
    let entry = |tool: &&str| {
        let rules = match *tool {
            "deploy" => deploy,
            "finish" => finish,
            _ => "",
        };
        let pin = "0".repeat(64);
        format!(
            "[[allow]]\nserver = 'ci'\ntool = '{tool}'\npermissions = ['READ']\npin = 'v1:{pin}'\n{rules}\n\
             [[grants]]\nserver = 'ci'\ntool = '{tool}'\npermissions = ['READ']\n"
        )
    };
    let entries: String = TOOLS.iter().map(entry).collect();
    format!("[audit]\nlog = 'audit.jsonl'\nkey_file = 'audit.key'\n[servers.ci]\n{entries}")
}

const DEPLOY: &str =
    "after = [{ tool = 'run_tests', same = ['/commit'], until = ['write_file'] }]\nbefore_end = ['close']";
const FINISH: &str = "never_after = ['deploy']";

/// Log of a gate that had other order rules.
struct Recording {
    folder: TempDir,
    audit: Audit,
    arrival: u64,
}

impl Recording {
    fn new(policy: &str) -> Self {
        let folder = folder(&[("gate.toml", policy.as_bytes())]);
        drop(Key::create(folder.path().join("audit.key")).unwrap());
        let key = Key::from_file(folder.path().join("audit.key")).unwrap();
        let clock = Arc::new(SystemClock::default());
        let audit = Audit::open(folder.path().join("audit.jsonl"), key, clock, Options::default()).unwrap();
        Self { folder, audit, arrival: 0 }
    }

    fn append(&self, kind: Kind, turn: &str, data: &Value) {
        let turn = TurnId::new(turn).unwrap();
        let _ = self.audit.append(Record::new(kind, &turn, data.as_object().unwrap().clone())).unwrap();
    }

    /// Records a call that succeeds, in two entries.
    fn call(&mut self, session: &str, tool: &str, args: &Value) -> &mut Self {
        self.arrival += 1;
        let (turn, arrival) = (format!("turn-{}", self.arrival), self.arrival);
        let names = json!({ "server": "ci", "tool": tool });
        let pin = format!("v1:{}", "0".repeat(64));
        let order = json!({ "event": "made", "tool": names, "session": session, "turn": turn, "arrival": arrival,
                            "waited_ms": if arrival == 2 { 4100 } else { 0 }, "for": if arrival == 2 { vec![2] } else { vec![] } });
        let intent = json!({ "tool": names, "args": args, "pin": pin, "call": "00", "order": order });
        self.append(Kind::Intent, &turn, &intent);
        let order = json!({ "event": "ended", "end": "ok", "arrival": arrival });
        let outcome = json!({ "call": "00", "class": null, "ran": "yes", "order": order });
        self.append(Kind::Outcome, &turn, &outcome);
        self
    }

    /// Records a refusal, in two entries.
    fn refused(&mut self, session: &str, tool: &str, args: &Value) -> &mut Self {
        self.arrival += 1;
        let (turn, names) = (format!("turn-{}", self.arrival), json!({ "server": "ci", "tool": tool }));
        let pin = format!("v1:{}", "0".repeat(64));
        let decision =
            json!({ "tool": names, "args": args, "pin": pin, "outcome": "denied", "code": "O-1", "why": "not yet" });
        self.append(Kind::Decision, &turn, &decision);
        let order =
            json!({ "event": "refused", "tool": names, "session": session, "turn": turn, "arrival": self.arrival });
        self.append(Kind::Turn, &turn, &json!({ "outcome": "refused", "order": order }));
        self
    }

    fn session_ended(&mut self, session: &str) -> &mut Self {
        self.session_ended_as(session, "closed")
    }

    /// Entry for the end of a session, as a gate writes it.
    fn session_ended_as(&mut self, session: &str, how: &str) -> &mut Self {
        let order = json!({ "event": "session_ended", "session": session });
        self.append(Kind::Turn, session, &json!({ "outcome": "session_ended", "how": how, "order": order }));
        self
    }

    fn omen(&self, args: &[&str]) -> Run {
        run(omen(args.iter().copied()).current_dir(self.folder.path()))
    }

    fn check(&self, more: &[&str]) -> Run {
        self.omen(&[&["check", "--order", "gate.toml", "--key-file", "audit.key", "audit.jsonl"], more].concat())
    }
}

/// Log in which a deployment is not covered by tests, and another call follows from it.
fn broken() -> Recording {
    let mut log = Recording::new(&policy(DEPLOY, FINISH));
    let commit = json!({ "commit": "a1" });
    log.call("s", "run_tests", &commit).call("s", "write_file", &json!({})).call("s", "deploy", &commit);
    log.call("s", "finish", &json!({}));
    log
}

#[test]
fn a_broken_rule_is_a_finding_with_its_place_its_premise_and_its_root() {
    let log = broken();
    let run = log.check(&["--format", "json"]);
    let (findings, summary) = json(&run);
    assert_eq!((run.code, findings.len()), (1, 2), "{}{}", run.stdout, run.stderr);
    let [deploy, finish] = findings.as_slice() else { panic!("{findings:?}") };
    // Entry 1 opens the log.
    assert_eq!((&deploy["code"], &deploy["line"], &deploy["entry"]), (&json!("O-1"), &json!(6), &json!(6)));
    assert_eq!((&deploy["rule"], &deploy["severity"]), (&json!("allow[2].after[0]"), &json!("error")));
    assert!(deploy["message"].as_str().unwrap().contains("but `ci/write_file` was called after it began"), "{deploy}");
    let related: Vec<_> =
        deploy["related"].as_array().unwrap().iter().map(|related| (&related["entry"], &related["message"])).collect();
    let nearest = json!("comes closest to the premise, but does not count");
    assert_eq!(related, [(&json!(3), &nearest), (&json!(5), &json!("cancels the premise"))]);
    assert_eq!(deploy["follows_from"], Value::Null);
    assert_eq!((&finish["code"], &finish["line"]), (&json!("O-2"), &json!(8)));
    assert_eq!((&finish["follows_from"]["line"], &finish["follows_from"]["entry"]), (&json!(6), &json!(6)));
    assert_eq!((&summary["calls"], &summary["accepted"], &summary["rejected"]), (&json!(4), &json!(2), &json!(2)));
    assert_eq!((&summary["errors"], &summary["consequences"]), (&json!(2), &json!(1)));
    assert_eq!(run.stderr, "omen: note: 1 session has not ended, with open obligations; `--ended` reports them\n");
}

#[test]
fn people_see_the_entry() {
    let run = broken().check(&["--all"]);
    assert!(run.stdout.starts_with("error[O-1]: `ci/deploy` needs `ci/run_tests`"), "{}", run.stdout);
    for part in [
        "--> audit.jsonl:6:",
        "entry 6 · rule allow[2].after[0]",
        "\"tool\":",
        "entry 5 cancels the premise",
        "follows from entry 6",
        "4 calls: 2 allowed, 2 not; 2 errors, 0 warnings (1 follows from another)",
    ] {
        assert!(run.stdout.contains(part), "{part}\n{}", run.stdout);
    }
    let folded = broken().check(&[]);
    assert!(!folded.stdout.contains("O-2") && folded.stdout.contains("1 more finding follows"), "{}", folded.stdout);
}

#[test]
fn sessions_that_end_owe_nothing_or_it_is_reported() {
    let mut log = broken();
    let owed = |run: &Run| {
        let (findings, _) = json(run);
        let owed: Vec<_> = findings.into_iter().filter(|finding| finding["code"] == "O-4").collect();
        owed.iter().map(|finding| (finding["line"].clone(), finding["related"].clone())).collect::<Vec<_>>()
    };
    assert_eq!(owed(&log.check(&["--format", "json", "--ended"])), [(json!(6), json!([]))]);
    log.session_ended("s");
    let run = log.check(&["--format", "json"]);
    let [(line, related)] = owed(&run).try_into().unwrap();
    assert_eq!(
        (line, &related[0]["entry"], &related[0]["message"]),
        (json!(6), &json!(10), &json!("ends the session or turn"))
    );
    assert_eq!(run.stderr, "");
    // A settled debt is none.
    let mut log = Recording::new(&policy("before_end = ['close']", ""));
    log.call("s", "deploy", &json!({})).call("s", "close", &json!({})).session_ended("s");
    assert_eq!((log.check(&["--ended"]).code, log.check(&[]).code), (0, 0));
}

#[test]
fn every_format_is_valid_and_has_the_codes() {
    let log = broken();
    for format in ["human", "concise", "json", "sarif", "junit", "github", "gitlab", "markdown"] {
        let run = log.check(&["--format", format]);
        assert_eq!(run.code, 1, "{format}: {}", run.stderr);
        valid::any(format, &run.stdout);
        assert!(run.stdout.contains("O-1"), "{format}: {}", run.stdout);
    }
    let sarif: Value = serde_json::from_str(&log.check(&["--format", "sarif"]).stdout).unwrap();
    let run = &sarif["runs"][0];
    for result in run["results"].as_array().unwrap() {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(run["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
    }
    let lines = |result: &Value| {
        let related = result["relatedLocations"].as_array().unwrap();
        related.iter().map(|place| place["physicalLocation"]["region"]["startLine"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(lines(&run["results"][0]), [json!(3), json!(5)]);
    // The root cause comes first.
    assert_eq!(lines(&run["results"][1])[0], json!(6));
    let statistics = log.check(&["--statistics"]);
    assert!(statistics.stdout.contains("O-1") && !statistics.stdout.contains("PACKET TYPE"), "{}", statistics.stdout);
}

#[test]
fn what_cannot_be_decided_is_a_warning() {
    let mut log =
        Recording::new(&policy("after = [{ tool = 'run_tests', answer = { '/isError' = { equals = false } } }]", ""));
    log.call("s", "run_tests", &json!({})).call("s", "deploy", &json!({}));
    let run = log.check(&["--format", "json"]);
    let (findings, summary) = json(&run);
    assert_eq!((run.code, findings.len(), &summary["rejected"]), (0, 1, &json!(0)), "{}", run.stdout);
    let finding = &findings[0];
    assert_eq!((&finding["code"], &finding["severity"]), (&json!("O-6"), &json!("warning")));
    assert_eq!((&finding["undecidable"], &finding["related"][0]["entry"]), (&json!(true), &json!(3)));
    assert_eq!(
        finding["message"],
        "cannot decide whether `ci/deploy` may be called: it depends on data of entry 3 that the log does not record"
    );
    assert_eq!((log.check(&["--strict"]).code, log.check(&["--strict", "--exit-zero"]).code), (1, 0));
}

#[test]
fn the_key_verifies_the_log_and_compares_members() {
    let log = broken();
    let without = log.omen(&["check", "--order", "gate.toml", "audit.jsonl", "--format", "json"]);
    let (findings, _) = json(&without);
    assert_eq!(findings[0]["undecidable"], json!(true), "{findings:?}");
    assert!(without.stderr.contains("note: the logs were not verified, and more can be decided with the key"));
    // A changed entry is found with the key.
    let path = log.folder.path().join("audit.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    drop(log.audit);
    fs::write(&path, text.replacen("run_tests", "run_texts", 1)).unwrap();
    let run = run(omen(["check", "--order", "gate.toml", "--key-file", "audit.key", "audit.jsonl"])
        .current_dir(log.folder.path()));
    assert_eq!(run.code, 3, "{}", run.stderr);
    assert!(run.stderr.contains("cannot read audit.jsonl: the log is tampered"), "{}", run.stderr);
}

#[test]
fn mistakes_are_errors_with_help() {
    let log = broken();
    for (args, code, text) in [
        (vec!["check", "--ended", "audit.jsonl"], 2, "--order"),
        (vec!["check", "--order", "gate.toml"], 2, "`--order` reads audit logs from files; pass one"),
        (vec!["check", "--order", "gate.toml", "--follow", "audit.jsonl"], 2, "cannot be used with"),
        (vec!["check", "--order", "gate.toml", "-D", "warnings", "audit.jsonl"], 2, "use `--strict`"),
        (vec!["check", "--order", "none.toml", "audit.jsonl"], 3, "none.toml"),
        (vec!["check", "--order", "gate.toml", "none.jsonl"], 3, "cannot read none.jsonl"),
        (vec!["check", "--order", "gate.toml", "gate.toml"], 3, "line 1 is not an entry of an audit log"),
        (vec!["check", "--order", "gate.toml", "--key-file", "none", "audit.jsonl"], 3, "cannot use the key"),
    ] {
        let run = log.omen(&args);
        assert_eq!(run.code, code, "{args:?}: {}", run.stderr);
        assert!(run.stderr.contains(text), "{args:?}: {}", run.stderr);
    }
    let bad = json!({ "tool": { "server": "ci", "tool": "deploy" }, "order": { "event": "made" } });
    log.append(Kind::Intent, "turn", &bad);
    let run = log.check(&[]);
    assert_eq!(run.code, 3);
    assert!(run.stderr.contains("invalid member `order` in entry 10"), "{}", run.stderr);
}

#[test]
fn replay_judges_order_under_both_configurations() {
    let mut log = Recording::new(&policy("", ""));
    let commit = json!({ "commit": "a1" });
    log.call("s", "run_tests", &commit).refused("s", "deploy", &json!({ "commit": "b2" })).call(
        "s",
        "write_file",
        &json!({}),
    );
    log.call("s", "deploy", &commit).call("t", "deploy", &commit);
    write(log.folder.path(), "new.toml", policy(DEPLOY, "").as_bytes());
    let args = ["gate", "replay", "--old", "gate.toml", "--new", "new.toml", "--key-file", "audit.key", "audit.jsonl"];
    let run = log.omen(&[&args[..], &["--format", "json", "--fail-on", "allow-to-deny"]].concat());
    assert_eq!(run.code, 1, "{}", run.stderr);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    let changes: Vec<_> = report["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| (change["number"].as_u64().unwrap(), change["new"]["code"].as_str().unwrap_or("-").to_owned()))
        .collect();
    // The refused one, and those that no tests cover.
    let codes = |numbers: [u64; 3]| numbers.map(|number| (number, "O-1".to_owned()));
    assert_eq!(changes, codes([4, 8, 10]), "{report}");
    assert_eq!((&report["allow_to_deny"], &report["later"]), (&json!(3), &json!(3)));
    assert!(
        run.stderr.contains("note: 3 calls come after the first one that only one policy allows"),
        "{}",
        run.stderr
    );
    // Answers are not in a log.
    let answer = "after = [{ tool = 'run_tests', answer = { '/isError' = { equals = false } } }]";
    write(log.folder.path(), "new.toml", policy(answer, "").as_bytes());
    let run = log.omen(&args);
    let title = "ALLOW→UNDECIDABLE  ci/deploy: 2 calls cannot be decided";
    assert!(run.stdout.contains(title), "{}", run.stdout);
    let why =
        "new: undecidable: `allow[2].after[0]`: cannot decide whether `ci/deploy` may be called: it depends on data";
    assert!(run.stdout.contains(why), "{}", run.stdout);
    assert!(run.stdout.contains("2 undecidable"), "{}", run.stdout);
}

#[test]
fn audit_shows_and_counts_order() {
    let mut log = broken();
    log.session_ended("s").call("t", "close", &json!({}));
    log.call("u", "close", &json!({})).session_ended_as("u", "lost");
    let found = json!({ "code": "O-4", "rule": "allow[2].before_end[0]", "why": "it owes `ci/close`", "outcome": "owed",
                        "order": { "event": "found", "opener": 3, "rule": "00" } });
    log.append(Kind::Turn, "start", &found);
    let audit = |args: &[&str]| log.omen(&[&["audit"], args, &["--key-file", "audit.key", "audit.jsonl"]].concat());
    let shown = audit(&["show"]).stdout;
    assert!(shown.contains("; waited 4 s; for 2") && shown.contains("owed O-4: it owes `ci/close`"), "{shown}");
    assert_eq!(audit(&["show", "--code", "O-4"]).stdout.lines().count(), 1);
    let stats: Value = serde_json::from_str(&audit(&["stats", "--format", "json"]).stdout).unwrap();
    let counts = json!({ "waited": 1, "longest_wait_ms": 4100, "dependent": 1, "owed": 1, "sessions_begun": 3,
                         "sessions_ended": { "closed": 1, "lost": 1 } });
    assert_eq!(stats["order"], counts);
    let human = audit(&["stats"]).stdout;
    for row in
        ["calls that waited", "debts that were not settled (O-4)", "sessions closed", "sessions lost", "sessions open"]
    {
        assert!(human.contains(row), "{row}\n{human}");
    }
    let report = log.omen(&["report", "--audit", "audit.jsonl", "--key-file", "audit.key", "-o", "report.html", "-"]);
    let page = fs::read_to_string(log.folder.path().join("report.html")).unwrap_or_default();
    assert!(
        page.contains("1 depend on earlier ones") && page.contains("3 begun, 1 closed, 1 lost"),
        "{}",
        report.stderr
    );
}
