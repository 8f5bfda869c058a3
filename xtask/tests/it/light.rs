//! An agent that depends on the library compiles only what the library needs.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// The crates that are compiled for a package with its default features, including those of build scripts.
pub(crate) fn crates_of(package: &str) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--offline", "--package", package])
        .args(["--edges", "normal,build", "--prefix", "none", "--no-dedupe", "--format", "{p}"])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace"))
        .output()
        .expect("cargo tree");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let crates = String::from_utf8(output.stdout).expect("cargo tree");
    crates.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

#[test]
fn the_library_is_light() {
    let crates = crates_of("omen-sdk");
    for heavy in ["annotate-snippets", "clap", "indicatif", "jsonschema", "omen-gate", "rmcp", "tokio"] {
        assert!(!crates.contains(heavy), "{heavy} is compiled for every agent; make it a feature");
    }
    assert!(crates.len() <= MOST, "{} crates are compiled for every agent: {crates:?}", crates.len());
}

/// The current number, so that one more is a decision.
const MOST: usize = 40;
