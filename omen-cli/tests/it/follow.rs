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

    /// The next line of standard output, which is waited for.
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

    /// The next line of standard error.
    fn said(&mut self) -> String {
        let mut line = String::new();
        self.stderr.read_line(&mut line).unwrap();
        line
    }

    /// Stops it. Returns the exit code, the summary and the rest of standard error.
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
        // A line is checked when it has its end.
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
    assert_eq!((code, &summary["files"], stderr.as_str()), (Some(1), &2.into(), ""));
}

/// The log goes on in the next file: an episode that began in the last one, too. Lines are numbered in their file.
#[test]
fn a_log_that_is_rotated_goes_on() {
    let all = log(BAD);
    let at = all.match_indices('\n').nth(3).unwrap().0 + 1;
    let (before, after) = all.split_at(at);
    let folder = folder(&[("a.jsonl", format!("?\n{before}").as_bytes())]);
    let mut follower = Follower::start(&folder, &["a.jsonl"]);
    follower.finds("a.jsonl", 1, "JSON");
    // What is written to the old file after it got another name is checked, too.
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
        (&["--follow"][..], "omen: standard input is followed anyway"),
        (&["--watch", "a.jsonl", "-"], "omen: standard input is followed anyway"),
        (&["--follow", "--format", "junit", "a.jsonl"], "omen: `--follow` reports findings as they come, and `junit`"),
        (&["--follow", "--input", "array", "a.jsonl"], "omen: `--follow` reads logs with one packet on each line"),
    ] {
        let run = run(omen(["check"].iter().chain(args).copied()).write_stdin(""));
        assert!(run.code == 2 && run.stderr.starts_with(why), "{}", run.stderr);
    }
}
