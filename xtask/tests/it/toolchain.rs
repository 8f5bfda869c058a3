//! The pinned compiler is the one that recorded the compile errors and public APIs.

use std::fs;
use std::process::Command;

use omen_testkit::Need;

use crate::hermetic::root;

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn pinned() -> String {
    let file = read("rust-toolchain.toml");
    let channel = file.lines().find_map(|line| line.strip_prefix("channel = \"")?.strip_suffix('"'));
    format!("rustc {} (", channel.expect("a channel"))
}

#[test]
fn everything_that_depends_on_the_compiler_was_recorded_by_the_pinned_one() {
    let pinned = pinned();
    let recorded = read("compile-tests/tests/ui/TOOLCHAIN");
    assert!(recorded.starts_with(&pinned), "compile-tests/tests/ui: expected {pinned}…), found {recorded}");
    let mut count = 0;
    for entry in fs::read_dir(root()).expect("the workspace") {
        let file = entry.expect("an entry").path().join("api.txt");
        if let Ok(text) = fs::read_to_string(&file) {
            assert!(text.starts_with(&format!("// Listed by {pinned}")), "{}: not by {pinned}…)", file.display());
            count += 1;
        }
    }
    assert!(count >= 7, "only {count} files with public items");
    // What the workspace promises is not newer than what it is built with.
    let manifest = read("Cargo.toml");
    let least = manifest.lines().find_map(|line| line.strip_prefix("rust-version = \"")?.strip_suffix('"'));
    assert!(pinned.contains(&format!(" {}.", least.expect("a version"))), "{least:?} is not {pinned}…)");
}

#[test]
fn this_is_the_pinned_compiler() {
    let output = Command::new("rustc").arg("--version").output().expect("rustc");
    let (found, pinned) = (String::from_utf8_lossy(&output.stdout), pinned());
    if !found.starts_with(&pinned) {
        Need::Toolchain.skip(format_args!("the pinned compiler is {pinned}…), and this is {}", found.trim()));
    }
}
