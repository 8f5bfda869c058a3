//! Code shared by the build scripts of generated crates.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a build script writes for cargo and the terminal")]

use std::error::Error;

use crate::mistake::Mistakes;

/// Position of a build script's crate among the crates that are generated from the same files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The crate on which all others depend. It reports the mistakes that every crate would find.
    First,
    /// A crate that is compiled after the first one. It reports only the mistakes that no other crate finds.
    Later,
}

/// Runs a build script. Cargo reruns it when its source or a dependency changes.
pub fn run(turn: Turn, generate: impl FnOnce() -> Result<(), Box<dyn Error>>) {
    println!("cargo::rerun-if-changed=build.rs");
    if let Err(error) = generate()
        && let Some(report) = report(turn, error.as_ref())
    {
        // The author of a schema file needs to see the mistake, not a backtrace.
        eprintln!("{report}");
        std::process::exit(1);
    }
}

/// Returns the text that a build script prints for an error, or `None` if another build script reports it. Cargo runs
/// the scripts in parallel, so a mistake that each of them finds would otherwise be printed several times.
#[must_use]
pub fn report(turn: Turn, error: &(dyn Error + 'static)) -> Option<String> {
    let elsewhere = turn == Turn::Later && error.downcast_ref::<Mistakes>().is_some_and(Mistakes::are_in_every_build);
    (!elsewhere).then(|| error.to_string())
}
