//! Tests of the command, which is run as a process.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use omen_testkit::Need;
use serde_json::Value;
use tempfile::TempDir;

mod audit;
mod baseline;
mod check;
mod compressed;
mod config;
mod contract;
mod diff;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod dist;
mod failures;
mod find;
mod findings;
mod fix;
#[cfg(unix)]
mod follow;
mod foreign;
mod formats;
mod gate;
mod governed;
mod helps;
mod hook;
mod human;
mod ignores;
#[cfg(unix)]
mod integrations;
mod jobs;
mod joined;
mod layouts;
mod lsp;
#[cfg(all(unix, feature = "nats"))]
mod nats;
mod new;
mod order;
mod others;
mod programs;
mod queries;
mod quiet;
mod readme;
mod report;
#[cfg(feature = "otel")]
mod spans;
mod trace;

/// Returns the command, independent of the caller's terminal.
fn omen<'a>(args: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_omen"));
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR", "COLUMNS"] {
        command.env_remove(name);
    }
    // A hook would leave a process behind for the next events of its folder.
    command.env("OMEN_HOOK_RESIDENT", "off").args(args);
    command
}

/// Time limit for a command that does not wait, far longer than it needs.
#[cfg(unix)]
const AT_ONCE: std::time::Duration = std::time::Duration::from_secs(60);

/// Creates a named pipe, whose other end is not open.
#[cfg(unix)]
fn pipe(folder: &TempDir, name: &str) {
    let made = std::process::Command::new("mkfifo").arg(folder.path().join(name)).status();
    assert!(made.expect("mkfifo starts").success());
}

/// Result of a run.
struct Run {
    code: i32,
    stdout: String,
    stderr: String,
}

fn run(command: &mut Command) -> Run {
    let output = command.output().expect("the command starts");
    Run {
        code: output.status.code().expect("an exit code"),
        stdout: String::from_utf8(output.stdout).expect("UTF-8 on stdout"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8 on stderr"),
    }
}

/// Returns the findings and the summary of a run with `--format json`.
fn json(run: &Run) -> (Vec<Value>, Value) {
    let mut lines: Vec<Value> =
        run.stdout.lines().map(|line| serde_json::from_str(line).expect("every line is JSON")).collect();
    let last = lines.pop().expect("a summary");
    (lines, last["summary"].clone())
}

/// Returns the text of an example log.
fn log(path: &str) -> &'static str {
    omen_schema::example(path).unwrap_or_else(|| panic!("no example {path}"))
}

/// Returns a folder with some files.
fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    for (name, bytes) in files {
        write(folder.path(), name, bytes);
    }
    folder
}

fn write(folder: &Path, name: &str, bytes: &[u8]) {
    fs::write(folder.join(name), bytes).expect("a file is written");
}

const GOOD: &str = "valid/read-only.jsonl";
const BAD: &str = "invalid/e4-token-expired.jsonl";
const WARNED: &str = "valid/warning-inv-012-overstated.jsonl";
