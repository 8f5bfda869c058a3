//! What the build scripts of the crates that are generated have in common.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a build script speaks to cargo, and to whoever builds")]

use std::error::Error;

/// Runs a build script. It runs again when its own text changes, or a crate that it uses.
pub fn run(generate: impl FnOnce() -> Result<(), Box<dyn Error>>) {
    println!("cargo::rerun-if-changed=build.rs");
    if let Err(error) = generate() {
        // A mistake in a schema file is for its author to read, not a backtrace.
        eprintln!("{error}");
        std::process::exit(1);
    }
}
