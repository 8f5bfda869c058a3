//! What the build scripts of the crates that are generated have in common.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a build script writes for cargo and the terminal")]

use std::error::Error;

use crate::mistake::Mistakes;

/// Which of the crates that are generated from the same files a build script belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// All others depend on it, so it reports the mistakes that each of them finds.
    First,
    /// It is not compiled unless the first one is, and reports only what it alone finds.
    Later,
}

/// Runs a build script. It runs again when its own text changes, or a crate that it uses.
pub fn run(turn: Turn, generate: impl FnOnce() -> Result<(), Box<dyn Error>>) {
    println!("cargo::rerun-if-changed=build.rs");
    if let Err(error) = generate()
        && let Some(report) = report(turn, error.as_ref())
    {
        // A mistake in a schema file is for its author to read, not a backtrace.
        eprintln!("{report}");
        std::process::exit(1);
    }
}

/// What a build script reports of an error; `None` if another one does. Cargo runs the scripts side by side, so that
/// a mistake which each of them finds would be printed as often.
#[must_use]
pub fn report(turn: Turn, error: &(dyn Error + 'static)) -> Option<String> {
    let elsewhere = turn == Turn::Later && error.downcast_ref::<Mistakes>().is_some_and(Mistakes::are_in_every_build);
    (!elsewhere).then(|| error.to_string())
}
