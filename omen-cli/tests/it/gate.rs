//! `omen gate`: dry runs of plans, and their errors.

use omen_gate::catalog::pin;
use serde_json::json;

use super::*;

#[cfg(unix)]
mod catalog;
#[cfg(unix)]
mod check;
#[cfg(unix)]
pub(super) mod confirm;
#[cfg(unix)]
mod init;
mod prove;
#[cfg(unix)]
mod proxy;
mod replay;
#[cfg(unix)]
mod wrap;

/// Returns the tools of the server `files`. The schemas accept more arguments than they name.
fn tools() -> Value {
    let properties = |names: &[&str]| {
        let properties: serde_json::Map<_, _> =
            names.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
        json!({"type": "object", "properties": properties, "required": names})
    };
    json!([
        {"name": "read_file", "description": "Reads a file.", "inputSchema": properties(&["path"])},
        {"name": "write_file", "description": "Writes a file.", "inputSchema": properties(&["path", "text"])},
        {"name": "move_file", "description": "Moves a file.", "inputSchema": properties(&["from", "to"])},
        {"name": "changed", "description": "Does something else now.", "inputSchema": properties(&[])},
        {"name": "unpinned", "description": "Nobody has approved it.", "inputSchema": properties(&[])},
        {"name": "expired", "description": "Was granted once.", "inputSchema": properties(&[])},
        {"name": "not_allowed", "description": "Stands in no list.", "inputSchema": properties(&[])},
    ])
}

fn pin_of(name: &str) -> String {
    let tools: Vec<omen_gate::tool::Tool> = serde_json::from_value(tools()).unwrap();
    pin(tools.iter().find(|tool| tool.name.as_str() == name).unwrap()).unwrap().to_string()
}

fn config() -> String {
    let allow = |tool: &str, permission: &str, pin: &str| {
        format!("[[allow]]\nserver = 'files'\ntool = '{tool}'\npermissions = ['{permission}']\n{pin}\n")
    };
    let grant = |tool: &str, permission: &str, more: &str| {
        format!("[[grants]]\nserver = 'files'\ntool = '{tool}'\npermissions = ['{permission}']\n{more}\n")
    };
    let pinned = |name: &str| format!("pin = '{}'", pin_of(name));
    [
        AUDIT.to_owned(),
        "[servers.files]\n".to_owned(),
        allow("read_file", "READ", &pinned("read_file")),
        allow("write_file", "WRITE", &pinned("write_file")),
        allow("move_file", "WRITE", &pinned("move_file")),
        allow("changed", "READ", &pinned("read_file")),
        allow("unpinned", "READ", ""),
        allow("expired", "READ", &pinned("expired")),
        grant("read_file", "READ", ""),
        grant("write_file", "WRITE", ""),
        grant("expired", "READ", "expires = 2020-01-01T00:00:00Z"),
    ]
    .concat()
}

/// A gate does not start without an audit log.
const AUDIT: &str = "[audit]\nlog = 'audit.jsonl'\nkey_env = 'KEY'\n";

/// Returns a folder with `gate.toml`, `catalog.json` and `plans.jsonl`.
fn prepared(plans: &str) -> TempDir {
    let catalog = json!({"files": tools()}).to_string();
    folder(&[
        ("gate.toml", config().as_bytes()),
        ("catalog.json", catalog.as_bytes()),
        ("plans.jsonl", plans.as_bytes()),
    ])
}

fn gate(folder: &TempDir, args: &[&str]) -> Run {
    run(omen(["gate"].into_iter().chain(args.iter().copied())).current_dir(folder))
}

const DRY_RUN: [&str; 5] = ["dry-run", "--config", "gate.toml", "--catalog", "catalog.json"];

fn dry_run(folder: &TempDir, more: &[&str]) -> Run {
    gate(folder, &[&DRY_RUN, more].concat())
}

fn plan(tool: &str, args: Value) -> String {
    json!({"type": "call_tool", "server": "files", "tool": tool, "args": args}).to_string()
}

fn read() -> String {
    plan("read_file", json!({"path": "a"}))
}

fn string(text: &str) -> String {
    json!(text).to_string()
}

/// Checks the verdict and code of one line, and a part of its message or help.
#[track_caller]
fn check(line: &str, verdict: &str, code: Option<&str>, says: &str) {
    let run = dry_run(&prepared(&format!("{line}\n")), &["plans.jsonl"]);
    let found: Value = serde_json::from_str(run.stdout.trim_end()).expect("one line of JSON");
    assert_eq!(
        (&found["index"], &found["verdict"], &found["code"]),
        (&json!(0), &json!(verdict), &json!(code)),
        "{found}"
    );
    assert!(run.stdout.contains(says), "{found}");
    assert_eq!(run.code, i32::from(verdict == "block"), "{}", run.stderr);
    assert_eq!(run.stderr, "");
}

#[test]
fn what_no_gate_would_start_with_is_noted() {
    let folder = prepared(&read());
    write(folder.path(), "gate.toml", config().replace(AUDIT, "").as_bytes());
    let run = dry_run(&folder, &["plans.jsonl"]);
    assert_eq!((run.code, run.stdout.lines().count()), (0, 1));
    assert!(run.stderr.starts_with("omen: note: the configuration has no `[audit]` table"), "{}", run.stderr);
}

#[test]
fn a_plan_that_may_run_is_allowed() {
    check(&read(), "allow", None, r#""message":null,"help":null"#);
    check(&string(&read()), "allow", None, r#""message":null,"help":null"#);
}

#[test]
fn what_is_not_one_object_is_blocked() {
    check(&string(&format!("```json\n{}\n```", read())), "block", Some("PG-1"), "code fence");
    check(&string(&format!("Sure! {}", read())), "block", Some("PG-1"), "there is text before the plan");
    check(&string(&format!("{}\nDone.", read())), "block", Some("PG-1"), "there is text after the plan");
    check(&string(read().trim_end_matches('}')), "block", Some("PG-1"), "unexpected end of JSON");
    check(read().trim_end_matches('}'), "block", Some("PG-1"), "unexpected end of JSON");
    check(&read().replace("\"path\"", "\"path\":\"b\",\"path\""), "block", Some("PG-1"), "duplicate field `path`");
    check(&string(&format!("[{}]", read())), "block", Some("PG-1"), "found an array");
    check(&string(""), "block", Some("PG-1"), "the plan is empty");
    check(&json!({"type": "call_tool"}).to_string(), "block", Some("PG-1"), "missing field `server` in the plan");
    check("17", "block", Some("PG-1"), "expected a JSON string or an object");
    check("\"broken", "block", Some("PG-1"), "invalid JSON string");
    check(&format!("[{}]", read()), "block", Some("PG-1"), "expected a JSON string or an object");
}

#[test]
fn a_final_answer_asks_or_is_blocked() {
    let answer = |answer: &str, more: bool| {
        json!({"type": "final_answer", "answer": answer, "needs_more_info": more}).to_string()
    };
    check(&answer("Which file?", true), "terminal", Some("PG-T"), "the user is asked");
    check(&answer("It is 42.", false), "block", Some("PG-T"), "`needs_more_info` of a `final_answer` is false");
    check(&answer(" ", true), "block", Some("PG-T"), "blank");
}

#[test]
fn a_call_has_to_fit_the_catalogue() {
    let extra = plan("read_file", json!({"path": "a", "mode": "w"}));
    check(&extra, "block", Some("PG-2"), "`mode`");
    check(&plan("read_file", json!({})), "block", Some("PG-2"), "path");
    check(&plan("read_file", json!({"path": 1})), "block", Some("PG-2"), "/path");
    check(&plan("raed_file", json!({"path": "a"})), "block", Some("PG-2"), "did you mean `read_file`?");
    check(&read().replace("\"files\"", "\"flies\""), "block", Some("PG-2"), "did you mean `files`?");
}

#[test]
fn a_tool_has_to_be_allowed_as_it_is_now() {
    check(&plan("not_allowed", json!({})), "block", Some("PG-3"), "the operator has not allowed");
    check(&plan("changed", json!({})), "block", Some("PG-3"), &pin_of("changed"));
    check(&plan("unpinned", json!({})), "block", Some("PG-3"), &pin_of("unpinned"));
}

#[test]
fn a_tool_has_to_be_granted_and_confirmed() {
    check(&plan("move_file", json!({"from": "a", "to": "b"})), "block", Some("G1"), "no grant of `WRITE`");
    check(&plan("expired", json!({})), "block", Some("G2"), "has expired");
    let write = plan("write_file", json!({"path": "a", "text": "b"}));
    check(&write, "needs_confirmation", Some("G3"), "needs a confirmation");
}

#[test]
fn plans_are_judged_in_their_order() {
    let question = json!({"type": "final_answer", "answer": "Which?", "needs_more_info": true}).to_string();
    let write = plan("write_file", json!({"path": "a", "text": "b"}));
    // Blank lines are not plans, and the last line needs no line end.
    let plans = format!("{}\n\n{}\r\n   \n{write}\n{question}", read(), string("no"));
    let folder = prepared(&plans);
    let from_file = dry_run(&folder, &["plans.jsonl"]);
    let verdicts: Vec<(Value, Value)> = from_file
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|verdict| (verdict["index"].clone(), verdict["verdict"].clone()))
        .collect();
    let expect = ["allow", "block", "needs_confirmation", "terminal"];
    assert_eq!(verdicts, expect.iter().enumerate().map(|(n, name)| (json!(n), json!(name))).collect::<Vec<_>>());
    assert_eq!((from_file.code, from_file.stderr.as_str()), (1, ""));
    for line in from_file.stdout.lines() {
        contract::check_keys(line, &["index", "verdict", "code", "message", "help"]);
    }
    for more in [&["-"][..], &[]] {
        let mut command = omen(["gate"].into_iter().chain(DRY_RUN).chain(more.iter().copied()));
        let run = run(command.current_dir(&folder).write_stdin(plans.clone()));
        assert_eq!((run.code, run.stdout), (1, from_file.stdout.clone()));
    }
    fs::write(folder.path().join("plans.jsonl"), format!("{}\n{write}\n{question}\n", read())).unwrap();
    assert_eq!(dry_run(&folder, &["plans.jsonl"]).code, 0, "what needs a confirmation or asks is not blocked");
}

#[test]
fn an_empty_input_is_noted() {
    let run = dry_run(&prepared("\n \n"), &["plans.jsonl"]);
    assert_eq!((run.code, run.stdout.as_str()), (0, ""));
    assert_eq!(run.stderr, "omen: note: plans.jsonl contains no plans\n");
}

/// The line after it is judged as usual.
#[test]
fn a_line_that_is_too_long_or_not_utf_8_is_blocked() {
    let folder = prepared("");
    let mut plans = vec![b'"'];
    plans.resize(8 << 20, b'x');
    plans.extend(format!("\"\n{}\n{{\"", read()).as_bytes());
    plans.extend(b"\xff\"}\n");
    fs::write(folder.path().join("plans.jsonl"), plans).unwrap();
    let run = dry_run(&folder, &["plans.jsonl"]);
    let lines: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((run.code, lines.len()), (1, 3));
    assert_eq!(
        (&lines[0]["code"], &lines[1]["verdict"], &lines[2]["code"]),
        (&json!("PG-1"), &json!("allow"), &json!("PG-1"))
    );
    assert!(lines[0]["message"].as_str().unwrap().contains("more than"), "{}", lines[0]);
    assert!(lines[2]["message"].as_str().unwrap().contains("invalid UTF-8 at byte 2"), "{}", lines[2]);
    assert!(run.stdout.len() < 2000);
}

#[test]
fn a_broken_configuration_allows_nothing() {
    let folder = prepared(&read());
    let text = format!("[limits]\nplan_byte = 1\nplan_depth = 'x'\n{}", config());
    fs::write(folder.path().join("gate.toml"), text).unwrap();
    fs::write(folder.path().join("catalog.json"), "{").unwrap();
    let run = dry_run(&folder, &["plans.jsonl"]);
    assert_eq!((run.code, run.stdout.as_str()), (3, ""));
    let lines: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(lines.len(), 3, "{}", run.stderr);
    assert_eq!(lines[0], "omen: gate.toml:2:1: unknown key `limits.plan_byte`; did you mean `plan_bytes`?");
    assert!(
        lines[1].starts_with("omen: gate.toml:3:1: expected an integer for `limits.plan_depth`, found a string; "),
        "{}",
        lines[1]
    );
    assert!(lines[2].starts_with("omen: cannot use the catalogue catalog.json: "), "{}", lines[2]);
}

#[test]
fn what_cannot_be_read_exits_3() {
    #[track_caller]
    fn check(folder: &TempDir, config: &str, catalog: &str, plans: &str, expect: &str) {
        let run = gate(folder, &["dry-run", "--config", config, "--catalog", catalog, plans]);
        assert_eq!((run.code, run.stdout.as_str()), (3, ""), "{}", run.stderr);
        assert!(run.stderr.starts_with("omen: ") && run.stderr.contains(expect), "{}", run.stderr);
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    }
    let folder = prepared(&read());
    check(&folder, "missing.toml", "catalog.json", "plans.jsonl", "the configuration `missing.toml` cannot be read");
    check(&folder, "gate.toml", "missing.json", "plans.jsonl", "the catalogue missing.json: cannot read it");
    check(&folder, "gate.toml", ".", "plans.jsonl", "the catalogue .: cannot read it");
    check(&folder, "gate.toml", "catalog.json", "missing.jsonl", "cannot read missing.jsonl: ");
    check(&folder, "gate.toml", "catalog.json", ".", "cannot read .: is a directory");
    for (catalog, why) in [
        ("", "cannot be read"),
        ("[]", "invalid catalogue"),
        (r#"{"files": []"#, "unexpected end of JSON"),
        (r#"{"files": [], "files": []}"#, "duplicate field `files`"),
        (r#"{"files": [{"name": "a"}]}"#, "inputSchema"),
        (r#"{"files": {}}"#, "invalid catalogue"),
    ] {
        fs::write(folder.path().join("catalog.json"), catalog).unwrap();
        check(&folder, "gate.toml", "catalog.json", "plans.jsonl", why);
    }
    let tool = |n: usize| json!({"name": format!("tool_{n}"), "inputSchema": {"type": "object"}});
    let many: Vec<Value> = (0..1001).map(tool).collect();
    fs::write(folder.path().join("catalog.json"), json!({"files": many}).to_string()).unwrap();
    check(&folder, "gate.toml", "catalog.json", "plans.jsonl", "lists more than 1000 tools");
}

/// A file that is not regular is refused at once, except for plans on standard input.
#[test]
#[cfg(unix)]
fn pipes_and_devices_are_refused_at_once() {
    let folder = prepared(&read());
    pipe(&folder, "pipe");
    for what in ["pipe", "/dev/zero"] {
        for args in [
            ["dry-run", "--config", what, "--catalog", "catalog.json", "plans.jsonl"],
            ["dry-run", "--config", "gate.toml", "--catalog", what, "plans.jsonl"],
            ["dry-run", "--config", "gate.toml", "--catalog", "catalog.json", what],
            ["catalog", "--config", what, "--pins", "--out", "out.json"],
        ] {
            let run = run(omen(["gate"].into_iter().chain(args)).current_dir(&folder).timeout(AT_ONCE));
            assert_eq!((run.code, run.stdout.as_str()), (3, ""), "{args:?}: {}", run.stderr);
            assert!(run.stderr.contains("expected a regular file, found a "), "{args:?}: {}", run.stderr);
            assert!(what == "/dev/zero" || run.stderr.contains("write its content to a file"), "{}", run.stderr);
            assert_eq!(run.stderr.lines().count(), 1, "{args:?}: {}", run.stderr);
        }
    }
    for command in ["dry-run", "catalog"] {
        let help = gate(&folder, &[command, "--help"]).stdout;
        assert!(help.contains("regular file"), "{help}");
    }
    let through = run(omen(["gate"].into_iter().chain(DRY_RUN).chain(["-"])).current_dir(&folder).write_stdin(read()));
    assert_eq!(through.code, 0, "{}", through.stderr);
}

/// Foreign text in messages reaches standard error, and through JSON a terminal.
#[test]
fn nothing_foreign_writes_to_the_terminal() {
    let bad = |c: char| c.is_control() && c != '\n' || ('\u{202a}'..='\u{202e}').contains(&c);
    let folder = prepared(&string("\u{1b}]0;title\u{7}\u{202e}\u{9b}2J {"));
    let run = dry_run(&folder, &["plans.jsonl"]);
    assert!(run.code == 1 && !run.stdout.contains(bad), "{:?}", run.stdout);
    fs::write(folder.path().join("catalog.json"), "{\"\u{1b}[31m\u{202e}\": 1}").unwrap();
    fs::write(folder.path().join("gate.toml"), "\"\\u001b[31m\\u202e\" = 1\n").unwrap();
    let run = dry_run(&folder, &["plans.jsonl"]);
    assert!(run.code == 3 && !run.stderr.contains(bad), "{:?}", run.stderr);
}

#[test]
fn usage_errors_exit_2() {
    let folder = prepared("");
    for args in [
        &["dry-run"][..],
        &["dry-run", "--config", "gate.toml"],
        &["dry-run", "--config", "gate.toml", "--catalog", "catalog.json", "plans.jsonl", "more.jsonl"],
        &["schema", "more"],
        &["dryrun"],
        &[],
    ] {
        let run = gate(&folder, args);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{args:?}: {}", run.stderr);
    }
}

#[test]
fn the_schema_is_that_of_the_configuration() {
    let run = gate(&folder(&[]), &["schema"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let schema: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(schema, omen_gate::Config::json_schema());
    assert!(run.stdout.lines().count() > 100, "it is written to be read");
}

#[test]
fn help_shows_exit_codes_and_an_example() {
    let folder = folder(&[]);
    for command in ["dry-run", "catalog", "check"] {
        let help = gate(&folder, &[command, "--help"]);
        let example = format!("  omen gate {command} --config gate.toml");
        assert!(help.stdout.contains("Exit codes:\n  0") && help.stdout.contains(&example), "{}", help.stdout);
        assert!(help.stdout.lines().all(|line| line.chars().count() <= 100), "{}", help.stdout);
    }
    let init = gate(&folder, &["init", "--help"]).stdout;
    assert!(init.contains("Exit codes:\n  0") && init.contains("  omen gate init -- npx"), "{init}");
    assert!(init.lines().all(|line| line.chars().count() <= 100), "{init}");
    assert!(gate(&folder, &["schema", "--help"]).stdout.contains("omen gate schema >"));
}

/// A planner may wait for the verdict on one plan before it sends the next.
#[test]
fn verdicts_of_a_live_stream_are_not_held_back() {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::process::{Command, Stdio};

    let folder = prepared("");
    let mut child = Command::new(env!("CARGO_BIN_EXE_omen"))
        .arg("gate")
        .args(DRY_RUN)
        .current_dir(&folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    for index in 0..2 {
        writeln!(stdin, "{}", read()).unwrap();
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        assert!(line.starts_with(&format!("{{\"index\":{index},\"verdict\":\"allow\"")), "{line}");
    }
    // The pipe is closed: the command stops, although its input continues.
    drop(stdout);
    while writeln!(stdin, "{}", read()).is_ok() {}
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_exits_3() {
    let folder = prepared(&read());
    for args in [&[&DRY_RUN[..], &["plans.jsonl"]].concat()[..], &["schema"]] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_omen"));
        let output = command.arg("gate").args(args).current_dir(&folder).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{args:?}");
    }
}

#[test]
fn the_sample_is_the_one_that_the_docs_show() {
    let folder = folder(&[]);
    let run = gate(&folder, &["schema", "--example"]);
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../omen-gate/examples/gate.toml");
    assert_eq!((run.code, run.stderr.as_str(), run.stdout), (0, "", fs::read_to_string(sample).unwrap()));
    assert!(gate(&folder, &["schema"]).stdout.starts_with("{\n"));
}
