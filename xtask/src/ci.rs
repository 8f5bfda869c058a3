//! `cargo xtask ci`: all of CI, in the order in which a mistake shows soonest.

use std::error::Error;
use std::io::{self, Write};
use std::process::{Command, ExitCode};
use std::time::Instant;

/// One step: what it is for, and the arguments of cargo.
struct Step {
    name: &'static str,
    cargo: &'static [&'static str],
    /// Extra environment.
    env: &'static [(&'static str, &'static str)],
}

const STEPS: &[Step] = &[
    Step { name: "format", cargo: &["fmt", "--all", "--check"], env: &[] },
    Step {
        name: "lints",
        cargo: &["clippy", "--locked", "--workspace", "--all-targets", "--all-features", "--", "--deny", "warnings"],
        env: &[],
    },
    // What an agent's author gets who asks for no feature.
    Step { name: "library", cargo: &["clippy", "--locked", "-p", "omen-sdk", "--", "--deny", "warnings"], env: &[] },
    // The README's first command, and its second.
    Step { name: "example", cargo: &["run", "--locked", "--example", "first_episode"], env: &[] },
    Step { name: "tests", cargo: &["test", "--locked"], env: &[] },
    Step {
        name: "docs",
        cargo: &["doc", "--locked", "--workspace", "--no-deps", "--all-features"],
        env: &[("RUSTDOCFLAGS", "--deny warnings")],
    },
];

/// Runs every step and stops at the first that fails.
///
/// # Errors
/// If cargo cannot be started, or if stdout is gone.
pub fn run(out: &mut impl Write) -> Result<ExitCode, Box<dyn Error + Send + Sync>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut took = Vec::new();
    for step in STEPS {
        writeln!(out, "\n=== {}: cargo {}", step.name, step.cargo.join(" "))?;
        out.flush()?;
        let start = Instant::now();
        let status = Command::new(&cargo)
            .args(step.cargo)
            .envs(step.env.iter().copied())
            .status()
            .map_err(|error| io::Error::other(format!("cannot start cargo: {error}")))?;
        took.push((step.name, start.elapsed().as_secs()));
        if !status.success() {
            writeln!(out, "\n=== {} failed", step.name)?;
            return Ok(ExitCode::FAILURE);
        }
    }
    writeln!(out)?;
    for (name, seconds) in took {
        writeln!(out, "{name:>8}: {seconds} s")?;
    }
    writeln!(out, "all steps passed")?;
    Ok(ExitCode::SUCCESS)
}
