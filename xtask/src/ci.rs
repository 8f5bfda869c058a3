//! `cargo xtask ci`: all of CI, in the order in which a mistake shows soonest.
//!
//! No step can hang: one that takes longer than it may is killed with all that it has started. The tests run without a
//! network where the system permits that (T1).

mod limited;
mod offline;

use std::error::Error;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

pub use limited::{Ended, run_limited};
pub use offline::{Offline, offline};

/// One step.
#[derive(Clone, Copy, Debug)]
pub struct Step<'s> {
    /// What it is for.
    pub name: &'s str,
    /// The arguments of the program, which is cargo.
    pub arguments: &'s [&'s str],
    /// Extra environment.
    pub env: &'s [(&'s str, &'s str)],
    /// How long it may take: several times what it takes from a clean clone on two cores.
    pub limit: Duration,
    /// Whether it runs without a network where that is permitted.
    pub offline: bool,
}

const STEPS: &[Step<'_>] = &[
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
    // What an agent's author gets who asks for no feature.
    Step {
        name: "library",
        arguments: &["clippy", "--locked", "-p", "omen-sdk", "--", "--deny", "warnings"],
        env: &[],
        limit: minutes(10),
        offline: false,
    },
    // The README's first command, and its second.
    Step {
        name: "example",
        arguments: &["run", "--locked", "--example", "first_episode"],
        env: &[],
        limit: minutes(20),
        offline: false,
    },
    Step { name: "tests", arguments: &["test", "--locked"], env: &[], limit: minutes(60), offline: true },
    Step {
        name: "docs",
        arguments: &["doc", "--locked", "--workspace", "--no-deps", "--all-features"],
        env: &[("RUSTDOCFLAGS", "--deny warnings")],
        limit: minutes(15),
        offline: false,
    },
];

/// How long all steps may take together: `.ci/run` has 90 minutes, and installs the servers from npm before.
const TOTAL: Duration = minutes(75);

const fn minutes(count: u64) -> Duration {
    Duration::from_secs(60 * count)
}

/// Runs every step and stops at the first that fails.
///
/// # Errors
/// If cargo cannot be started, or if stdout is gone.
pub fn run(out: &mut impl Write) -> Result<ExitCode, Box<dyn Error + Send + Sync>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let passed = run_steps(&cargo, STEPS, TOTAL, &offline(), out)?;
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs steps of a program, and returns whether all have passed. None runs longer than it may, nor than is left of the
/// total.
///
/// # Errors
/// If the program cannot be started, or if the report cannot be written.
pub fn run_steps(
    program: &OsStr,
    steps: &[Step<'_>],
    total: Duration,
    offline: &Offline,
    out: &mut impl Write,
) -> Result<bool, Box<dyn Error + Send + Sync>> {
    let begun = Instant::now();
    let mut took = Vec::new();
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
        command.args(step.arguments).envs(step.env.iter().copied());
        let limit = step.limit.min(total.saturating_sub(begun.elapsed()));
        let start = Instant::now();
        let ended =
            run_limited(command, limit).map_err(|error| io::Error::other(format!("cannot start cargo: {error}")))?;
        took.push((step.name, start.elapsed().as_secs()));
        let trouble = match ended {
            Ended::Passed => continue,
            Ended::Failed => "failed".to_owned(),
            Ended::TimedOut => format!("took longer than {limit:?}, and was killed with all that it had started"),
            Ended::Interrupted => "was interrupted, and killed with all that it had started".to_owned(),
        };
        writeln!(out, "\n=== {} {trouble}", step.name)?;
        return Ok(false);
    }
    writeln!(out)?;
    for (name, seconds) in took {
        writeln!(out, "{name:>8}: {seconds} s")?;
    }
    writeln!(out, "all steps passed")?;
    Ok(true)
}

/// A program behind another one that starts it.
fn prefixed(prefix: &[OsString], program: &OsStr) -> Command {
    let mut words = prefix.iter().map(OsString::as_os_str).chain([program]);
    let mut command = Command::new(words.next().unwrap_or(program));
    command.args(words);
    command
}
