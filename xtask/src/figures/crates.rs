//! Number of crates that a command compiles, counted in the dependency graph without building anything.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::Command;

use super::Bounded;

/// Arguments of cargo for the README's first command, which CI also runs.
pub const FIRST: [&str; 5] = ["run", "-p", "omen-examples", "--example", "first_episode"];

/// A package that is compiled, the kinds of dependencies counted, and the limit of their number.
#[derive(Clone, Copy, Debug)]
pub struct Compiled<'c> {
    /// Reason why it is compiled.
    pub name: &'c str,
    /// The package.
    pub package: &'c str,
    /// Kinds of its dependencies, as in `cargo tree --edges`. Dependencies of build scripts also count.
    pub edges: &'c str,
    /// Maximum number of crates, including the package.
    pub most: u64,
}

/// Packages that a newcomer compiles first. Adding a crate is a deliberate decision, because everybody waits for it.
pub const COMPILED: &[Compiled<'_>] = &[
    Compiled { name: "first command", package: "omen-examples", edges: "normal,build,dev", most: 50 },
    Compiled { name: "agent", package: "omen-sdk", edges: "normal,build", most: 60 },
];

impl Compiled<'_> {
    /// Returns names, versions and features of the crates, in the workspace of a folder. A crate that build scripts need
    /// with other features than the rest is compiled twice, and is listed twice.
    ///
    /// # Errors
    /// If cargo cannot be started, or fails.
    pub fn crates(&self, cargo: &OsStr, root: &Path) -> io::Result<BTreeSet<String>> {
        let output = Command::new(cargo)
            .args(["tree", "--locked", "--offline", "--package", self.package, "--edges", self.edges])
            .args(["--prefix", "none", "--no-dedupe", "--format", "{p}|{f}"])
            .current_dir(root)
            .output()?;
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr);
            return Err(io::Error::other(format!("`cargo tree --package {}` failed: {why}", self.package)));
        }
        let lines = String::from_utf8_lossy(&output.stdout);
        // After the name and version there may be a path, or a mark for a procedural macro.
        let named = |line: &str| {
            let (package, features) = line.split_once('|').unwrap_or((line, ""));
            let package = package.split(' ').take(2).collect::<Vec<_>>().join(" ");
            if features.is_empty() { package } else { format!("{package} {features}") }
        };
        Ok(lines.lines().map(named).collect())
    }

    /// Returns the number of crates with its bound.
    ///
    /// # Errors
    /// As [`Compiled::crates`].
    pub fn count(&self, cargo: &OsStr, root: &Path) -> io::Result<Bounded> {
        let count = self.crates(cargo, root)?.len() as u64;
        Ok(Bounded { what: format!("{}: crates", self.name), found: Some(count), bound: Some(self.most) })
    }
}
