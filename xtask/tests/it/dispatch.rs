//! `cargo xtask` compiles no other crate of the workspace, and passes most commands on.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;

use xtask::dispatch::REMOTES;
use xtask::figures::Compiled;

#[test]
fn the_commands_start_without_the_crates_of_the_workspace() {
    let xtask = Compiled { name: "xtask", package: "xtask", edges: "normal,build", most: MOST };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let crates = xtask.crates(OsStr::new(env!("CARGO")), root).expect("cargo tree");
    let ours: Vec<_> = crates.iter().filter(|name| name.starts_with("omen-")).collect();
    assert!(ours.is_empty(), "{ours:?} are compiled before `cargo xtask` starts");
    assert!(
        crates.len() as u64 <= MOST,
        "{} crates are compiled before `cargo xtask` starts: {crates:?}",
        crates.len()
    );
}

/// The current number and a few for other systems, so that more is a decision.
const MOST: u64 = 10;

#[test]
fn each_command_is_passed_on_to_a_package_that_has_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let names: BTreeSet<_> = REMOTES.iter().map(|remote| remote.name).collect();
    assert_eq!(names, BTreeSet::from(["bench", "dist", "docs", "expand", "referee", "walk"]));
    for remote in REMOTES {
        let folder = root.join(remote.package.trim_start_matches("omen-"));
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
        assert!(manifest.contains(&format!("name = \"{}\"", remote.package)), "{remote:?}");
        let main = fs::read_to_string(folder.join("src/main.rs")).expect("a program");
        let variant = format!("{}{}", remote.name[..1].to_uppercase(), &remote.name[1..]);
        assert!(main.contains(&format!("Task::{variant}")), "{remote:?}");
        let arguments = remote.cargo_arguments(["--json".into()]);
        let words: Vec<_> = arguments.iter().map(|word| word.to_str().expect("text")).collect();
        let expected: &[&str] = match remote.release {
            true => &["run", "--quiet", "--package", remote.package, "--release", "--", remote.name, "--json"],
            false => &["run", "--quiet", "--package", remote.package, "--", remote.name, "--json"],
        };
        assert_eq!(words, expected);
    }
}

fn xtask(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_xtask")).args(arguments).output().expect("xtask");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn the_help_lists_every_command() {
    let (code, help, errors) = xtask(&["--help"]);
    assert_eq!((code, &*errors), (Some(0), ""));
    for name in REMOTES.iter().map(|remote| remote.name).chain(["ci"]) {
        assert!(help.contains(&format!("\n  {name} ")), "`{name}` is not in:\n{help}");
    }
}

#[test]
fn a_usage_error_names_the_argument() {
    for (arguments, error) in [
        (&["benhc"][..], "error: unexpected argument `benhc`\n"),
        (&["ci", "--fast"], "error: unexpected argument `--fast`\n"),
        (&[], "error: missing command\n"),
    ] {
        let (code, out, errors) = xtask(arguments);
        assert_eq!((code, &*out), (Some(2), ""), "{arguments:?}");
        assert!(errors.starts_with(error) && errors.contains("Usage: cargo xtask COMMAND"), "{errors}");
    }
}
