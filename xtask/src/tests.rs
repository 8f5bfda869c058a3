//! `cargo xtask test`: all tests of the workspace.
//!
//! With cargo-nextest, the tests of all packages run in parallel, and a waiting test leaves the processor to others.
//! Without it, `cargo test` runs the same tests, one package after the other. The results do not depend on which is used.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::{self, Command, ExitCode, Stdio};
use std::thread;

use crate::environment::forget_package;

/// Variable with the path of cargo-nextest. Without it, `cargo nextest` is tried.
pub const NEXTEST: &str = "OMEN_NEXTEST";

/// Variable with the file to which a skipped test writes, because a runner hides the output of passing tests.
pub const SKIPPED: &str = "OMEN_SKIPPED";

/// Runs all tests, with this cargo-nextest or the one that cargo finds, and prints the tests skipped because a tool is missing.
///
/// # Errors
/// If cargo cannot be started, or the report cannot be written.
pub fn run(cargo: &OsStr, nextest: Option<OsString>, out: &mut impl Write) -> io::Result<ExitCode> {
    let skipped = env::temp_dir().join(format!("omen-skipped-{}", process::id()));
    fs::write(&skipped, "")?;
    let nextest = nextest.or_else(|| nextest_of(cargo));
    if nextest.is_none() {
        writeln!(out, "cargo-nextest is missing, so the packages are tested one after the other")?;
        out.flush()?;
    }
    let mut passed = true;
    for command in commands(nextest) {
        let (program, arguments) = command.split_first().ok_or_else(|| io::Error::other("an empty command"))?;
        let program = if program == "cargo" { cargo } else { program };
        // Documentation examples run even if a test has failed, so that one run shows all failures.
        let mut command = Command::new(program);
        forget_package(&mut command).args(arguments).env(SKIPPED, &skipped).env(THREADS, threads().to_string());
        passed &= command.status()?.success();
    }
    report(&skipped, out)?;
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns the commands that run all tests. Nextest does not run documentation examples.
#[must_use]
pub fn commands(nextest: Option<OsString>) -> Vec<Vec<OsString>> {
    let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
    match nextest {
        None => vec![words(&["cargo", "test", "--locked"])],
        Some(program) => {
            let run = [vec![program], words(&["nextest", "run", "--locked"])].concat();
            vec![run, words(&["cargo", "test", "--locked", "--doc"])]
        }
    }
}

/// Variable that sets how many tests nextest runs in parallel.
const THREADS: &str = "NEXTEST_TEST_THREADS";

/// Returns how many tests run in parallel: three per processor, because some wait for a server, a child or a lock. With all proofs,
/// two keep it busy.
fn threads() -> usize {
    let each = if env::var_os("OMEN_PROOFS").is_some() { 2 } else { 3 };
    each * thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// Returns cargo itself, if it finds cargo-nextest.
fn nextest_of(cargo: &OsStr) -> Option<OsString> {
    let mut version = Command::new(cargo);
    version.args(["nextest", "--version"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    version.status().is_ok_and(|status| status.success()).then(|| "cargo".into())
}

/// Prints the skipped tests, and removes the file.
fn report(skipped: &Path, out: &mut impl Write) -> io::Result<()> {
    let text = fs::read_to_string(skipped)?;
    fs::remove_file(skipped)?;
    let lines: Vec<_> = text.lines().collect();
    if !lines.is_empty() {
        writeln!(out, "\n{} skipped, in whole or in part:", lines.len())?;
        for line in lines {
            writeln!(out, "  {line}")?;
        }
    }
    Ok(())
}
