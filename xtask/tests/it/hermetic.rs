//! T1: no test starts an installed program that opens something or leaves something behind.

use std::fs;
use std::path::{Path, PathBuf};

/// Programs that tests may start by name; all others are built or installed for the tests.
/// Three of the names belong to no program, and `node` and `python3` run what `.ci/install` installs.
const PROGRAMS: [&str; 17] = [
    "./there-is-no-such-program",
    "/bin/sh",
    "/no/such/program",
    "git",
    "kill",
    "mkfifo",
    "node",
    "npm",
    "python3",
    "rustc",
    "script",
    "server",
    "setsid",
    "sh",
    "sleep",
    "strip",
    "unshare",
];

/// Packages whose purpose is to open files and addresses in another program.
const OPENERS: [&str; 4] = ["open", "opener", "opn", "webbrowser"];

/// What precedes the name of a program in a source.
const STARTS: [&str; 2] = ["Command::new(\"", "Launch::new(\""];

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The Rust files of the repository, without build folders.
pub(crate) fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() && !name.starts_with('.') && name != "target" {
            sources(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            into.push(path);
        }
    }
}

/// Whether a source has tests.
pub(crate) fn is_test(path: &Path, source: &str) -> bool {
    path.components().any(|part| part.as_os_str() == "tests") || source.contains("#[cfg(test)]")
}

/// The programs that a source starts by name.
fn started(source: &str) -> Vec<&str> {
    let named = |start: &&'static str| {
        let start = *start;
        source.match_indices(start).filter_map(move |(at, _)| source.get(at + start.len()..)?.split('"').next())
    };
    STARTS.iter().flat_map(named).collect()
}

#[test]
fn no_test_opens_a_browser() {
    let mut paths = Vec::new();
    sources(&root(), &mut paths);
    let own = Path::new(file!()).file_name();
    let mut seen = 0;
    for path in paths.iter().filter(|path| path.file_name() != own) {
        let source = fs::read_to_string(path).expect("a source");
        for program in started(&source).into_iter().filter(|_| is_test(path, &source)) {
            seen += 1;
            assert!(PROGRAMS.contains(&program), "{}: a test starts `{program}`", path.display());
        }
    }
    assert!(seen >= PROGRAMS.len(), "only {seen} programs were found");
}

#[test]
fn nothing_that_opens_files_or_addresses_is_linked() {
    let lock = fs::read_to_string(root().join("Cargo.lock")).expect("the lock file");
    let names: Vec<_> = lock.lines().filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"')).collect();
    assert!(names.contains(&"serde_json"), "the lock file was not read");
    for opener in OPENERS {
        assert!(!names.contains(&opener), "`{opener}` opens other programs");
    }
}

#[test]
fn programs_are_found_by_name() {
    let source =
        concat!("std::process::Command::new", "(\"open\").arg(x); Launch::new", "(\"/bin/x\"); Command::new(y)");
    assert_eq!(started(source), ["open", "/bin/x"]);
}
