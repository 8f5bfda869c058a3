//! What `cargo xtask figures --build` measures, with a shell script for cargo.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::figures::build::{MEASURED, Measured, Size, measure};
use xtask::figures::{Bounded, Bounds, FIRST};

/// A repository with one commit, and a cargo that does what a script says in its clone.
fn world(script: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let git = |arguments: &[&str]| {
        let git = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
        let status = Command::new("git").args(git).args(arguments).current_dir(folder.path()).status();
        assert!(status.expect("git").success());
    };
    git(&["init", "--quiet", "repository"]);
    fs::write(folder.path().join("repository/committed"), "").expect("a file");
    git(&["-C", "repository", "add", "committed"]);
    git(&["-C", "repository", "commit", "--quiet", "--message", "Begin"]);
    fs::write(folder.path().join("repository/uncommitted"), "").expect("a file");
    let cargo = folder.path().join("cargo");
    let log = folder.path().join("log");
    fs::write(&cargo, format!("#!/bin/sh\necho \"$CARGO_TARGET_DIR $*\" >> {}\n{script}\n", log.display()))
        .expect("it");
    fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).expect("it");
    (folder, cargo)
}

fn command(name: &'static str, arguments: &'static [&'static str], goes_on: bool) -> Measured<'static> {
    Measured { name, arguments, goes_on, wall: Some(60), cpu: Some(60), crates: Some(2), sizes: &[] }
}

fn run(folder: &Path, cargo: &Path, commands: &[Measured<'_>]) -> (std::io::Result<Bounds>, String) {
    let mut log = Vec::new();
    let found = measure(cargo.as_os_str(), &folder.join("repository"), commands, &mut log);
    (found, String::from_utf8(log).expect("text"))
}

/// Compiles as many packages as there are `-v`, the first one twice, and refuses what is not a fresh clone.
const COMPILES: &str = r#"test -e committed && test ! -e uncommitted || exit 1
case $1 in
    fetch) exit 0 ;;
    build) test ! -e "$CARGO_TARGET_DIR" || exit 1 ;;
    test) test -e "$CARGO_TARGET_DIR/built" || exit 1 ;;
esac
mkdir -p "$CARGO_TARGET_DIR" && touch "$CARGO_TARGET_DIR/built"
echo "   Compiling a v1.0.0" >&2
for word in "$@"; do test "$word" != -v || n="$n." && echo "   Compiling a$n v1.0.0" >&2; done
echo "Compiling output"
echo "    Finished in 1s" >&2"#;

#[test]
fn each_command_is_measured_in_a_fresh_clone_or_goes_on() {
    let (folder, cargo) = world(COMPILES);
    let commands =
        [command("one", &["build", "-v"], false), command("two", &["test"], true), command("three", &["build"], false)];
    let (found, log) = run(folder.path(), &cargo, &commands);
    let figures = found.expect("it is measured");
    assert!(figures.are_kept(), "{figures}{log}");
    let crates: Vec<_> = figures.0.iter().filter(|figure| figure.what.ends_with(": crates")).map(|f| f.found).collect();
    assert_eq!(crates, [Some(2), Some(1), Some(1)], "{log}");
    let units: Vec<_> = figures.0.iter().take(3).map(|figure| figure.what.as_str()).collect();
    assert_eq!(units, ["one: wall s", "one: CPU s", "one: crates"]);
    assert!(log.contains("=== one: cargo build -v\n   Compiling a v1.0.0\n"), "{log}");
    // What was cloned and built is gone.
    let calls = fs::read_to_string(folder.path().join("log")).expect("the log");
    assert_eq!(
        calls.lines().filter_map(|line| line.split_once(' ')).map(|(_, call)| call).collect::<Vec<_>>(),
        ["fetch --locked", "build -v", "test", "build"]
    );
    for target in calls.lines().filter_map(|line| line.split(' ').next()) {
        assert!(!Path::new(target).parent().expect("a folder").exists(), "{target} is left");
    }
}

#[test]
fn what_is_above_its_bound_is_reported() {
    let (folder, cargo) = world(COMPILES);
    let (found, _) = run(folder.path(), &cargo, &[command("many", &["build", "-v", "-v"], false)]);
    let figures = found.expect("it is measured");
    assert!(!figures.are_kept(), "{figures}");
    let text = figures.to_string();
    assert!(
        text.lines().any(|line| line.starts_with("many: crates ") && line.ends_with("3        2  above the bound")),
        "{text}"
    );
    assert_eq!(text.matches("above the bound").count(), 1, "{text}");
    // CPU time is that of programs that the command has waited for, too.
    let (folder, cargo) = world("test $1 = fetch || sh -c 'i=0; while test $i -lt 200000; do i=$((i+1)); done'");
    let (found, _) = run(folder.path(), &cargo, &[Measured { cpu: Some(0), ..command("slow", &["build"], false) }]);
    assert!(!found.as_ref().expect("it is measured").are_kept(), "{found:?}");
}

#[test]
fn what_a_command_makes_is_weighed() {
    let makes = "test $1 = fetch || { mkdir -p $CARGO_TARGET_DIR/out && cd $CARGO_TARGET_DIR/out
        for name in a.tgz b.tgz; do head -c 1500 /dev/zero > $name; done; touch a.whl; }";
    let (folder, cargo) = world(makes);
    let size = |what, end, most| Size { what, folder: "out", end, most };
    let sizes = [size("packages", ".tgz", Some(2)), size("wheel", ".whl", Some(0))];
    let (found, log) = run(folder.path(), &cargo, &[Measured { sizes: &sizes, ..command("dist", &["dist"], false) }]);
    let Bounds(figures) = found.unwrap_or_else(|error| panic!("{error}: {log}"));
    let weighed: Vec<_> =
        figures.iter().skip(3).map(|figure| (&*figure.what, figure.found, figure.is_kept())).collect();
    assert_eq!(weighed, [("packages: KiB", Some(3), false), ("wheel: KiB", Some(0), true)]);
}

#[test]
fn a_command_that_fails_has_no_figures() {
    let (folder, cargo) = world("test $1 = fetch || { echo 'error: no' >&2; exit 101; }");
    let (found, log) = run(folder.path(), &cargo, &[command("one", &["build"], false)]);
    assert_eq!(found.expect_err("it failed").to_string(), "`cargo build` failed");
    assert!(log.contains("error: no"), "{log}");
    let (found, _) = run(folder.path(), Path::new("/there/is/no/cargo"), &[]);
    assert!(found.is_err());
    let (found, _) = run(&folder.path().join("nowhere"), &cargo, &[]);
    assert_eq!(found.expect_err("no repository").to_string(), "`git clone` failed");
}

#[test]
fn a_figure_without_a_bound_or_unknown_is_kept() {
    let figure = |found, bound| Bounded { what: "it".to_owned(), found, bound };
    assert!(figure(Some(3), Some(3)).is_kept() && figure(Some(9), None).is_kept() && figure(None, Some(3)).is_kept());
    assert!(!figure(Some(4), Some(3)).is_kept());
}

/// The README's commands are those that are measured.
#[test]
fn the_commands_of_the_readme_are_measured() {
    let (readme, first) = (include_str!("../../../README.md"), format!("cargo {}", FIRST.join(" ")));
    let written = readme.lines().find(|line| line.starts_with("cargo run")).expect("a first command");
    assert!(written == first || written.starts_with(&format!("{first} ")), "`{written}` is not `{first}`");
    assert!(readme.lines().any(|line| line == "cargo xtask test" || line.starts_with("cargo xtask test  ")));
    assert!(MEASURED.iter().any(|measured| measured.arguments == FIRST));
    let second = MEASURED.iter().find(|measured| measured.name == "second command").expect("it is measured");
    let measured = format!("cargo {}", second.arguments.join(" "));
    assert!(readme.contains(&format!("\n{measured} ")), "`{measured}` is measured, but is not in the README");
    assert!(MEASURED.iter().any(|measured| measured.arguments == ["xtask", "test"]));
}
