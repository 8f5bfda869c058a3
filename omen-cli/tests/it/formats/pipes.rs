//! A reader that closes the pipe, as `head` does, is not an error: the command ends without a message.

use std::process::Stdio;

use super::*;

/// Runs a command whose output pipe is closed, and returns its exit code.
fn closed(args: &[&str], input: &str) -> i32 {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let folder = folder(&[("log", input.as_bytes())]);
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_omen"));
    let child =
        command.args(args).current_dir(&folder).stdin(Stdio::null()).stdout(writer).stderr(Stdio::piped()).spawn();
    let output = child.unwrap().wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
    output.status.code().unwrap()
}

#[test]
fn texts_end_with_success() {
    for args in [
        &["rules"][..],
        &["rules", "--format", "json"],
        &["explain", "E4"],
        &["schema"],
        &["schema", "TokenId"],
        &["graph"],
        &["graph", "log"],
        &["completions", "bash"],
        &["gate", "schema"],
        &["--help"],
        &["check", "--help"],
        &["--version"],
    ] {
        assert_eq!(closed(args, log(GOOD)), 0, "{args:?}");
    }
}

#[test]
fn a_verdict_is_that_of_what_was_checked() {
    for format in FORMATS {
        // The pipe is closed before the first byte, but everything was checked.
        assert_eq!(closed(&["check", "--format", format, "log"], log(GOOD)), 0, "{format}");
        assert_eq!(closed(&["check", "--format", format, "log"], log(BAD)), 1, "{format}");
    }
    assert_eq!(closed(&["trace", "log"], log(BAD)), 1);
    assert_eq!(closed(&["trace", "--format", "json", "log"], log(BAD)), 1);
    // Part of the log was not checked, and no error was found so far: this is not success.
    assert_eq!(closed(&["check", "--format", "json", "log"], &many(WARNED)), 3);
    assert_eq!(closed(&["trace", "log"], &many(GOOD)), 3);
}

/// Returns a log with enough episodes that the output exceeds every buffer.
fn many(path: &str) -> String {
    let line = log(path).lines().next().unwrap();
    let episode: Value = serde_json::from_str(line).unwrap();
    let id = episode["header"]["correlation_id"].as_str().unwrap();
    (0..1000).map(|number| log(path).replace(id, &format!("corr_many_{number}"))).collect()
}

/// A file gets its report even if standard output is closed.
#[test]
fn a_closed_pipe_does_not_keep_a_file_from_its_report() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let folder = folder(&[("log", many(WARNED).as_bytes())]);
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_omen"));
    let args = ["check", "log", "--format", "json", "--output", "sarif=report"];
    let output = command.args(args).current_dir(&folder).stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
    let output = output.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
    assert_eq!(valid::sarif(&fs::read_to_string(folder.path().join("report")).unwrap()), 1000);
}
