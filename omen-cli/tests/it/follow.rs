//! Logs that are followed while they are written.

use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStderr, ChildStdout, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use super::*;

/// A command that follows logs.
struct Follower {
    child: Child,
    stdout: BufReader<ChildStdout>,
    stderr: BufReader<ChildStderr>,
}

impl Follower {
    fn start(folder: &TempDir, args: &[&str]) -> Self {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_omen"))
            .args(["check", "--format", "json", "--follow"])
            .args(args)
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let stderr = BufReader::new(child.stderr.take().unwrap());
        Self { child, stdout, stderr }
    }

    /// Waits for the next line of standard output.
    fn row(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: `{line}`"))
    }

    #[track_caller]
    fn finds(&mut self, file: &str, line: u64, code: &str) {
        let row = self.row();
        assert_eq!((&row["file"], &row["line"], &row["code"]), (&file.into(), &line.into(), &code.into()));
    }

    /// Returns the next line of standard error.
    fn said(&mut self) -> String {
        let mut line = String::new();
        self.stderr.read_line(&mut line).unwrap();
        line
    }

    /// Stops the command. Returns the exit code, the summary and the rest of standard error.
    fn stop(mut self, signal: Signal) -> (Option<i32>, Value, String) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        let summary = self.row()["summary"].clone();
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "");
        self.stderr.read_to_string(&mut rest).unwrap();
        (self.child.wait().unwrap().code(), summary, rest)
    }
}

impl Follower {
    /// Ends the command. Returns all printed lines that were not read yet.
    fn end(mut self, signal: Signal) -> (Option<i32>, Vec<Value>, String) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        let (mut rows, mut said) = (String::new(), String::new());
        self.stdout.read_to_string(&mut rows).unwrap();
        self.stderr.read_to_string(&mut said).unwrap();
        let rows = rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
        (self.child.wait().unwrap().code(), rows, said)
    }
}

/// Waits until a checkpoint shows that a log was checked to its end.
fn wait_for(folder: &TempDir, checkpoint: &str, log: &str) {
    let end = fs::metadata(folder.path().join(log)).unwrap().len();
    loop {
        let content = fs::read(folder.path().join(checkpoint)).unwrap_or_default();
        let content: Value = serde_json::from_slice(&content).unwrap_or_default();
        let logs = content["logs"].as_array().cloned().unwrap_or_default();
        if logs.iter().any(|one| one["log"].as_str().unwrap().ends_with(log) && one["offset"] == end) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

/// Returns the findings among the rows.
fn findings(rows: &[Value]) -> Vec<Value> {
    rows.iter().filter(|row| row["code"].is_string()).cloned().collect()
}

fn append(folder: &TempDir, name: &str, bytes: impl AsRef<[u8]>) {
    let file = OpenOptions::new().append(true).create(true).open(folder.path().join(name));
    file.unwrap().write_all(bytes.as_ref()).unwrap();
}

#[test]
fn what_is_appended_is_checked_until_a_signal() {
    for signal in [Signal::INT, Signal::TERM] {
        let folder = folder(&[("a.jsonl", b"?\n")]);
        let mut follower = Follower::start(&folder, &["a.jsonl"]);
        follower.finds("a.jsonl", 1, "JSON");
        // A line is checked when it is complete.
        append(&folder, "a.jsonl", "?");
        append(&folder, "a.jsonl", "?\n");
        follower.finds("a.jsonl", 2, "JSON");
        append(&folder, "a.jsonl", "?\nunfinished");
        follower.finds("a.jsonl", 3, "JSON");
        let (code, summary, stderr) = follower.stop(signal);
        assert_eq!((code, &summary["packets"], &summary["files"]), (Some(1), &3.into(), &1.into()));
        assert_eq!(stderr, "");
    }
}

#[test]
fn an_episode_goes_on_and_its_end_is_not_expected() {
    let lines: Vec<&str> = log("invalid/e6-end-with-directive-open.jsonl").lines().collect();
    let folder = folder(&[("a.jsonl", b"")]);
    let mut follower = Follower::start(&folder, &["a.jsonl", "--exit-zero"]);
    for line in &lines {
        append(&folder, "a.jsonl", format!("{line}\n"));
    }
    append(&folder, "a.jsonl", "?\n");
    follower.finds("a.jsonl", lines.len() as u64 + 1, "JSON");
    let (code, summary, _) = follower.stop(Signal::TERM);
    assert_eq!(code, Some(0));
    assert_eq!((summary["accepted"].as_u64(), &summary["episodes"]), (Some(lines.len() as u64), &1.into()));
}

#[test]
fn a_log_that_does_not_exist_yet_is_waited_for() {
    let folder = folder(&[("b.jsonl", b"?\n")]);
    let mut follower = Follower::start(&folder, &["a.jsonl", "b.jsonl"]);
    follower.finds("b.jsonl", 1, "JSON");
    append(&folder, "a.jsonl", "?\n");
    follower.finds("a.jsonl", 1, "JSON");
    let (code, summary, stderr) = follower.stop(Signal::TERM);
    assert_eq!((code, &summary["files"]), (Some(1), &2.into()));
    assert_eq!(stderr, "omen: waiting for more in 1 log, and for a.jsonl to be created; Ctrl-C ends this\n");
}

/// Nothing else would end the command.
#[test]
fn logs_that_cannot_be_followed_end_the_command() {
    let folder = folder(&[("a.jsonl.gz", &[0x1f, 0x8b, 8, 0])]);
    let mut command = omen(["check", "--follow", "a.jsonl.gz", "/dev/null"]);
    let run = run(command.current_dir(&folder).timeout(AT_ONCE));
    assert_eq!(run.code, 3, "{}", run.stderr);
    let compressed = "omen: cannot read a.jsonl.gz: it is compressed, and only logs that are written line by line";
    assert!(run.stderr.starts_with(compressed), "{}", run.stderr);
    assert_eq!(run.stderr.lines().count(), 2, "{}", run.stderr);
}

/// An interrupted command leaves the folder unchanged: the report is written to a temporary file until it is complete.
#[test]
fn a_signal_leaves_no_draft_of_a_report() {
    for args in [&["check", "--output", "sarif=found.sarif", "-"][..], &["report", "-o", "report.html", "pipe"]] {
        for signal in [Signal::INT, Signal::TERM] {
            let folder = folder(&[]);
            pipe(&folder, "pipe");
            let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_omen"));
            let mut child = command.args(args).current_dir(&folder).stdin(Stdio::piped()).spawn().unwrap();
            // `wait` would close it, and the command could end before the signal reaches it.
            let stdin = child.stdin.take();
            let drafts =
                || fs::read_dir(&folder).unwrap().filter(|entry| entry.as_ref().unwrap().file_name() != "pipe").count();
            while drafts() == 0 {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            kill_process(Pid::from_child(&child), signal).unwrap();
            let status = child.wait().unwrap();
            assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(signal.as_raw()));
            assert_eq!(drafts(), 0, "{args:?}");
            drop(stdin);
        }
    }
}

/// The log continues in the next file, and so does an episode that began in the last one. Lines are numbered by file.
#[test]
fn a_log_that_is_rotated_goes_on() {
    let all = log(BAD);
    let at = all.match_indices('\n').nth(3).unwrap().0 + 1;
    let (before, after) = all.split_at(at);
    let folder = folder(&[("a.jsonl", format!("?\n{before}").as_bytes())]);
    let mut follower = Follower::start(&folder, &["a.jsonl"]);
    follower.finds("a.jsonl", 1, "JSON");
    // Lines that are written to the old file after it was renamed are checked, too.
    let mut old = OpenOptions::new().append(true).open(folder.path().join("a.jsonl")).unwrap();
    fs::rename(folder.path().join("a.jsonl"), folder.path().join("a.1.jsonl")).unwrap();
    old.write_all(b"?\nunfinished").unwrap();
    follower.finds("a.jsonl", 6, "JSON");
    append(&folder, "a.jsonl", after);
    follower.finds("a.jsonl", 7, "JSON");
    follower.finds("a.jsonl", 2, "E4");
    assert_eq!(follower.said(), "omen: note: a.jsonl was replaced; reading the new file\n");
    let (_, summary, stderr) = follower.stop(Signal::TERM);
    assert_eq!((&summary["episodes"], &summary["rejected"]), (&1.into(), &4.into()));
    assert_eq!(stderr, "");
}

#[test]
fn a_log_that_is_truncated_is_read_from_its_beginning() {
    let folder = folder(&[("a.jsonl", b"?\n?\n")]);
    let mut follower = Follower::start(&folder, &["a.jsonl"]);
    follower.finds("a.jsonl", 1, "JSON");
    follower.finds("a.jsonl", 2, "JSON");
    OpenOptions::new().write(true).open(folder.path().join("a.jsonl")).unwrap().set_len(0).unwrap();
    assert_eq!(follower.said(), "omen: note: a.jsonl was truncated; reading it from its beginning\n");
    append(&folder, "a.jsonl", "?\n");
    follower.finds("a.jsonl", 1, "JSON");
    assert_eq!(follower.stop(Signal::TERM).1["packets"], 3);
}

#[test]
fn a_log_that_cannot_be_followed_is_reported_once() {
    let folder = folder(&[("a.jsonl", b"?\n"), ("b.gz", &[0x1f, 0x8b, 8, 0])]);
    pipe(&folder, "pipe");
    let mut follower = Follower::start(&folder, &["b.gz", "pipe", "a.jsonl"]);
    follower.finds("a.jsonl", 1, "JSON");
    append(&folder, "a.jsonl", "?\n");
    follower.finds("a.jsonl", 2, "JSON");
    let (code, summary, stderr) = follower.stop(Signal::TERM);
    assert_eq!((code, &summary["files"]), (Some(3), &1.into()));
    let lines: Vec<&str> = stderr.lines().collect();
    assert_eq!(lines.len(), 2, "{stderr}");
    assert!(lines[0].starts_with("omen: cannot read b.gz: it is compressed"), "{stderr}");
    assert!(lines[1].starts_with("omen: cannot read pipe: "), "{stderr}");
}

#[test]
fn what_is_followed_anyway_is_a_usage_error() {
    for (args, why) in [
        (&["--follow"][..], "omen: standard input is always followed"),
        (&["--watch", "a.jsonl", "-"], "omen: standard input is always followed"),
        (&["--follow", "--format", "junit", "a.jsonl"], "omen: `--follow` reports findings as they occur, but `junit`"),
        (&["--follow", "--input", "array", "a.jsonl"], "omen: `--follow` reads logs with one packet per line"),
    ] {
        let run = run(omen(["check"].iter().chain(args).copied()).write_stdin(""));
        assert!(run.code == 2 && run.stderr.starts_with(why), "{}", run.stderr);
    }
}

/// A command that is stopped or killed and restarted reports the same as one that never ended. A team that follows its logs knows
/// the earlier findings.
#[test]
fn known_findings_are_not_reported_while_a_log_grows() {
    let folder = folder(&[("a.jsonl", b"?\n"), ("b.jsonl", b"!\n")]);
    let known = ["check", "--baseline=known.json", "--write-baseline", "."];
    assert_eq!(run(omen(known).current_dir(&folder)).code, 0);
    let mut follower = Follower::start(&folder, &["a.jsonl", "b.jsonl", "--baseline", "known.json"]);
    append(&folder, "b.jsonl", b"?\n");
    follower.finds("b.jsonl", 2, "JSON");
    append(&folder, "a.jsonl", b"?\n");
    follower.finds("a.jsonl", 2, "JSON");
    let (code, summary, _) = follower.stop(Signal::TERM);
    assert_eq!((code, &summary["errors"], &summary["baseline"]), (Some(1), &2.into(), &2.into()));
}

#[test]
fn a_checkpoint_is_where_it_goes_on() {
    let all = format!("?\n{}?\n{}", log(BAD), log("invalid/e1-decision-before-belief.jsonl"));
    let folder = folder(&[("whole.jsonl", all.as_bytes()), ("a.jsonl", b"")]);
    let whole = Follower::start(&folder, &["whole.jsonl", "--checkpoint", "whole.json"]);
    wait_for(&folder, "whole.json", "whole.jsonl");
    let (_, expected, _) = whole.end(Signal::TERM);
    let mut found = Vec::new();
    let pieces: Vec<_> = all.as_bytes().chunks(all.len() / 6).collect();
    for (at, piece) in pieces.iter().enumerate() {
        append(&folder, "a.jsonl", piece);
        let follower = Follower::start(&folder, &["a.jsonl", "--checkpoint", "state.json"]);
        wait_for(&folder, "state.json", "a.jsonl");
        let signal = if at % 2 == 0 && at + 1 < pieces.len() { Signal::KILL } else { Signal::TERM };
        let (_, rows, said) = follower.end(signal);
        assert_eq!(said, "");
        found.extend(rows);
    }
    let named = |rows: &[Value]| -> Vec<Value> {
        let mut rows = findings(rows);
        rows.iter_mut().for_each(|row| row["file"] = "a.jsonl".into());
        rows
    };
    assert!(findings(&expected).len() > 3);
    assert_eq!(named(&found), named(&expected));
    assert_eq!(found.last().unwrap()["summary"], expected.last().unwrap()["summary"]);
}

#[test]
fn a_log_that_was_replaced_in_the_meantime_has_a_gap() {
    let folder = folder(&[("a.jsonl", b"?\n?\n")]);
    let args = ["a.jsonl", "--checkpoint", "state.json"];
    let follower = Follower::start(&folder, &args);
    wait_for(&folder, "state.json", "a.jsonl");
    assert_eq!(follower.end(Signal::TERM).0, Some(1));
    fs::write(folder.path().join("a.jsonl"), "? another\n").unwrap();
    let follower = Follower::start(&folder, &args);
    wait_for(&folder, "state.json", "a.jsonl");
    let (code, rows, said) = follower.end(Signal::TERM);
    let expected = "omen: a.jsonl was replaced or truncated while nothing was reading it: the content after byte 4 was not checked; reading the new content\n";
    assert_eq!((code, said.as_str()), (Some(3), expected));
    assert_eq!(
        (&findings(&rows)[0]["line"], rows.last().unwrap()["summary"]["packets"].as_u64()),
        (&1.into(), Some(3))
    );
}

#[test]
fn a_checkpoint_that_does_not_fit_is_refused() {
    let folder = folder(&[("a.jsonl", b"?\n")]);
    let follower = Follower::start(&folder, &["a.jsonl", "--checkpoint", "state.json"]);
    wait_for(&folder, "state.json", "a.jsonl");
    follower.end(Signal::TERM);
    let path = folder.path().join("state.json");
    let sound: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let refused = |content: &str, args: &[&str]| {
        fs::write(&path, content).unwrap();
        let args =
            ["check", "--follow", "a.jsonl", "--checkpoint", "state.json"].into_iter().chain(args.iter().copied());
        let run = run(omen(args).current_dir(&folder));
        assert_eq!((run.code, run.stdout.as_str()), (2, ""));
        run.stderr
    };
    let changed = |key: &str, value: Value| {
        let mut content = sound.clone();
        content["logs"][0][key] = value;
        content.to_string()
    };
    let snapshot = sound["logs"][0]["validator"].as_str().unwrap().to_owned();
    let go_on = "omen: cannot continue with a.jsonl from the checkpoint: a";
    assert!(refused("{", &[]).starts_with("omen: cannot read the checkpoint state.json: "));
    assert!(
        refused(&sound.to_string().replace("\"version\":1", "\"version\":2"), &[])
            .ends_with("is of version 2; expected version 1\n")
    );
    let damaged = format!("{go_on} damaged snapshot: bytes are missing or were changed\n");
    assert_eq!(refused(&changed("validator", snapshot[..snapshot.len() - 2].into()), &[]), damaged);
    assert_eq!(refused(&changed("validator", "no".into()), &[]), damaged);
    let other = refused(&sound.to_string(), &["-D", "INV-011"]);
    assert_eq!(
        other,
        format!("{go_on} snapshot of a validator with other options: use the same levels, time and depth\n")
    );
}

#[test]
fn a_checkpoint_is_for_logs_that_are_followed() {
    let run = run(omen(["check", "a.jsonl", "--checkpoint", "state.json"]).current_dir(folder(&[]).path()));
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("--follow"), "{}", run.stderr);
}
