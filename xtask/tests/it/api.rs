//! V1: the public API of each library is as it was reviewed, in the crate's `api.txt`.
//!
//! The API is read from rustdoc's JSON, which has what the sources do not show: items that macros and build scripts
//! generate, derived traits, and whether a type is still `Send`. Its form belongs to one compiler, so the snapshots do, too,
//! like the compile errors in `compile-tests/tests/ui`. To update them: `OMEN_BLESS=1 cargo test -p xtask --test it api::`.

mod compare;
mod listing;
mod version;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use omen_testkit::Need;
use omen_testkit::proofs::Proofs;
use xtask::{package::libraries, rustdoc};

use compare::compare;

/// The crates that are compared by default: they have two thirds of the public API and few dependencies. With those of all crates,
/// the first run takes almost three times as long.
const USUAL: [&str; 5] = ["omen-types", "omen-invariants", "omen-fsm", "omen-base", "omen-order"];

/// The features whose API is recorded.
const FEATURES: [&str; 6] =
    ["omen-audit/ed25519", "omen-gate/mcp", "omen-sdk/input", "omen-sdk/mcp", "omen-sdk/nats", "omen-sdk/render"];

#[test]
fn the_public_api_is_as_reviewed() {
    let toolchain = format!("// Listed by {}.", version_of("rustc"));
    let bless = env::var_os("OMEN_BLESS").is_some();
    let is_this = |package: &str| read(&snapshot(package)).lines().next() == Some(&toolchain);
    if !bless && !libraries().expect("the manifests").iter().all(|package| is_this(package)) {
        return Need::Toolchain.skip(format_args!("*/api.txt is from another compiler than {}", version_of("rustc")));
    }
    let packages = match Proofs::wanted() {
        Proofs::Usual if !bless => USUAL.map(str::to_owned).to_vec(),
        Proofs::Usual | Proofs::Full => libraries().expect("the manifests"),
    };
    let folder = documented(&packages);
    let mut drift = String::new();
    for package in &packages {
        let library = if package == "omen-sdk" { "omen" } else { &package.replace('-', "_") };
        let lines = listing::lines(&folder.join(format!("{library}.json"))).join("\n");
        let (file, now) = (snapshot(package), format!("{toolchain}\n{lines}\n"));
        if bless {
            fs::write(&file, now).expect("api.txt is writable");
            continue;
        }
        let changes = compare(&read(&file), &now);
        if !changes.is_empty() {
            drift += &format!("\nthe public API of {package} has changed since its review\n{changes}");
        }
    }
    assert!(
        drift.is_empty(),
        "{drift}\nIf this is intended, follow \"Versions\" in CONTRIBUTING.md, describe the change in CHANGELOG.md, and run\n\
         OMEN_BLESS=1 cargo test -p xtask --test it api::"
    );
}

fn snapshot(package: &str) -> PathBuf {
    root().join(package).join("api.txt")
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace")
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn version_of(tool: &str) -> String {
    let output = Command::new(tool).arg("--version").output().expect("the compiler");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Runs rustdoc on packages, and returns the folder of its JSON.
fn documented(packages: &[String]) -> PathBuf {
    let xtask = Path::new(env!("CARGO_BIN_EXE_xtask"));
    // `TARGET/PROFILE/xtask`
    let target = xtask.ancestors().nth(2).expect("a target folder");
    let chosen = |feature: &&str| packages.iter().any(|package| feature.starts_with(&format!("{package}/")));
    let output = omen_testkit::cargo()
        .args(["doc", "--quiet", "--locked", "--offline", "--no-deps", "--lib"])
        .args(FEATURES.into_iter().filter(chosen).flat_map(|feature| ["--features", feature]))
        .args(packages.iter().flat_map(|package| ["--package", package]))
        .arg("--target-dir")
        .arg(target)
        .current_dir(root())
        .env(rustdoc::REAL, env::var_os("RUSTDOC").unwrap_or_else(|| "rustdoc".into()))
        .env("RUSTDOC", xtask)
        .env("RUSTDOCFLAGS", rustdoc::FLAGS)
        .output()
        .expect("cargo");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    target.join("doc")
}
