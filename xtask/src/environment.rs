//! Environment of a cargo process that another one starts.
//!
//! Three packages include this file: `testkit` and `proofs`, which start cargo, and `dist`, which builds a release.

use std::env;
use std::process::Command;

/// Removes the variables in which cargo tells a program its own package.
///
/// Some build scripts depend on them. A cargo process that inherited them would recompile such
/// packages and their dependents, and so would the next one that is started without them.
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
