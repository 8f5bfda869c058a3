//! The environment of a cargo that another one started.
//!
//! `testkit` includes this file, for the tests that start cargo, `proofs`, for benchmarks that do, and `dist`, which builds a release.

use std::env;
use std::process::Command;

/// Removes the variables in which cargo names to a program the package that it is from.
///
/// Some build scripts ask for them. A cargo that inherits them would compile such packages again, with all that depend on them, and
/// so would the next one that somebody starts without them.
pub(crate) fn forget_package(command: &mut Command) -> &mut Command {
    let of_package =
        |name: &str| name == "OUT_DIR" || ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|start| name.starts_with(start));
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(of_package) {
            command.env_remove(name);
        }
    }
    command
}
