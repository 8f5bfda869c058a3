//! All tests run, whichever program runs them.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::ExitCode;

use omen_testkit::Need;
use xtask::tests::{NEXTEST, SKIPPED, commands, run};

fn lines(commands: &[Vec<OsString>]) -> Vec<String> {
    commands.iter().map(|words| words.join(OsStr::new(" ")).into_string().expect("text")).collect()
}

#[test]
fn both_programs_run_the_tests_and_the_examples_of_the_docs() {
    assert_eq!(lines(&commands(None)), ["cargo test --locked"]);
    assert_eq!(lines(&commands(Some("nx".into()))), ["nx nextest run --locked", "cargo test --locked --doc"],);
}

#[test]
fn the_variables_are_those_of_the_tests() {
    assert_eq!(Need::Nextest.variable(), Some(NEXTEST));
    assert_eq!(omen_testkit::SKIPPED, SKIPPED);
    // In CI, it must be there.
    let Some(nextest) = Need::Nextest.path() else { return };
    let version = std::process::Command::new(nextest).args(["nextest", "--version"]).output().expect("it starts");
    assert!(version.status.success(), "{version:?}");
}

/// A program that stands in for cargo.
fn cargo(folder: &Path, script: &str) -> OsString {
    let cargo = folder.join("cargo");
    std::fs::write(&cargo, format!("#!/bin/sh\necho \"$@\" >> \"$0\".log\n{script}\n")).expect("a script");
    std::fs::set_permissions(&cargo, std::fs::Permissions::from_mode(0o755)).expect("a program");
    cargo.into()
}

/// What it runs, what it prints, and whether it passes.
fn run_with(script: &str) -> (String, String, ExitCode) {
    let folder = tempfile::tempdir().expect("a folder");
    let (cargo, mut out) = (cargo(folder.path(), script), Vec::new());
    let code = run(&cargo, None, &mut out).expect("it runs");
    let log = std::fs::read_to_string(folder.path().join("cargo.log")).expect("it ran");
    (log, String::from_utf8(out).expect("text"), code)
}

#[test]
fn what_was_skipped_is_printed_at_the_end() {
    let skips = "case $1 in test) echo 'a test: it is not there' >> \"$OMEN_SKIPPED\" ;; esac";
    let (ran, printed, code) = run_with(skips);
    assert_eq!(ran, "nextest --version\nnextest run --locked\ntest --locked --doc\n");
    assert!(printed.contains("1 skipped, in whole or in part:\n  a test: it is not there\n"), "{printed}");
    assert_eq!(code, ExitCode::SUCCESS);
}

#[test]
fn more_tests_than_processors_run_side_by_side() {
    let processors = std::thread::available_parallelism().expect("their number");
    let (_, _, code) = run_with(&format!("case $2 in run) test \"$NEXTEST_TEST_THREADS\" -gt {processors} ;; esac"));
    assert_eq!(code, ExitCode::SUCCESS);
}

#[test]
fn tests_are_built_as_outside_a_package() {
    // This test has the variables of its package.
    assert!(std::env::vars_os().any(|(name, _)| name == *"CARGO_MANIFEST_DIR"));
    let (_, _, code) = run_with("test -z \"$CARGO_MANIFEST_DIR$CARGO_PKG_NAME\"");
    assert_eq!(code, ExitCode::SUCCESS);
}

#[test]
fn without_nextest_cargo_runs_them() {
    let (ran, printed, code) = run_with("test $1 = test");
    assert_eq!(ran, "nextest --version\ntest --locked\n");
    assert!(printed.contains("cargo-nextest is missing"), "{printed}");
    assert_eq!(code, ExitCode::SUCCESS);
}

#[test]
fn a_failure_of_any_command_fails() {
    for fails in ["run", "--doc"] {
        let (ran, _, code) = run_with(&format!("case \"$*\" in *{fails}*) exit 1 ;; esac"));
        assert_eq!(code, ExitCode::FAILURE, "{fails}");
        assert!(ran.ends_with("test --locked --doc\n"), "the examples of the docs run all the same: {ran}");
    }
}
