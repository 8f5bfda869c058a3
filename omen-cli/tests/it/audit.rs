//! `omen audit`: the four verdicts, anchors, and unreadable files.

use std::num::NonZeroU64;
use std::sync::Arc;

use omen_gate::audit::store::head_path;
use omen_gate::audit::{Audit, Key, Kind, Options, Record};
use omen_gate::{SystemClock, TurnId};

use super::*;

/// Returns a folder with `audit.key` and `audit.jsonl`, which has three entries.
fn logged() -> TempDir {
    let folder = folder(&[]);
    drop(Key::create(folder.path().join("audit.key")).unwrap());
    append(&folder, 2);
    folder
}

/// Opens the log, which is an entry, and appends some more.
fn append(folder: &TempDir, entries: u64) {
    let audit = open(folder);
    let turn = TurnId::new("turn_1").unwrap();
    for n in 0..entries {
        let data = [("n".to_owned(), n.into())].into_iter().collect();
        let _ = audit.append(Record::new(Kind::Decision, &turn, data)).unwrap();
    }
}

fn open(folder: &TempDir) -> Audit {
    open_at(folder, "audit.jsonl", Options::default())
}

fn open_at(folder: &TempDir, log: &str, options: Options) -> Audit {
    let key = Key::from_file(folder.path().join("audit.key")).unwrap();
    Audit::open(folder.path().join(log), key, Arc::new(SystemClock::default()), options).unwrap()
}

fn audit(folder: &TempDir, args: &[&str]) -> Run {
    run(omen(["audit"].into_iter().chain(args.iter().copied())).current_dir(folder))
}

/// Verifies the log, and returns the exit code and the JSON object.
#[track_caller]
fn verdict(folder: &TempDir, more: &[&str]) -> (i32, Value) {
    let args = [&["verify", "--format", "json", "--key-file", "audit.key"], more, &["audit.jsonl"]].concat();
    let run = audit(folder, &args);
    assert_eq!((run.stderr.as_str(), run.stdout.lines().count()), ("", 1));
    (run.code, serde_json::from_str(&run.stdout).unwrap())
}

fn change(folder: &TempDir, change: impl FnOnce(&mut Vec<u8>)) {
    let path = folder.path().join("audit.jsonl");
    let mut log = fs::read(&path).unwrap();
    change(&mut log);
    fs::write(path, log).unwrap();
}

#[test]
fn a_new_key_seals_a_log_and_is_never_overwritten() {
    let folder = folder(&[]);
    let made = audit(&folder, &["new-key", "audit.key"]);
    assert_eq!((made.code, made.stdout.as_str(), made.stderr.as_str()), (0, "", ""));
    append(&folder, 1);
    assert_eq!(verdict(&folder, &[]).0, 0);
    let before = fs::read(folder.path().join("audit.key")).unwrap();
    let again = audit(&folder, &["new-key", "audit.key"]);
    assert_eq!((again.code, again.stdout.as_str()), (3, ""));
    assert!(again.stderr.contains("keys are never overwritten"), "{}", again.stderr);
    assert_eq!(fs::read(folder.path().join("audit.key")).unwrap(), before);

    let missing = audit(&folder, &["verify", "--key-file", "no.key", "audit.jsonl"]);
    assert_eq!(missing.code, 3);
    assert!(missing.stderr.contains("create a key: `omen audit new-key no.key`"), "{}", missing.stderr);
}

#[test]
fn a_sound_log_exits_0() {
    let folder = logged();
    let (code, found) = verdict(&folder, &[]);
    let log = fs::read_to_string(folder.path().join("audit.jsonl")).unwrap();
    let last: Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
    let expect = serde_json::json!({
        "file": "audit.jsonl", "verdict": "sound", "entries": 3, "bytes": log.len(), "last": last["mac"],
        "anchor": null, "unacknowledged_entries": null, "torn_bytes": null, "want": null, "line": null, "offset": null,
        "message": "sound", "help": null, "in_use": false, "misfits": [],
        "files": [{
            "file": "audit.jsonl", "verdict": "sound", "first": 1, "entries": 3, "bytes": log.len(), "message": "sound",
        }],
    });
    assert_eq!((code, found), (0, expect));

    let human = audit(&folder, &["verify", "--key-file", "audit.key", "audit.jsonl"]);
    assert_eq!((human.code, human.stderr.as_str()), (0, ""));
    assert!(human.stdout.starts_with("audit.jsonl: sound\n  3 sound entries in "), "{}", human.stdout);
    assert!(human.stdout.ends_with("; no anchor given\n"), "{}", human.stdout);
}

/// The documented life of a log of one file: it is moved into a folder, continues there in several files, and is archived.
#[test]
fn a_log_of_one_file_is_moved_goes_on_in_several_and_is_put_away() {
    let folder = logged();
    // The remains of a crash were set aside.
    change(&folder, |log| log.extend(*b"{\"data\":{"));
    append(&folder, 1);
    let anchor = |name: &str, log: &str| {
        let exported = audit(&folder, &["export-anchor", "--key-file", "audit.key", log]);
        assert_eq!(exported.code, 0, "{}", exported.stderr);
        fs::write(folder.path().join(name), exported.stdout).unwrap();
    };
    let sound = |anchor: &str, place: &str, entries: u64| {
        let found =
            audit(&folder, &["verify", "--format", "json", "--key-file", "audit.key", "--anchor", anchor, place]);
        let found: Value = serde_json::from_str(&found.stdout).unwrap();
        assert_eq!((&found["verdict"], &found["entries"]), (&"sound".into(), &entries.into()), "{found}");
        found["files"].as_array().unwrap().len()
    };
    anchor("before.anchor", "audit.jsonl");
    let move_to = |place: &str, from: &str| {
        fs::create_dir(folder.path().join(place)).unwrap();
        let mut moved = Vec::new();
        for entry in fs::read_dir(folder.path().join(from)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            if name.starts_with("audit.") && name.contains("jsonl") {
                fs::rename(&path, folder.path().join(place).join(&name)).unwrap();
                moved.push(name);
            }
        }
        moved.sort();
        moved
    };
    let moved = move_to("logs", ".");
    let [log, head, torn] = moved.as_slice() else { panic!("{moved:?}") };
    assert_eq!((log.as_str(), head.as_str()), ("audit.jsonl", "audit.jsonl.head"));
    assert!(torn.starts_with("audit.jsonl.torn-"), "{torn}");
    assert_eq!(sound("before.anchor", "logs", 5), 1);

    // It continues there, in several files.
    let rotated =
        open_at(&folder, "logs/audit.jsonl", Options { rotate_bytes: NonZeroU64::new(400), ..Options::default() });
    let turn = TurnId::new("turn_2").unwrap();
    for _ in 0..6 {
        let _ = rotated.append(Record::new(Kind::Decision, &turn, serde_json::Map::new())).unwrap();
    }
    drop(rotated);
    anchor("last.anchor", "logs/audit.jsonl");
    let entries = audit(&folder, &["verify", "--format", "json", "--key-file", "audit.key", "logs"]);
    let entries = serde_json::from_str::<Value>(&entries.stdout).unwrap()["entries"].as_u64().unwrap();
    assert!(entries > 11, "{entries}");
    assert!(sound("before.anchor", "logs", entries) > 1);

    // It is archived, and a new log is begun in its place.
    move_to("archive", "logs");
    drop(open_at(&folder, "logs/audit.jsonl", Options::default()));
    assert!(sound("last.anchor", "archive", entries) > 1);
    let other = audit(&folder, &["verify", "--key-file", "audit.key", "--anchor", "last.anchor", "logs"]);
    assert_eq!(other.code, 1, "the new log does not hold the anchor of the old one: {}", other.stdout);
}

#[test]
fn a_changed_log_exits_1_and_says_where() {
    let folder = logged();
    let log = fs::read_to_string(folder.path().join("audit.jsonl")).unwrap();
    let offset = log.find('\n').unwrap() + 1;
    change(&folder, |log| log[offset + 13] ^= 1);
    let (code, found) = verdict(&folder, &[]);
    assert_eq!((code, &found["verdict"], &found["entries"]), (1, &"tampered".into(), &1.into()));
    assert_eq!((&found["line"], &found["offset"]), (&2.into(), &offset.into()));

    let human = audit(&folder, &["verify", "--key-file", "audit.key", "audit.jsonl"]);
    assert_eq!((human.code, human.stderr.as_str()), (1, ""));
    let place = format!("audit.jsonl: tampered: line 2, at byte {offset}: invalid seal\n");
    assert!(human.stdout.starts_with(&place) && human.stdout.contains("\n  help: keep the files"), "{}", human.stdout);
}

/// The content of the log can neither control the terminal nor flood it.
#[test]
fn a_changed_log_cannot_write_to_the_terminal() {
    let folder = logged();
    change(&folder, |log| log.extend(format!("{{\"\u{1b}]0;{}\u{7}\":1}}\n", "x".repeat(5000)).bytes()));
    let human = audit(&folder, &["verify", "--key-file", "audit.key", "audit.jsonl"]);
    assert_eq!(human.code, 1);
    assert!(human.stdout.len() < 1000 && !human.stdout.contains(['\u{1b}', '\u{7}']), "{}", human.stdout);
}

#[test]
fn a_cut_log_exits_1() {
    let folder = logged();
    change(&folder, |log| log.truncate(log.len() - 10));
    let (code, found) = verdict(&folder, &[]);
    assert_eq!(
        (code, &found["verdict"], &found["entries"], &found["want"]),
        (1, &"truncated".into(), &2.into(), &3.into())
    );
    fs::remove_file(folder.path().join("audit.jsonl")).unwrap();
    let (code, found) = verdict(&folder, &[]);
    assert_eq!((code, &found["verdict"], &found["entries"]), (1, &"truncated".into(), &0.into()));
}

#[test]
fn what_a_crash_leaves_exits_1_until_it_is_repaired() {
    let folder = logged();
    change(&folder, |log| log.extend(b"{\"data\":"));
    let (code, found) = verdict(&folder, &[]);
    assert_eq!((code, &found["verdict"]), (1, &"incomplete".into()));
    assert_eq!((&found["unacknowledged_entries"], &found["torn_bytes"]), (&0.into(), &8.into()));
    append(&folder, 0);
    let (code, found) = verdict(&folder, &[]);
    assert_eq!((code, &found["entries"]), (0, &4.into()));
}

#[test]
fn an_anchor_shows_that_the_log_was_set_back() {
    let folder = logged();
    let old = ["audit.jsonl", "audit.jsonl.head"].map(|name| fs::read(folder.path().join(name)).unwrap());
    append(&folder, 4);
    let anchor = audit(&folder, &["export-anchor", "--key-file", "audit.key", "audit.jsonl"]);
    assert_eq!((anchor.code, anchor.stderr.as_str(), anchor.stdout.lines().count()), (0, "", 1));
    assert_eq!(serde_json::from_str::<Value>(&anchor.stdout).unwrap()["count"], 8);
    write(folder.path(), "anchor", anchor.stdout.as_bytes());
    let (code, found) = verdict(&folder, &["--anchor", "anchor"]);
    assert_eq!((code, &found["verdict"], &found["anchor"]), (0, &"sound".into(), &8.into()));

    for (name, content) in ["audit.jsonl", "audit.jsonl.head"].iter().zip(&old) {
        write(folder.path(), name, content);
    }
    assert_eq!(verdict(&folder, &[]).0, 0, "without the anchor, nothing shows it");
    let (code, found) = verdict(&folder, &["--anchor", "anchor"]);
    assert_eq!((code, &found["verdict"], &found["want"]), (1, &"truncated".into(), &8.into()));
}

#[test]
fn a_log_that_is_not_sound_gets_no_anchor() {
    let folder = logged();
    change(&folder, |log| log.truncate(0));
    let run = audit(&folder, &["export-anchor", "--key-file", "audit.key", "audit.jsonl"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    assert!(run.stderr.starts_with("omen: cannot export an anchor: audit.jsonl is truncated: "), "{}", run.stderr);
}

#[test]
fn the_key_may_come_from_the_environment() {
    let folder = logged();
    let digits = fs::read_to_string(folder.path().join("audit.key")).unwrap();
    let mut command = omen(["audit", "verify", "--key-env", "OMEN_TEST_KEY", "audit.jsonl"]);
    let run = run(command.current_dir(&folder).env("OMEN_TEST_KEY", digits.trim_end()));
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert!(!run.stdout.contains(digits.trim_end()));
}

#[test]
fn usage_errors_exit_2() {
    let folder = logged();
    for args in [
        &["verify", "audit.jsonl"][..],
        &["verify", "--key-file", "audit.key"],
        &["verify", "--key-file", "audit.key", "--key-env", "KEY", "audit.jsonl"],
        &["verify", "--key-file", "audit.key", "--format", "yaml", "audit.jsonl"],
        &["export-anchor", "audit.jsonl"],
        &[],
    ] {
        let run = audit(&folder, args);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{args:?}: {}", run.stderr);
    }
}

#[test]
fn what_cannot_be_read_exits_3() {
    #[track_caller]
    fn check(folder: &TempDir, args: &[&str], expect: &str) {
        for command in ["verify", "export-anchor"] {
            if command == "export-anchor" && args.contains(&"--anchor") {
                continue;
            }
            let run = audit(folder, &[&[command], args].concat());
            assert_eq!((run.code, run.stdout.as_str()), (3, ""), "{args:?}: {}", run.stderr);
            assert!(run.stderr.starts_with("omen: ") && run.stderr.contains(expect), "{}", run.stderr);
            assert_eq!(run.stderr.lines().count(), 1);
        }
    }
    let folder = logged();
    check(&folder, &["--key-file", "audit.key", "missing.jsonl"], "missing.jsonl");
    check(&folder, &["--key-file", "audit.key", "audit.jsonl/x"], "audit.jsonl/x");
    check(&folder, &["--key-file", "missing.key", "audit.jsonl"], "missing.key");
    check(&folder, &["--key-env", "OMEN_NO_SUCH_KEY", "audit.jsonl"], "is not set");
    check(&folder, &["--key-file", "audit.key", "--anchor", "missing", "audit.jsonl"], "missing");
    check(&folder, &["--key-file", "audit.key", "--anchor", "audit.jsonl", "audit.jsonl"], "invalid anchor");

    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(folder.path().join("audit.key"), fs::Permissions::from_mode(0o644)).unwrap();
        check(&folder, &["--key-file", "audit.key", "audit.jsonl"], "chmod 600 audit.key");
    }
}

/// A log that a gate has open is verified up to the last acknowledged entry, and gets an anchor there.
#[test]
fn a_log_in_use_is_verified() {
    let folder = logged();
    let open = open(&folder);
    let (code, found) = verdict(&folder, &[]);
    assert_eq!((code, &found["in_use"], &found["entries"]), (0, &true.into(), &4.into()));
    let human = audit(&folder, &["verify", "--key-file", "audit.key", "audit.jsonl"]);
    assert!(human.stdout.contains("\n  the log is in use; it was verified up to the last ack"), "{}", human.stdout);
    let anchor = audit(&folder, &["export-anchor", "--key-file", "audit.key", "audit.jsonl"]);
    assert_eq!((anchor.code, anchor.stdout.trim_end()), (0, &*open.anchor().unwrap().to_string()));
}

/// Returns a log of three files.
fn rotated() -> TempDir {
    let folder = folder(&[]);
    let key = Key::create(folder.path().join("audit.key")).unwrap();
    let options = Options { rotate_bytes: std::num::NonZeroU64::new(1000), ..Options::default() };
    let clock = Arc::new(SystemClock::default());
    let audit = Audit::open(folder.path().join("audit.jsonl"), key, clock, options).unwrap();
    let turn = TurnId::new("turn_1").unwrap();
    while !folder.path().join("audit.000003.jsonl").exists() {
        let _ = audit.append(Record::new(Kind::Decision, &turn, serde_json::Map::new())).unwrap();
    }
    folder
}

#[test]
fn a_log_in_several_files_is_verified_as_one() {
    let folder = rotated();
    let all = ["audit.jsonl", "audit.000002.jsonl", "audit.000003.jsonl"];
    for args in [&["."][..], &["audit.jsonl"], &["audit.000002.jsonl"], &all] {
        let run = audit(&folder, &[&["verify", "--format", "json", "--key-file", "audit.key"], args].concat());
        let found: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!((run.code, &found["verdict"], &found["misfits"]), (0, &"sound".into(), &serde_json::json!([])));
        let files = found["files"].as_array().unwrap();
        assert_eq!(files.len(), 3, "{found}");
        let entries: u64 = files.iter().map(|file| file["entries"].as_u64().unwrap()).sum();
        assert_eq!(found["entries"], entries);
    }
    let human = audit(&folder, &["verify", "--key-file", "audit.key", "."]);
    assert!(human.stdout.starts_with(".: sound\n  "), "{}", human.stdout);
    assert!(human.stdout.contains("in 3 files, "), "{}", human.stdout);
    assert!(human.stdout.contains("/audit.000002.jsonl: sound; entries "), "{}", human.stdout);
}

#[test]
fn a_file_that_is_missing_or_misplaced_exits_1_and_is_named() {
    let folder = rotated();
    let path = |name: &str| folder.path().join(name);
    let (second, kept) = (path("audit.000002.jsonl"), path("kept"));
    fs::rename(&second, &kept).unwrap();
    fs::rename(head_path(&second), head_path(&kept)).unwrap();
    let run = audit(&folder, &["verify", "--key-file", "audit.key", "audit.jsonl"]);
    assert_eq!(run.code, 1);
    assert!(run.stdout.starts_with("audit.jsonl: truncated: audit.000002.jsonl is missing\n"), "{}", run.stdout);
    assert!(run.stdout.contains("\n  help: restore the file with its head record"), "{}", run.stdout);
    let anchor = audit(&folder, &["export-anchor", "--key-file", "audit.key", "audit.jsonl"]);
    assert_eq!((anchor.code, anchor.stdout.as_str()), (1, ""));
    assert!(anchor.stderr.contains("audit.000002.jsonl is missing"), "{}", anchor.stderr);

    fs::rename(&kept, &second).unwrap();
    fs::rename(head_path(&kept), head_path(&second)).unwrap();
    fs::copy(path("audit.jsonl"), &second).unwrap();
    fs::copy(path("audit.jsonl.head"), head_path(&second)).unwrap();
    let run = audit(&folder, &["verify", "--key-file", "audit.key", "--format", "json", "audit.jsonl"]);
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((run.code, &found["verdict"]), (1, &"tampered".into()));
    let expect = "audit.000002.jsonl contains what belongs in audit.jsonl, which is there, too";
    assert_eq!(found["misfits"][0]["message"], expect);
}

/// Returns the log of a gate that was killed during a call. Earlier calls succeeded, were refused, and failed.
fn of_a_killed_gate() -> TempDir {
    let folder = folder(&[]);
    drop(Key::create(folder.path().join("audit.key")).unwrap());
    let audit = open(&folder);
    let record = |kind, turn: &str, data: Value| {
        let turn = TurnId::new(turn).unwrap();
        let Value::Object(data) = data else { panic!("{data}") };
        let _ = audit.append(Record::new(kind, &turn, data)).unwrap();
    };
    let intent = |call: &str, tool: &str| {
        serde_json::json!({
            "args": { "path": "a.txt" }, "call": call, "outcome": "allowed",
            "tool": { "server": "files", "tool": tool },
        })
    };
    record(Kind::Intent, "turn_1", intent("c1", "read"));
    record(
        Kind::Outcome,
        "turn_1",
        serde_json::json!({ "answer": "00", "call": "c1", "class": null, "ran": "yes", "why": null }),
    );
    let denied = serde_json::json!({ "code": "PG-3", "outcome": "denied", "why": "the tool `rm` is not allowed" });
    record(Kind::Decision, "turn_2", denied);
    record(Kind::Intent, "turn_2", intent("c2", "write"));
    let failed =
        serde_json::json!({ "answer": null, "call": "c2", "class": "timeout", "ran": "unknown", "why": "no answer" });
    record(Kind::Outcome, "turn_2", failed);
    record(Kind::Intent, "turn_3", intent("c3", "write"));
    folder
}

/// Returns the numbers of the entries that are shown.
#[track_caller]
fn shown(folder: &TempDir, more: &[&str]) -> Vec<u64> {
    let run = audit(folder, &[&["show", "--key-file", "audit.key"], more, &["audit.jsonl"]].concat());
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{more:?}");
    let human: Vec<u64> =
        run.stdout.lines().map(|line| line.split_whitespace().next().unwrap().parse().unwrap()).collect();
    let args = [&["show", "--format", "json", "--key-file", "audit.key"], more, &["audit.jsonl"]].concat();
    let json = audit(folder, &args).stdout;
    let json: Vec<u64> =
        json.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["sequence"].as_u64().unwrap()).collect();
    assert_eq!(human, json, "{more:?}");
    human
}

#[test]
fn the_entries_of_a_log_are_shown() {
    let folder = of_a_killed_gate();
    assert_eq!(shown(&folder, &[]), [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(shown(&folder, &["--turn", "turn_2"]), [4, 5, 6]);
    assert_eq!(shown(&folder, &["--tool", "write"]), [5, 6, 7]);
    assert_eq!(shown(&folder, &["--tool", "files/read"]), [2, 3]);
    assert_eq!(shown(&folder, &["--code", "PG-3"]), [4]);
    assert_eq!(shown(&folder, &["--kind", "outcome"]), [3, 6]);
    assert_eq!(shown(&folder, &["--outcome", "timeout"]), [6]);
    assert_eq!(shown(&folder, &["--outcome", "answered"]), [3]);
    assert_eq!(shown(&folder, &["--since", "2000-01-01", "--kind", "intent"]), [2, 5, 7]);
    assert_eq!(shown(&folder, &["--until", "2000-01-01T00:00:00Z"]), [0_u64; 0]);
    assert_eq!(shown(&folder, &["--in-doubt"]), [7]);

    let run = audit(&folder, &["show", "--key-file", "audit.key", "audit.jsonl"]);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert!(lines[3].ends_with("denied PG-3: the tool `rm` is not allowed"), "{}", lines[3]);
    assert!(lines[5].contains("files/write") && lines[5].ends_with("timeout; ran: unknown: no answer"), "{}", lines[5]);
    assert!(lines[6].ends_with("{\"path\":\"a.txt\"}"), "{}", lines[6]);
    // The JSON format prints an entry as it is in the log.
    let json = audit(&folder, &["show", "--format", "json", "--key-file", "audit.key", "audit.jsonl"]).stdout;
    assert_eq!(json, fs::read_to_string(folder.path().join("audit.jsonl")).unwrap());

    let wrong = audit(&folder, &["show", "--key-file", "audit.key", "--since", "yesterday", "audit.jsonl"]);
    assert_eq!(wrong.code, 2);
}

#[test]
fn a_log_that_is_not_sound_is_shown_as_far_as_it_is() {
    let folder = of_a_killed_gate();
    let log = fs::read_to_string(folder.path().join("audit.jsonl")).unwrap();
    let offset = log.match_indices('\n').nth(3).unwrap().0 + 14;
    change(&folder, |log| log[offset] ^= 1);
    for command in ["show", "stats"] {
        let run = audit(&folder, &[command, "--key-file", "audit.key", "audit.jsonl"]);
        assert_eq!(run.code, 1);
        assert!(run.stderr.starts_with("omen: audit.jsonl is tampered: line 5, at byte "), "{}", run.stderr);
    }
    let run = audit(&folder, &["show", "--key-file", "audit.key", "audit.jsonl"]);
    assert_eq!(run.stdout.lines().count(), 4);
}

#[test]
fn what_is_in_a_log_is_counted() {
    let folder = of_a_killed_gate();
    let run = audit(&folder, &["stats", "--format", "json", "--key-file", "audit.key", "audit.jsonl"]);
    let stats: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((run.code, &stats["verdict"], &stats["entries"]), (0, &"sound".into(), &7.into()));
    assert_eq!(stats["kinds"], serde_json::json!({ "decision": 1, "intent": 3, "opened": 1, "outcome": 2 }));
    let tools = serde_json::json!({
        "files/read": { "calls": 1, "answered": 1, "stopped": 0, "failed": {}, "refused": {} },
        "files/write": { "calls": 2, "answered": 0, "stopped": 0, "failed": { "timeout": 1 }, "refused": {} },
    });
    assert_eq!(stats["tools"], tools);
    assert_eq!((&stats["refused"], &stats["in_doubt"]), (&serde_json::json!({ "PG-3": 1 }), &1.into()));
    let human = audit(&folder, &["stats", "--key-file", "audit.key", "audit.jsonl"]);
    assert!(
        human.stdout.starts_with("sound: 7 entries in ") && human.stdout.contains("1 call in doubt"),
        "{}",
        human.stdout
    );
}

#[test]
fn a_call_in_doubt_is_settled() {
    let folder = of_a_killed_gate();
    let settle =
        |entry: &str| audit(&folder, &["settle", "--key-file", "audit.key", "--ran", "no", "audit.jsonl", entry]);
    let wrong = settle("5");
    assert_eq!(wrong.code, 3);
    let expect = "omen: cannot settle the call: entry 5 is not the intent of a call in doubt; list the calls in doubt";
    assert!(wrong.stderr.starts_with(expect), "{}", wrong.stderr);
    let settled = settle("7");
    assert_eq!((settled.code, settled.stderr.as_str()), (0, ""));
    assert_eq!(shown(&folder, &["--in-doubt"]), [0_u64; 0]);
    assert_eq!(shown(&folder, &["--outcome", "settled"]).len(), 1);
    assert_eq!(verdict(&folder, &[]).0, 0);

    let missing = audit(&folder, &["settle", "--key-file", "audit.key", "--ran", "no", "missing.jsonl", "7"]);
    assert_eq!(missing.code, 3);
    assert!(!folder.path().join("missing.jsonl").exists());
}

/// New entries are shown when they are acknowledged, also after the log continues in another file.
#[test]
fn a_log_in_use_is_followed() {
    use std::io::BufRead as _;

    let folder = folder(&[]);
    let key = Key::create(folder.path().join("audit.key")).unwrap();
    let options = Options { rotate_bytes: std::num::NonZeroU64::new(1500), ..Options::default() };
    let clock = Arc::new(SystemClock::default());
    let log = Audit::open(folder.path().join("audit.jsonl"), key, clock, options).unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_omen"));
    command.args(["audit", "show", "--follow", "--format", "json", "--key-file", "audit.key", "audit.jsonl"]);
    let mut child = command.current_dir(&folder).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = std::io::BufReader::new(child.stdout.take().unwrap()).lines();
    let turn = TurnId::new("turn_1").unwrap();
    let mut next = 0;
    while !folder.path().join("audit.000003.jsonl").exists() {
        let receipt = log.append(Record::new(Kind::Decision, &turn, serde_json::Map::new())).unwrap();
        while next < receipt.sequence {
            let entry: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
            next += 1;
            assert_eq!(entry["sequence"], next);
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Garbage after the last line is not the result of a crash, and is not removed.
#[test]
fn garbage_at_the_end_exits_1_and_is_not_a_crash() {
    let folder = logged();
    let before = fs::read(folder.path().join("audit.jsonl")).unwrap();
    change(&folder, |log| log.extend(b"garbage"));
    let (code, found) = verdict(&folder, &[]);
    assert_eq!((code, &found["verdict"], &found["line"]), (1, &"tampered".into(), &4.into()));
    assert_eq!(found["offset"], before.len());
    let human = audit(&folder, &["verify", "--key-file", "audit.key", "audit.jsonl"]);
    let expect = format!(
        "audit.jsonl: tampered or damaged: line 4, at byte {}: it has no line break, and is not the start of an entry: \
         expected `{{` after 0 bytes\n",
        before.len()
    );
    assert!(human.stdout.starts_with(&expect), "{}", human.stdout);
    assert!(!human.stdout.contains("crash"), "{}", human.stdout);
}

/// An empty log without its head record is not mistaken for an unused log.
#[test]
fn an_emptied_log_without_its_head_record_is_not_taken_for_a_new_one() {
    let folder = logged();
    change(&folder, Vec::clear);
    fs::remove_file(head_path(folder.path().join("audit.jsonl"))).unwrap();
    let (code, found) = verdict(&folder, &[]);
    assert_eq!((code, &found["verdict"]), (1, &"tampered".into()));
    let human = audit(&folder, &["verify", "--key-file", "audit.key", "audit.jsonl"]);
    let expect =
        "audit.jsonl: tampered or damaged: the log is empty, and its head record, which is created first, is missing\n";
    assert!(human.stdout.starts_with(expect), "{}", human.stdout);
    assert!(!human.stdout.contains("never used"), "{}", human.stdout);
}

/// A file that is not regular is refused at once: the command neither waits for a writer nor reads forever.
#[test]
#[cfg(unix)]
fn pipes_and_devices_are_refused_at_once() {
    let folder = logged();
    pipe(&folder, "pipe");
    for (args, subject) in [
        (&["--key-file", "audit.key", "--anchor", "pipe", "audit.jsonl"][..], "anchor"),
        (&["--key-file", "audit.key", "--anchor", "/dev/zero", "audit.jsonl"], "anchor"),
        (&["--key-file", "pipe", "audit.jsonl"], "key"),
        (&["--key-file", "/dev/zero", "audit.jsonl"], "key"),
        (&["--key-file", "audit.key", "pipe"], "log"),
        (&["--key-file", "audit.key", "/dev/zero"], "log"),
    ] {
        let mut command = omen(["audit", "verify"].into_iter().chain(args.iter().copied()));
        let run = run(command.current_dir(&folder).timeout(AT_ONCE));
        assert_eq!((run.code, run.stdout.as_str()), (3, ""), "{args:?}: {}", run.stderr);
        assert!(run.stderr.contains(subject) && run.stderr.contains("regular file"), "{args:?}: {}", run.stderr);
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    }
    let mut anchor = omen(["audit", "verify", "--key-file", "audit.key", "--anchor", "pipe", "audit.jsonl"]);
    let stderr = run(anchor.current_dir(&folder).timeout(AT_ONCE)).stderr;
    assert_eq!(
        stderr,
        "omen: cannot use the anchor pipe: expected a regular file, found a pipe: write its content to a file, and pass that file\n"
    );
    // The head record may be one, too.
    fs::remove_file(head_path(folder.path().join("audit.jsonl"))).unwrap();
    pipe(&folder, "audit.jsonl.head");
    let mut command = omen(["audit", "verify", "--key-file", "audit.key", "audit.jsonl"]);
    assert_eq!(run(command.current_dir(&folder).timeout(AT_ONCE)).code, 3);
}

/// With the wrong key everything looks changed; the help suggests that.
#[test]
fn another_key_is_named_as_a_reason() {
    let folder = logged();
    drop(Key::create(folder.path().join("other.key")).unwrap());
    let run = audit(&folder, &["verify", "--key-file", "other.key", "audit.jsonl"]);
    assert_eq!(run.code, 1);
    assert!(run.stdout.contains("help: check that the key is the right one"), "{}", run.stdout);
    assert!(head_path(folder.path().join("audit.jsonl")).exists());
}

#[test]
fn help_shows_exit_codes_and_an_example() {
    let folder = folder(&[]);
    for command in ["verify", "export-anchor"] {
        let help = audit(&folder, &[command, "--help"]);
        let example = format!("  omen audit {command} --key-file audit.key");
        assert!(help.stdout.contains("Exit codes:\n  0") && help.stdout.contains(&example), "{}", help.stdout);
        assert!(help.stdout.lines().all(|line| line.chars().count() <= 100), "{}", help.stdout);
    }
}

/// An auditor has only the log, a signed anchor and the public key.
#[test]
fn a_signed_anchor_is_verified_without_the_key() {
    let folder = logged();
    let made = audit(&folder, &["new-signing-key", "sign.key"]);
    assert_eq!((made.code, made.stdout.as_str(), made.stderr.as_str()), (0, "", ""));
    let sign = ["sign", "--key-file", "audit.key", "--signing-key", "sign.key", "audit.jsonl"];
    let signed = audit(&folder, &sign);
    assert_eq!((signed.code, signed.stderr.as_str(), signed.stdout.lines().count()), (0, "", 1));
    write(folder.path(), "signed", signed.stdout.as_bytes());
    fs::rename(folder.path().join("audit.key"), folder.path().join("hidden.key")).unwrap();
    let verify = ["verify-signed", "--public-key", "sign.key.pub", "--anchor", "signed", "audit.jsonl"];
    let verified = |code: i32, expect: &str| {
        let run = audit(&folder, &verify);
        assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (code, expect, ""));
    };
    verified(0, "audit.jsonl: sound up to entry 3, the last one\n");
    fs::rename(folder.path().join("hidden.key"), folder.path().join("audit.key")).unwrap();
    append(&folder, 1);
    verified(0, "audit.jsonl: sound up to entry 3; 2 entries after it were not signed\n");

    let log = fs::read(folder.path().join("audit.jsonl")).unwrap();
    let third = log.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(1).map(|(at, _)| at + 1).unwrap();
    change(&folder, |log| log[20] ^= 1);
    let help = "keep the files and the anchor as evidence; `omen audit verify` with the key of the log shows where";
    verified(
        1,
        &format!("audit.jsonl: tampered: the first 3 entries differ from those that were signed\n  help: {help}\n"),
    );
    let refused = audit(&folder, &sign);
    assert_eq!((refused.code, refused.stdout.as_str()), (1, ""));
    assert!(refused.stderr.contains("tampered"), "{}", refused.stderr);
    change(&folder, |found| *found = log[..third].to_vec());
    let help = "keep the files and the anchor as evidence, and compare them with a copy of the log";
    verified(1, &format!("audit.jsonl: truncated: 2 of 3 signed entries are present\n  help: {help}\n"));

    // Neither half of the pair is overwritten.
    let again = audit(&folder, &["new-signing-key", "sign.key"]);
    assert_eq!(again.code, 3);
    assert!(again.stderr.contains("keys are never overwritten"), "{}", again.stderr);
    // Another key pair has not signed this anchor.
    assert_eq!(audit(&folder, &["new-signing-key", "other.key"]).code, 0);
    let other = audit(
        &folder,
        &["verify-signed", "--public-key", "other.key.pub", "--anchor", "signed", "--format", "json", "audit.jsonl"],
    );
    let expect =
        "omen: cannot use the anchor signed: invalid signature: the anchor was changed or signed with another key\n";
    assert_eq!((other.code, other.stderr.as_str()), (3, expect));
}

/// Returns a log of a gate with one grant that needs confirmation and one that does not. One call was confirmed, one denied, one
/// refused by a rule; one needs no confirmation, and the last one waits.
fn of_asked_calls() -> TempDir {
    let folder = folder(&[]);
    drop(Key::create(folder.path().join("audit.key")).unwrap());
    let audit = open(&folder);
    let record = |kind, turn: &str, data: Value| {
        let Value::Object(data) = data else { panic!("{data}") };
        let _ = audit.append(Record::new(kind, &TurnId::new(turn).unwrap(), data)).unwrap();
    };
    let tool = |name: &str| serde_json::json!({ "server": "files", "tool": name });
    let grant = |id: u64, permission: &str, pre_granted: bool| serde_json::json!({ "id": id, "tool": tool("write"), "permission": permission, "pre_granted": pre_granted });
    let grants = [grant(1, "READ", false), grant(2, "WRITE", false), grant(3, "WRITE", true)];
    record(Kind::Grant, "gate", serde_json::json!({ "grants": grants }));
    let allowed = |call: &str, grants: &[u64]| serde_json::json!({ "call": call, "grants": grants, "outcome": "allowed", "stage": "authorization", "tool": tool("write") });
    let denied = |code: &str| serde_json::json!({ "args": { "path": "a.txt" }, "code": code, "outcome": "denied", "tool": tool("write"), "why": "no" });
    record(Kind::Decision, "turn_1", allowed("c1", &[1, 2]));
    record(
        Kind::Confirmation,
        "turn_1",
        serde_json::json!({ "call": "c1", "outcome": "allowed", "tool": tool("write") }),
    );
    record(Kind::Decision, "turn_2", allowed("c2", &[1, 2]));
    record(Kind::Confirmation, "turn_2", denied("G3"));
    record(Kind::Decision, "turn_3", denied("PG-3"));
    record(Kind::Decision, "turn_4", allowed("c4", &[1, 3]));
    record(Kind::Intent, "turn_4", serde_json::json!({ "call": "c4", "outcome": "allowed", "tool": tool("write") }));
    record(Kind::Decision, "turn_5", allowed("c5", &[2]));
    folder
}

#[test]
fn a_call_that_waits_is_not_shown_as_allowed() {
    let folder = of_asked_calls();
    assert_eq!(shown(&folder, &["--outcome", "waits"]), [3, 5, 10]);
    assert_eq!(shown(&folder, &["--outcome", "allowed"]), [4, 8, 9]);
    let run = audit(&folder, &["show", "--key-file", "audit.key", "audit.jsonl"]);
    let says: Vec<_> = run.stdout.lines().skip(2).map(|line| line.rsplit("  ").next().unwrap()).collect();
    let waits = "waits for confirmation";
    let refused = |code: &str| format!("denied {code}: no; {{\"path\":\"a.txt\"}}");
    assert_eq!(says, [waits, "allowed", waits, &refused("G3"), &refused("PG-3"), "allowed", "call c4", waits]);
}

#[test]
fn what_waits_and_what_was_refused_is_counted() {
    let folder = of_asked_calls();
    let stats = || {
        let run = audit(&folder, &["stats", "--format", "json", "--key-file", "audit.key", "audit.jsonl"]);
        serde_json::from_str::<Value>(&run.stdout).unwrap()
    };
    let now = stats();
    assert_eq!(
        (&now["tools"]["files/write"]["refused"], &now["waiting"], &now["unconfirmed"]),
        (&serde_json::json!({ "G3": 1, "PG-3": 1 }), &0.into(), &1.into())
    );
    let human = || audit(&folder, &["stats", "--key-file", "audit.key", "audit.jsonl"]).stdout;
    let text = human();
    let line = text.lines().find(|line| line.trim_start().starts_with("files/write ")).unwrap();
    assert_eq!(line.split_whitespace().collect::<Vec<_>>(), ["files/write", "1", "0", "0", "0", "2"]);
    assert!(!text.contains("call waits"), "no gate runs, so nothing waits: {text}");
    assert!(text.contains("\n1 call waited for confirmation when the gate was killed: "), "{text}");
    assert_eq!(
        text.lines().filter(|line| line.trim_start().starts_with("PG-3")).count(),
        2,
        "by tool, and in all: {text}"
    );

    // A gate that has the log open may still be asking; a restarted one has no pending questions.
    let log = open(&folder);
    assert_eq!((&stats()["waiting"], &stats()["unconfirmed"]), (&0.into(), &1.into()));
    let turn = TurnId::new("turn_6").unwrap();
    let grant = serde_json::json!({ "grants": [{ "id": 2, "permission": "WRITE", "pre_granted": false }] });
    let waits = serde_json::json!({ "grants": [2], "outcome": "allowed", "stage": "authorization" });
    for (kind, data) in [(Kind::Grant, grant), (Kind::Decision, waits)] {
        let _ = log.append(Record::new(kind, &turn, data.as_object().unwrap().clone())).unwrap();
    }
    assert_eq!((&stats()["waiting"], &stats()["unconfirmed"]), (&1.into(), &1.into()));
    assert!(human().contains("\n1 call waits for confirmation: `omen gate confirm`\n"));
    drop(log);
    assert_eq!((&stats()["waiting"], &stats()["unconfirmed"]), (&0.into(), &2.into()));
    assert!(human().contains("\n2 calls waited for confirmation when the gate was killed: "), "{}", human());
}

/// The decision states that its call waits, whatever the grants need. Several calls of a turn may wait at once, as in an episode,
/// and only an entry about a call ends its wait.
#[test]
fn each_call_of_a_turn_waits_until_its_own_end() {
    let folder = folder(&[]);
    drop(Key::create(folder.path().join("audit.key")).unwrap());
    let log = open(&folder);
    let turn = TurnId::new("turn_1").unwrap();
    let record = |kind, data: Value| {
        let _ = log.append(Record::new(kind, &turn, data.as_object().unwrap().clone())).unwrap();
        let run = audit(&folder, &["stats", "--format", "json", "--key-file", "audit.key", "audit.jsonl"]);
        let found = serde_json::from_str::<Value>(&run.stdout).unwrap();
        [&found["waiting"], &found["unconfirmed"]].map(|count| count.as_u64().unwrap())
    };
    let waits = |call: &str, needs: Value| serde_json::json!({ "call": call, "grants": [7], "needs_confirmation": needs, "outcome": "allowed", "stage": "authorization" });
    let confirmed = |call: &str| serde_json::json!({ "call": call, "outcome": "allowed", "stage": "confirmation" });
    assert_eq!(record(Kind::Decision, waits("c1", true.into())), [1, 0]);
    assert_eq!(record(Kind::Decision, waits("c2", true.into())), [2, 0]);
    for other in [false.into(), Value::Null, "true".into(), 1.into()] {
        assert_eq!(record(Kind::Decision, waits("c3", other)), [2, 0]);
    }
    assert_eq!(record(Kind::Decision, serde_json::json!({ "code": "PG-3", "outcome": "shadow" })), [2, 0]);
    assert_eq!(record(Kind::Decision, serde_json::json!({ "outcome": "left_out", "tools": [] })), [2, 0]);
    assert_eq!(record(Kind::Confirmation, confirmed("c1")), [1, 0]);
    assert_eq!(record(Kind::Intent, serde_json::json!({ "call": "c1", "outcome": "allowed" })), [1, 0]);
    assert_eq!(record(Kind::Decision, waits("c4", true.into())), [2, 0]);
    assert_eq!(record(Kind::Turn, serde_json::json!({ "outcome": "ended" })), [0, 0]);
    // A refusing rule, such as an open breaker, does not name the call.
    assert_eq!(record(Kind::Decision, waits("c5", true.into())), [1, 0]);
    assert_eq!(record(Kind::Decision, serde_json::json!({ "code": "R1", "outcome": "denied" })), [0, 0]);
}

#[test]
fn a_call_is_found_by_its_hash() {
    let folder = of_a_killed_gate();
    assert_eq!(shown(&folder, &["--call", "c2"]), [5, 6]);
    assert_eq!(shown(&folder, &["--call", "C3"]), [7]);
    assert_eq!(shown(&folder, &["--server", "files", "--kind", "intent"]), [2, 5, 7]);
    // A refusal by a rule has no hash, but the input of the hash.
    let folder = of_asked_calls();
    let tool = omen_gate::ToolId { server: "files".parse().unwrap(), tool: "write".parse().unwrap() };
    let permissions = omen_gate::Permissions::new([omen_gate::Permission::Write]).unwrap();
    let demand = omen_gate::Demand { tool, permissions, always_confirm: true };
    let args = serde_json::json!({ "path": "a.txt" });
    let call = omen_gate::Call::new("x".parse().unwrap(), demand, args.as_object().unwrap().clone()).unwrap();
    assert_eq!(shown(&folder, &["--call", &call.hash().to_string()]), [6, 7]);
    assert_eq!(shown(&folder, &["--call", &call.hash().to_string()[..8], "--code", "PG-3"]), [7]);
}

#[test]
fn a_time_may_be_how_long_ago_it_was() {
    let folder = of_a_killed_gate();
    assert_eq!(shown(&folder, &["--since", "2h", "--kind", "intent"]), [2, 5, 7]);
    assert_eq!(shown(&folder, &["--until", "2h"]), [0_u64; 0]);
    assert_eq!(shown(&folder, &["--since", "7d", "--until", "9999-01-01", "--code", "PG-3"]), [4]);
    let wrong = audit(&folder, &["show", "--key-file", "audit.key", "--since", "2 hours", "audit.jsonl"]);
    assert!(wrong.code == 2 && wrong.stderr.contains("such as 30m, 2h or 7d"), "{}", wrong.stderr);
}

/// A mistyped filter finds nothing, and does not suggest that the log has no such entries.
#[test]
fn what_the_log_does_not_have_is_said() {
    let folder = of_a_killed_gate();
    for (args, note) in [
        (&["--tool", "wirte"][..], "no entry has the tool `wirte`; did you mean `write`?"),
        (&["--tool", "files/wirte"], "no entry has the tool `files/wirte`; did you mean `files/write`?"),
        (&["--tool", "elsewhere"], "no entry has the tool `elsewhere`; the log has `read`, `write`"),
        (&["--server", "file"], "no entry has the server `file`; did you mean `files`?"),
        (&["--kind", "intents"], "no entry has the kind `intents`; did you mean `intent`?"),
        (&["--outcome", "deny"], "no entry has the outcome `deny`"),
        (&["--code", "PG-4"], "no entry has the code `PG-4`; did you mean `PG-3`?"),
        (&["--code", "pg-3"], "no entry has the code `pg-3`; did you mean `PG-3`?"),
        (&["--code", "PG3"], "`PG-3`"),
        (&["--turn", "turn_9"], "no entry has the turn `turn_9`"),
        (&["--call", "ff"], "no entry has the call `ff`"),
    ] {
        let run = audit(&folder, &[&["show", "--key-file", "audit.key"], args, &["audit.jsonl"]].concat());
        assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{args:?}");
        assert!(run.stderr.starts_with("omen: note: ") && run.stderr.contains(note), "{args:?}: {}", run.stderr);
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    }
    // Existing values that do not occur together are not mistyped.
    assert_eq!(shown(&folder, &["--tool", "read", "--outcome", "timeout"]), [0_u64; 0]);
}

#[test]
fn who_confirmed_a_call_is_shown() {
    let folder = folder(&[]);
    drop(Key::create(folder.path().join("audit.key")).unwrap());
    let audit_log = open(&folder);
    let turn = TurnId::new("turn_1").unwrap();
    for by in
        [serde_json::json!({"via": "socket", "uid": 7, "user": "ops"}), serde_json::json!({"via": "socket", "uid": 7})]
    {
        let data = [("outcome".to_owned(), "allowed".into()), ("by".to_owned(), by)].into_iter().collect();
        let _ = audit_log.append(Record::new(Kind::Confirmation, &turn, data)).unwrap();
    }
    drop(audit_log);
    let shown = audit(&folder, &["show", "--key-file", "audit.key", "audit.jsonl"]).stdout;
    let said: Vec<_> = shown.lines().skip(1).map(|line| line.rsplit("  ").next().unwrap()).collect();
    assert_eq!(said, ["allowed, by ops (socket)", "allowed, by user 7 (socket)"]);
}
