//! How many crates a command compiles, counted in the dependency graph without building anything.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::Command;

use super::Bounded;

/// The arguments of cargo for the README's first command, which CI runs as well.
pub const FIRST: [&str; 5] = ["run", "-p", "omen-examples", "--example", "first_episode"];

/// A package that is compiled, with which dependencies, and the limit of their number.
#[derive(Clone, Copy, Debug)]
pub struct Compiled<'c> {
    /// Why it is compiled.
    pub name: &'c str,
    /// The package.
    pub package: &'c str,
    /// The kinds of its dependencies, as `cargo tree --edges` calls them. Those of build scripts count as well.
    pub edges: &'c str,
    /// The most crates, itself included.
    pub most: u64,
}

/// What somebody who is new compiles first. A crate more is a decision: everybody waits for it.
pub const COMPILED: &[Compiled<'_>] = &[
    Compiled { name: "first command", package: "omen-examples", edges: "normal,build,dev", most: 50 },
    Compiled { name: "agent", package: "omen-sdk", edges: "normal,build", most: 60 },
];

impl Compiled<'_> {
    /// Names, versions and features of the crates, in the workspace of a folder. A crate that build scripts need with other
    /// features than the rest is compiled twice, and is there twice.
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
        // Behind name and version there may be a path, or a mark for a procedural macro.
        let named = |line: &str| {
            let (package, features) = line.split_once('|').unwrap_or((line, ""));
            let package = package.split(' ').take(2).collect::<Vec<_>>().join(" ");
            if features.is_empty() { package } else { format!("{package} {features}") }
        };
        Ok(lines.lines().map(named).collect())
    }

    /// Their number beside its bound.
    ///
    /// # Errors
    /// As for [`Compiled::crates`].
    pub fn count(&self, cargo: &OsStr, root: &Path) -> io::Result<Bounded> {
        let count = self.crates(cargo, root)?.len() as u64;
        Ok(Bounded { what: format!("{}: crates", self.name), found: Some(count), bound: Some(self.most) })
    }
}
