//! Metadata of the workspace, as reported by cargo.

use std::collections::BTreeSet;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use crate::environment::forget_package;
use crate::{Failure, Platform, printed};

/// The package of the command.
const PACKAGE: &str = "omen-cli";

/// A package, as `cargo metadata` describes it.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    /// None of a package of the workspace.
    source: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) license: Option<String>,
    pub(crate) repository: Option<String>,
    manifest_path: PathBuf,
}

impl Package {
    /// The folder of its sources.
    pub(crate) fn folder(&self) -> &Path {
        self.manifest_path.parent().unwrap_or(&self.manifest_path)
    }
}

/// The command, and what it is built from.
#[derive(Clone, Debug)]
pub(crate) struct Sources {
    /// The package of the command.
    pub(crate) command: Package,
    /// All packages that are not ours, whose code is in the binary, by name and version.
    pub(crate) dependencies: Vec<Package>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

impl Sources {
    /// Asks cargo in a workspace. Nothing is downloaded.
    pub(crate) fn read(root: &Path, platform: &Platform) -> Result<Self, Failure> {
        let offline = |arguments: &[&str]| printed(cargo(root, arguments).args(["--locked", "--offline"]));
        let metadata = offline(&["metadata", "--format-version=1", "--filter-platform", platform.target])?;
        let Metadata { mut packages } = serde_json::from_str(&metadata)?;
        // With all features, because the binary may have any. What only build scripts and tests need is not in it.
        let tree = ["tree", "--package", PACKAGE, "--all-features", "--edges=normal", "--target", platform.target];
        let tree = offline(&[&tree[..], &["--prefix=none", "--no-dedupe", "--format={p}"]].concat())?;
        // `serde v1.0.0`; behind it there may be a path, or a mark for a procedural macro.
        let used: BTreeSet<_> = tree.lines().filter_map(|line| line.split_once(" v")).map(named).collect();
        packages.retain(|package| used.contains(&(package.name.as_str(), package.version.as_str())));
        packages.sort_by(|one, other| (&one.name, &one.version).cmp(&(&other.name, &other.version)));
        let command = packages.iter().find(|package| package.name == PACKAGE).cloned();
        let command = command.ok_or_else(|| format!("{} has no package `{PACKAGE}`", root.display()))?;
        packages.retain(|package| package.source.is_some());
        Ok(Self { command, dependencies: packages })
    }
}

fn named<'l>((name, rest): (&'l str, &'l str)) -> (&'l str, &'l str) {
    (name, rest.split(' ').next().unwrap_or(rest))
}

/// Builds the command for shipping, in a target folder. Returns its path.
///
/// # Errors
/// If it cannot be built.
pub fn build(root: &Path, target: &Path) -> Result<PathBuf, Failure> {
    let mut build = cargo(root, &["build", "--locked", "--profile=dist", "--package", PACKAGE, "--bin=omen"]);
    let status = build.env("CARGO_TARGET_DIR", target).status();
    let status = status.map_err(|error| format!("cannot start cargo: {error}"))?;
    if status.success() { Ok(target.join("dist/omen")) } else { Err("the command was not built".into()) }
}

fn cargo(root: &Path, arguments: &[&str]) -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    forget_package(&mut cargo).args(arguments).current_dir(root);
    cargo
}
