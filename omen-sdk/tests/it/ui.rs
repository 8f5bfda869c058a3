//! Illegal programs do not compile, and what rustc says of each stands beside it.
//!
//! The answers hold for one compiler, which is named in `tests/ui/TOOLCHAIN`. To write them anew, after a
//! change of a message or of the compiler, run `TRYBUILD=overwrite cargo test -p omen-sdk --test it ui::illegal`.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// An illegal program: its first line is `// RULE: what is wrong -> code of the error`.
struct Case {
    /// The file's name, which tells the mistake.
    name: String,
    rule: String,
    code: String,
    source: String,
    /// What rustc says.
    answer: String,
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui")
}

/// Names, without extension, of the files in a directory that have an extension.
fn names(directory: &Path, extension: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension() == Some(OsStr::new(extension)))
        .map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned())
        .collect()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn cases() -> Vec<Case> {
    let directory = directory();
    let case = |name: String| {
        let source = read(&directory.join(format!("{name}.rs")));
        let answer = read(&directory.join(format!("{name}.stderr")));
        let head = source.lines().next().and_then(|line| {
            let (what, code) = line.strip_prefix("// ")?.rsplit_once(" -> ")?;
            let (rule, what) = what.split_once(": ")?;
            (!what.is_empty()).then(|| (rule.to_owned(), code.to_owned()))
        });
        let (rule, code) = head.unwrap_or_else(|| panic!("{name}: the first line is not `// RULE: what -> code`"));
        Case { name, rule, code, source, answer }
    };
    names(&directory, "rs").into_iter().map(case).collect()
}

#[test]
fn illegal_programs_do_not_compile() {
    let file = directory().join("TOOLCHAIN");
    let output = Command::new("rustc").arg("--version").output().expect("rustc");
    let toolchain = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let blessing = std::env::var_os("TRYBUILD").is_some_and(|what| what == "overwrite");
    if blessing {
        fs::write(&file, format!("{toolchain}\n")).expect("tests/ui/TOOLCHAIN");
    }
    let blessed = read(&file);
    if toolchain != blessed.trim() {
        println!(
            "skipped: each compiler words its errors in its own way, and those in tests/ui are of {}; this is {toolchain}",
            blessed.trim()
        );
        return;
    }
    // Nothing but `compile_fail`, for all of them together are then one call of cargo.
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}

#[test]
fn cases_are_small_and_named_after_their_rule() {
    for Case { name, rule, source, .. } in cases() {
        let prefix = rule.replace('-', "").to_lowercase() + "_";
        assert!(name.starts_with(&prefix), "{name}: the name does not begin with `{prefix}`");
        assert!(rule.parse::<omen::Code>().is_ok(), "{name}: there is no rule `{rule}`");
        let lines = source.lines().count();
        assert!(lines <= 15, "{name}: {lines} lines, and a case has at most 15");
    }
}

#[test]
fn cases_cover_every_rule_that_types_can_hold() {
    let covered: BTreeSet<String> = cases().into_iter().map(|case| case.rule).collect();
    // INV-005 is about what an episode has used: it is known at run time only. E5 is INV-009.
    for rule in "E1 E2 E3 E4 E6 E7 FSM SCHEMA INV-001 INV-002 INV-003 INV-004 INV-006 INV-007 INV-008 INV-009 INV-010 \
                 INV-011 INV-012"
        .split(' ')
    {
        assert!(covered.contains(rule), "no case of {rule}");
    }
}

#[test]
fn every_answer_is_one_error_that_begins_with_its_rule() {
    for Case { name, rule, code, answer, .. } in cases() {
        let first = answer.lines().next().expect("an answer");
        let (kind, message) = first.split_once(": ").unwrap_or_else(|| panic!("{name}: no error"));
        let errors = answer.lines().filter(|line| line.starts_with("error")).count();
        assert_eq!(errors, 1, "{name}: one mistake gives one error");
        assert!(!answer.contains("\nwarning"), "{name}: it is to be wrong in one way only");
        let expected = if code.starts_with("E0") { format!("error[{code}]") } else { "error".to_owned() };
        assert_eq!(kind, expected, "{name}: another error than its first line says");
        // What no predicate is asked for, rustc says in its own words: what was moved, what is private.
        if matches!(code.as_str(), "E0277" | "E0080" | "macro") && name != WORDS_OF_BON {
            let message = message.trim_start_matches("evaluation panicked: ");
            let codes = message.split_once(": ").map_or("", |(codes, _)| codes);
            let named = codes.split([' ', '(', ')']).any(|code| code == rule);
            assert!(named, "{name}: the message does not begin with {rule}: {message}");
        }
    }
}

#[test]
fn answers_have_short_types_and_no_paths_of_a_machine() {
    for Case { name, answer, .. } in cases() {
        for line in answer.lines() {
            if let Some(place) = line.trim_start().strip_prefix("--> ") {
                let ours = place.starts_with('$') || place.starts_with("tests/ui/");
                assert!(ours, "{name}: the path of a machine: {place}");
            }
            // A line of source code is as its author wrote it.
            let is_source = line.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ').starts_with('|');
            if is_source || name == WORDS_OF_BON {
                continue;
            }
            for ty in line.split('`').skip(1).step_by(2).filter(|text| is_type(text)) {
                // rustc puts the crate before each name that a program has imported with `*`.
                let length = ty.replace("omen::", "").len();
                assert!(length <= 60, "{name}: a type of {length} characters: {ty}");
            }
        }
    }
}

/// Whether a text in backquotes is a type or a path, and no code.
fn is_type(text: &str) -> bool {
    !text.contains(['(', '{', ';', '='])
}

/// The builders of packets are made by the crate bon, and its words are its own.
const WORDS_OF_BON: &str = "schema_packet_without_member";

#[test]
fn no_answer_is_without_its_case() {
    assert_eq!(names(&directory(), "rs"), names(&directory(), "stderr"));
}

#[test]
fn every_case_has_a_mended_twin() {
    let mended = directory().join("mended");
    let mut twins = names(&mended, "rs");
    assert!(twins.remove("mod"));
    assert_eq!(twins, names(&directory(), "rs"));
    let list = read(&mended.join("mod.rs"));
    let listed = list.lines().filter_map(|line| Some(line.strip_prefix("mod ")?.trim_end_matches(';').to_owned()));
    assert_eq!(listed.collect::<BTreeSet<_>>(), twins, "mended/mod.rs lists all of them");
    for Case { name, rule, source, .. } in cases() {
        let twin = read(&mended.join(format!("{name}.rs")));
        assert_ne!(source, twin);
        assert!(twin.starts_with(&format!("// {rule}: ")), "{name}: the twin does not begin with its rule");
        let lines = twin.lines().count();
        assert!(lines <= 20, "{name}: the twin has {lines} lines, and may have 20");
    }
}
