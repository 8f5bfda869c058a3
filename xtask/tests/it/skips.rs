//! No test is skipped but by `omen-testkit`, which fails where `OMEN_REQUIRE` says so.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use omen_testkit::{Need, REQUIRE, SKIPPED, parse, required};
use xtask::python::TOOLS;

use crate::hermetic::{is_test, root, sources};

/// Variables that tests read, and that skip nothing. Those with `_TEST_` are for the tests themselves: what a process that a test
/// starts is to do, and how often something is repeated.
const OTHERS: [&str; 9] = [
    // What a test writes instead of comparing it.
    "OMEN_BLESS",
    "OMEN_RELEASE",
    "TRYBUILD",
    // A guard of a tool server is started.
    "OMEN_GATE_GUARD",
    // With which the test of the illegal programs runs itself.
    "CARGO_ENCODED_RUSTFLAGS",
    // Of cargo, and of the system.
    "CARGO_MANIFEST_DIR",
    "PATH",
    "RUSTDOC",
    // The function of `faults.rs` that reads a number of repetitions.
    "variable",
];

/// All sources of tests, by path; of a source with unit tests, these alone.
fn tests() -> BTreeMap<PathBuf, String> {
    let mut paths = Vec::new();
    sources(&root(), &mut paths);
    let read = |path: PathBuf| (fs::read_to_string(&path).expect("a source"), path);
    let all = paths.into_iter().map(read).filter(|(source, path)| is_test(path, source));
    let is_in_tests = |path: &Path| path.components().any(|part| part.as_os_str() == "tests");
    all.map(|(source, path)| match source.find("#[cfg(test)]").filter(|_| !is_in_tests(&path)) {
        Some(at) => (path, source[at..].to_owned()),
        None => (path, source),
    })
    .collect()
}

/// The variables that a source reads: the words between the parentheses.
fn variables(source: &str) -> Vec<&str> {
    let reads = [concat!("env::var", "("), concat!("env::var_os", "(")];
    let of = |read: &'static str| source.match_indices(read).map(move |(at, _)| &source[at + read.len()..]);
    reads.into_iter().flat_map(of).filter_map(|rest| rest.split(')').next()).map(str::trim).collect()
}

/// The value of a constant of type `&str` in a source.
fn constant<'s>(source: &'s str, name: &str) -> Option<&'s str> {
    source.split_once(&format!("const {name}: &str = \""))?.1.split('"').next()
}

#[test]
fn no_test_decides_by_the_environment_whether_it_is_skipped() {
    let mut seen = BTreeSet::new();
    let tests = tests();
    for (path, source) in &tests {
        for word in variables(source) {
            let quoted = word.strip_prefix('"').and_then(|word| word.strip_suffix('"'));
            let variable = quoted.or_else(|| constant(source, word)).unwrap_or(word);
            let is_known = variable.starts_with("OMEN_") && variable.contains("_TEST_") || OTHERS.contains(&variable);
            assert!(is_known, "{}: a test reads `{variable}`; use `omen_testkit::Need` to skip", path.display());
            seen.insert(variable.to_owned());
        }
        assert!(!source.contains(concat!("#[", "ignore")), "{}: a test is ignored", path.display());
    }
    for variable in OTHERS {
        assert!(seen.contains(variable), "no test reads `{variable}`");
    }
}

#[test]
fn every_need_of_a_test_is_used() {
    let tests = tests();
    for need in Need::ALL {
        let used = format!("Need::{need:?}");
        let is_used =
            |source: &String| source.contains(&used) || need == Need::Offline && source.contains("::offline()");
        assert!(tests.values().any(is_used), "no test has a need for {}", need.name());
    }
}

/// A name that is misspelled would require nothing.
#[test]
fn the_list_of_this_run_is_valid() {
    let _ = required();
    assert_eq!(parse(""), Ok(BTreeSet::new()));
    assert_eq!(parse("all"), Ok(Need::of_every_run().collect()));
    assert_eq!(parse("all,agents"), Ok(BTreeSet::from(Need::ALL)));
    assert_eq!(parse("nats, browser"), Ok(BTreeSet::from([Need::Browser, Need::Nats])));
    let error = parse("nats,browsr").expect_err("an unknown name");
    assert!(error.starts_with("unknown name `browsr`; expected `all` or some of agents, "), "{error}");
}

/// In a process of its own, in which `OMEN_REQUIRE` and the variable of the browser are as a test wants.
#[test]
fn a_need_that_is_required_and_missing_fails_the_test() {
    const ROLE: &str = "OMEN_TEST_NEEDS_A_BROWSER";
    let name = "skips::a_need_that_is_required_and_missing_fails_the_test";
    if std::env::var_os(ROLE).is_some() {
        return assert_eq!(
            Need::Browser.path(),
            std::env::var_os(ROLE).map(PathBuf::from).filter(|path| path != Path::new("-"))
        );
    }
    let folder = tempfile::tempdir().expect("a folder");
    let skipped = folder.path().join("skipped");
    let run = |required: &str, browser: Option<&str>| {
        fs::write(&skipped, "").expect("a file");
        let mut test = Command::new(std::env::current_exe().expect("this program"));
        test.args(["--exact", name])
            .env(ROLE, browser.unwrap_or("-"))
            .env(REQUIRE, required)
            .env(SKIPPED, &skipped)
            .env_remove("OMEN_BROWSER");
        test.envs(browser.map(|browser| ("OMEN_BROWSER", browser)));
        let output = test.output().expect("it starts");
        let said = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&said).into_owned())
    };
    let help = "OMEN_BROWSER is not set; run `eval \"$(.ci/install browser)\"`";
    for (required, browser, passes, says) in [
        ("", None, true, format!("skipped {name}: {help}")),
        ("nats", None, true, format!("skipped {name}: {help}")),
        ("all", Some("/a/browser"), true, "1 passed".to_owned()),
        ("all", None, false, format!("`browser` is required by OMEN_REQUIRE: {help}")),
        ("nats,browser", None, false, format!("`browser` is required by OMEN_REQUIRE: {help}")),
        ("all", Some(""), false, format!("`browser` is required by OMEN_REQUIRE: {help}")),
        ("browsr", None, false, "OMEN_REQUIRE: unknown name `browsr`".to_owned()),
    ] {
        let (passed, said) = run(required, browser);
        assert!(passed == passes && said.contains(&says), "{required} {browser:?}: {said}");
        // A runner that hides what is printed reads it there.
        let written = fs::read_to_string(&skipped).expect("text");
        let line = says.strip_prefix("skipped ").map_or(String::new(), |line| format!("{line}\n"));
        assert_eq!(written, line, "{required} {browser:?}");
    }
}

#[test]
fn every_tool_that_tests_need_can_be_installed() {
    let output = Command::new("sh").args(["-c", ".ci/install --list"]).current_dir(root()).output().expect("bash");
    let listed = String::from_utf8(output.stdout).expect("text");
    let tools = Need::ALL.into_iter().filter_map(|need| Some(format!("{} {}", need.name(), need.variable()?)));
    assert_eq!(listed.lines().map(str::to_owned).collect::<Vec<_>>(), tools.collect::<Vec<_>>());
    // `cargo xtask python` reads its variable itself, since it runs outside the tests.
    assert_eq!(Need::PythonPackage.variable(), Some(TOOLS));
}
