//! V1: the version matches the changes since the last release (D70).
//!
//! The public API of the last release is in `released/`, one file for each crate, in the form of `api.txt`. A removed or changed
//! line requires a new major version (in 0.x a new minor version, as in Cargo), and an added line a new minor version (in
//! 0.x a patch). When a version is released: `OMEN_RELEASE=1 cargo test -p xtask --test it api::`.

use std::{env, fs};

use super::compare::{Changes, compare};
use xtask::package::libraries;

use super::{read, root, snapshot};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Version {
    major: u64,
    minor: u64,
    patch: u64,
}

impl Version {
    fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split('.').map(|number| number.parse().ok());
        let version = Self { major: numbers.next()??, minor: numbers.next()??, patch: numbers.next()?? };
        numbers.next().is_none().then_some(version)
    }

    /// The part that changes with a breaking release.
    fn breaking(self) -> (u64, u64, u64) {
        match self {
            Self { major: 0, minor: 0, patch } => (0, 0, patch),
            Self { major: 0, minor, .. } => (0, minor, 0),
            Self { major, .. } => (major, 0, 0),
        }
    }

    /// The part that changes with a release that adds something.
    fn adding(self) -> (u64, u64, u64) {
        match self {
            Self { major: 0, minor, patch } => (0, minor, patch),
            Self { major, minor, .. } => (major, minor, 0),
        }
    }
}

/// Whether a version number allows these changes since an earlier one.
fn allows(released: &str, now: &str, changes: &Changes) -> Result<(), &'static str> {
    let (Some(before), Some(now)) = (Version::parse(released), Version::parse(now)) else {
        return Err("invalid version: expected three numbers");
    };
    if now < before {
        return Err("the version is lower than the released one");
    }
    if changes.breaks() && now.breaking() <= before.breaking() {
        return Err("expected a new major version (before 1.0: minor)");
    }
    if !changes.is_empty() && now.adding() <= before.adding() {
        return Err("expected a new minor version (before 1.0: patch)");
    }
    Ok(())
}

const NOW: &str = env!("CARGO_PKG_VERSION");

fn file(package: &str) -> std::path::PathBuf {
    root().join("xtask/tests/it/api/released").join(format!("{package}.txt"))
}

#[test]
fn the_version_matches_the_changes_since_the_last_release() {
    let mut wrong = String::new();
    for package in &libraries().expect("the manifests") {
        let reviewed = read(&snapshot(package));
        if env::var_os("OMEN_RELEASE").is_some() {
            fs::write(file(package), format!("// Version {NOW}\n{reviewed}")).expect("it is writable");
        }
        let released = read(&file(package));
        let version = released.lines().next().and_then(|line| line.strip_prefix("// Version ")).expect("its version");
        let changes = compare(&released, &reviewed);
        if let Err(why) = allows(version, NOW, &changes) {
            wrong += &format!("\n{package} {NOW}, since {version}: {why}\n{changes}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}\nhelp: raise `version` in Cargo.toml; see \"Versions\" in CONTRIBUTING.md");
}

/// Files that are not members of the workspace and have its version, with the text before it.
const ELSEWHERE: [(&str, &str); 6] = [
    ("fuzz/Cargo.toml", "\nversion = \""),
    ("proofs/dogwood/Cargo.toml", "\nversion = \""),
    ("editors/vscode/package.json", "\"version\": \""),
    ("deploy/kubernetes.yaml", "registry.example/omen:"),
    ("docs/ci.md", "OWNER/omen@v"),
    ("docs/ci.md", "rev: v"),
];

#[test]
fn other_files_have_the_version_of_the_workspace() {
    for (file, before) in ELSEWHERE {
        let text = read(&root().join(file));
        let rest = text.split_once(before).map(|(_, rest)| rest).unwrap_or_else(|| panic!("{file} has no `{before}`"));
        let version: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
        assert_eq!(version, NOW, "the version in {file} is not that of Cargo.toml: write {NOW}");
    }
}

fn changes(reviewed: &str, now: &str) -> Changes {
    compare(reviewed, now)
}

#[test]
fn a_breaking_change_requires_a_new_minor_version_in_0_x() {
    for now in ["pub fn a::one()", "pub fn a::one()\npub fn a::two(u8)"] {
        let changes = changes("pub fn a::one()\npub fn a::two()", now);
        for (before, after, passes) in [
            ("0.1.0", "0.1.0", false),
            ("0.1.0", "0.1.9", false),
            ("0.1.0", "0.2.0", true),
            ("0.1.4", "1.0.0", true),
            ("0.0.1", "0.0.1", false),
            ("0.0.1", "0.0.2", true),
            ("1.2.3", "1.3.0", false),
            ("1.2.3", "2.0.0", true),
        ] {
            assert_eq!(allows(before, after, &changes).is_ok(), passes, "{before} to {after}");
        }
    }
}

#[test]
fn an_addition_requires_at_least_a_new_patch_version_in_0_x() {
    let changes = changes("pub fn a::one()", "pub fn a::one()\npub fn a::two()");
    for (before, after, passes) in [
        ("0.1.0", "0.1.0", false),
        ("0.1.0", "0.1.1", true),
        ("0.1.0", "0.2.0", true),
        ("1.2.3", "1.2.4", false),
        ("1.2.3", "1.3.0", true),
    ] {
        assert_eq!(allows(before, after, &changes).is_ok(), passes, "{before} to {after}");
    }
}

#[test]
fn without_a_change_a_version_may_stay_but_not_decrease() {
    let none = Changes::default();
    assert_eq!(allows("0.1.0", "0.1.0", &none), Ok(()));
    assert_eq!(allows("0.1.0", "0.1.1", &none), Ok(()));
    assert!(allows("0.2.0", "0.1.9", &none).is_err());
    for broken in ["0.1", "0.1.0.0", "0.1.x", "v0.1.0", ""] {
        assert!(allows("0.1.0", broken, &none).is_err(), "{broken}");
    }
}

/// The real listings with a line removed and a line added, so that the test above can fail.
#[test]
fn a_line_removed_from_a_real_listing_is_found() {
    for package in &libraries().expect("the manifests") {
        let released = read(&file(package));
        let last = released.lines().last().expect("it has lines");
        // Of a crate that is new in this version, nothing was released but the line of its version.
        if !last.starts_with("//") {
            let without = released.trim_end().strip_suffix(last).expect("its last line");
            assert!(allows("0.1.0", "0.1.1", &compare(&released, without)).is_err(), "{package}: {last}");
        }
        let with = format!("{released}pub fn omen::new_in_this_version()\n");
        assert!(allows("0.1.0", "0.1.0", &compare(&released, &with)).is_err(), "{package}");
        assert!(allows("0.1.0", "0.1.1", &compare(&released, &with)).is_ok(), "{package}");
    }
}
