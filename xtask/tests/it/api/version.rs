//! V1: the version says what has changed since the last one (D70).
//!
//! The public API of the version before is in `released/`, a file a crate, in the form of `api.txt`. A line that went or
//! changed since then takes a new major version, which in 0.x is the minor number, as Cargo has it; a line that came takes
//! a new minor version, in 0.x a patch. When a version is released: `OMEN_RELEASE=1 cargo test -p xtask --test it api::`.

use std::{env, fs};

use super::compare::{Changes, compare};
use super::{CRATES, read, root, snapshot};

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

    /// The part whose change may break something.
    fn breaking(self) -> (u64, u64, u64) {
        match self {
            Self { major: 0, minor: 0, patch } => (0, 0, patch),
            Self { major: 0, minor, .. } => (0, minor, 0),
            Self { major, .. } => (major, 0, 0),
        }
    }

    /// The part whose change may add something.
    fn adding(self) -> (u64, u64, u64) {
        match self {
            Self { major: 0, minor, patch } => (0, minor, patch),
            Self { major, minor, .. } => (major, minor, 0),
        }
    }
}

/// Whether a version may have these changes since an earlier one.
fn allows(released: &str, now: &str, changes: &Changes) -> Result<(), &'static str> {
    let (Some(before), Some(now)) = (Version::parse(released), Version::parse(now)) else {
        return Err("a version has three numbers");
    };
    if now < before {
        return Err("the version is lower than the one that was released");
    }
    if changes.breaks() && now.breaking() <= before.breaking() {
        return Err("this takes a new major version, or minor before 1.0");
    }
    if !changes.is_empty() && now.adding() <= before.adding() {
        return Err("this takes a new minor version, or patch before 1.0");
    }
    Ok(())
}

const NOW: &str = env!("CARGO_PKG_VERSION");

fn file(package: &str) -> std::path::PathBuf {
    root().join("xtask/tests/it/api/released").join(format!("{package}.txt"))
}

#[test]
fn the_version_says_what_has_changed_since_the_last_one() {
    let mut wrong = String::new();
    for (package, _) in CRATES {
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
    assert!(wrong.is_empty(), "{wrong}\nRaise `version` in Cargo.toml, as CONTRIBUTING says under \"Versions\".");
}

fn changes(reviewed: &str, now: &str) -> Changes {
    compare(reviewed, now)
}

#[test]
fn what_is_removed_or_changed_takes_a_new_minor_version_in_0_x() {
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
fn what_is_added_takes_a_new_patch_version_in_0_x_or_more() {
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
fn without_a_change_a_version_may_stay_and_not_go_back() {
    let none = Changes::default();
    assert_eq!(allows("0.1.0", "0.1.0", &none), Ok(()));
    assert_eq!(allows("0.1.0", "0.1.1", &none), Ok(()));
    assert!(allows("0.2.0", "0.1.9", &none).is_err());
    for broken in ["0.1", "0.1.0.0", "0.1.x", "v0.1.0", ""] {
        assert!(allows("0.1.0", broken, &none).is_err(), "{broken}");
    }
}

/// The real listings, with a line taken away and a line added: the test above is one that can fail.
#[test]
fn a_line_that_goes_from_a_real_listing_is_found() {
    for (package, _) in CRATES {
        let released = read(&file(package));
        let last = released.lines().last().expect("it has lines");
        let without = released.trim_end().strip_suffix(last).expect("its last line");
        assert!(allows("0.1.0", "0.1.1", &compare(&released, without)).is_err(), "{package}: {last}");
        let with = format!("{released}pub fn omen::new_in_this_version()\n");
        assert!(allows("0.1.0", "0.1.0", &compare(&released, &with)).is_err(), "{package}");
        assert!(allows("0.1.0", "0.1.1", &compare(&released, &with)).is_ok(), "{package}");
    }
}
