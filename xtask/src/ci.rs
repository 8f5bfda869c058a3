//! `cargo xtask ci`: all of CI, ordered so that mistakes show early. It ends with the time of each step.
//!
//! No step can hang: one that exceeds its limit is killed with everything it has started. The tests run without a network
//! where the system permits it (T1).

mod limited;
mod offline;

use std::error::Error;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

pub use limited::{Ended, run_limited};
pub use offline::{Offline, offline};

use crate::environment::forget_package;

/// A step of CI.
#[derive(Clone, Copy, Debug)]
pub struct Step<'s> {
    /// Its name in the report.
    pub name: &'s str,
    /// Arguments of cargo.
    pub arguments: &'s [&'s str],
    /// Additional environment variables.
    pub env: &'s [(&'s str, &'s str)],
    /// Time limit: several times the duration from a clean clone on two cores.
    pub limit: Duration,
    /// Whether it runs without a network where the system permits it.
    pub offline: bool,
}

/// All steps, in their order.
pub const STEPS: &[Step<'_>] = &[
    Step { name: "format", arguments: &["fmt", "--all", "--check"], env: &[], limit: minutes(5), offline: false },
    Step {
        name: "lints",
        arguments: &[
            "clippy",
            "--locked",
            "--workspace",
            "--all-targets",
            "--all-features",
            "--",
            "--deny",
            "warnings",
        ],
        env: &[],
        limit: minutes(25),
        offline: false,
    },
    // Each published package alone with its default features, as users get it: built together, packages share features. An
    // agent's packages have no default features and request none of each other, so they are built together.
    alone(&[
        "clippy",
        "--locked",
        "-p",
        "omen-schema",
        "-p",
        "omen-codegen",
        "-p",
        "omen-types",
        "-p",
        "omen-invariants",
        "-p",
        "omen-fsm",
        "-p",
        "omen-sdk",
        "--",
        "--deny",
        "warnings",
    ]),
    alone(&["clippy", "--locked", "-p", "omen-base", "--", "--deny", "warnings"]),
    alone(&["clippy", "--locked", "-p", "omen-audit", "--", "--deny", "warnings"]),
    alone(&["clippy", "--locked", "-p", "omen-order", "--", "--deny", "warnings"]),
    alone(&["clippy", "--locked", "-p", "omen-mcp", "--", "--deny", "warnings"]),
    alone(&["clippy", "--locked", "-p", "omen-gate", "--", "--deny", "warnings"]),
    alone(&["clippy", "--locked", "-p", "omen-hook", "--", "--deny", "warnings"]),
    alone(&["clippy", "--locked", "-p", "omen-proxy", "--", "--deny", "warnings"]),
    alone(&["clippy", "--locked", "-p", "omen-worker", "--", "--deny", "warnings"]),
    alone(&["clippy", "--locked", "-p", "omen-cli", "--", "--deny", "warnings"]),
    // The README's commands, of which the last is the step `tests`.
    Step {
        name: "example",
        arguments: &["run", "--locked", "-p", "omen-examples", "--example", "first_episode"],
        env: &[],
        limit: minutes(20),
        offline: false,
    },
    Step {
        name: "log",
        arguments: &["run", "--locked", "-p", "omen-cli", "--bin", "omen", "--", "check", "schema/examples/valid"],
        env: &[],
        limit: minutes(20),
        offline: false,
    },
    Step { name: "tests", arguments: &["xtask", "test"], env: &[], limit: minutes(60), offline: true },
    // The subcommands that the command lacks by default.
    Step {
        name: "nats",
        // Of the whole workspace, so that dependencies have the features with which the tests have compiled them.
        arguments: &["test", "--locked", "--workspace", "--features", "omen-cli/nats", "--test", "it", "nats::"],
        env: &[],
        limit: minutes(15),
        offline: true,
    },
    Step {
        name: "packages",
        arguments: &["run", "--quiet", "--locked", "-p", "xtask", "--", "package"],
        env: &[],
        limit: minutes(15),
        offline: false,
    },
    Step {
        name: "python",
        arguments: &["run", "--quiet", "--locked", "-p", "xtask", "--", "python"],
        env: &[],
        limit: minutes(15),
        offline: false,
    },
    Step {
        name: "docs",
        arguments: &["doc", "--locked", "--workspace", "--no-deps", "--all-features"],
        env: &[("RUSTDOCFLAGS", "--deny warnings")],
        limit: minutes(15),
        offline: false,
    },
];

/// Limit of all steps together: `.ci/run` has 90 minutes, and first installs what the tests need.
const TOTAL: Duration = minutes(75);

/// Returns a step that compiles packages with their default features.
const fn alone<'s>(arguments: &'s [&'s str]) -> Step<'s> {
    Step { name: "alone", arguments, env: &[], limit: minutes(10), offline: false }
}

const fn minutes(count: u64) -> Duration {
    Duration::from_secs(60 * count)
}

/// Runs every step, and stops at the first failure.
///
/// # Errors
/// If cargo cannot be started, or the report cannot be written.
pub fn run(out: &mut impl Write) -> Result<ExitCode, Box<dyn Error + Send + Sync>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let passed = run_steps(&cargo, STEPS, TOTAL, &offline(), out)?;
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs steps of a program, and returns whether all have passed. No step exceeds its own limit or the remaining total. The
/// report ends with the time of each step that ran.
///
/// # Errors
/// If the program cannot be started, or the report cannot be written.
pub fn run_steps(
    program: &OsStr,
    steps: &[Step<'_>],
    total: Duration,
    offline: &Offline,
    out: &mut impl Write,
) -> Result<bool, Box<dyn Error + Send + Sync>> {
    let begun = Instant::now();
    let mut took = Vec::new();
    let mut failure = None;
    for step in steps {
        writeln!(out, "\n=== {}: cargo {}", step.name, step.arguments.join(" "))?;
        let mut command = match (step.offline, offline) {
            (true, Offline::Permitted(prefix)) => {
                writeln!(out, "=== {} runs without a network", step.name)?;
                prefixed(prefix, program)
            }
            (true, Offline::NotPermitted(why)) => {
                writeln!(out, "=== {} runs with the network: {why}", step.name)?;
                Command::new(program)
            }
            (false, _) => Command::new(program),
        };
        out.flush()?;
        forget_package(&mut command).args(step.arguments).envs(step.env.iter().copied());
        let limit = step.limit.min(total.saturating_sub(begun.elapsed()));
        let start = Instant::now();
        let ended =
            run_limited(command, limit).map_err(|error| io::Error::other(format!("cannot start cargo: {error}")))?;
        took.push((step.name, start.elapsed()));
        failure = match ended {
            Ended::Passed => None,
            Ended::Failed => Some(format!("{} failed", step.name)),
            Ended::TimedOut => {
                Some(format!("{} exceeded its limit of {limit:?} and was killed with everything it started", step.name))
            }
            Ended::Interrupted => Some(format!("{} was interrupted and killed with everything it started", step.name)),
        };
        if failure.is_some() {
            break;
        }
    }
    writeln!(out)?;
    for (name, time) in &took {
        writeln!(out, "{name:>8} {:>7.1} s", time.as_secs_f64())?;
    }
    writeln!(out, "{:>8} {:>7.1} s", "total", begun.elapsed().as_secs_f64())?;
    writeln!(out, "=== {}", failure.as_deref().unwrap_or("all steps passed"))?;
    Ok(failure.is_none())
}

/// Returns a command that starts a program through a prefix.
fn prefixed(prefix: &[OsString], program: &OsStr) -> Command {
    let mut words = prefix.iter().map(OsString::as_os_str).chain([program]);
    let mut command = Command::new(words.next().unwrap_or(program));
    command.args(words);
    command
}
