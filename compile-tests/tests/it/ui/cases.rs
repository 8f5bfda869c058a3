//! Illegal programs in `tests/ui` with their compile errors: reads, compiles and checks them.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use omen_testkit::{Need, programs};

/// An illegal program: its first line is `// RULE: what is wrong -> code of the error`.
pub(crate) struct Case {
    /// The name of the file, which describes the mistake.
    pub(crate) name: String,
    pub(crate) rule: String,
    code: String,
    source: String,
    /// The output of rustc.
    answer: String,
}

/// All of them.
pub(crate) struct Cases(Vec<Case>);

/// The paths that rustc prints before each name that a program has imported with `*`.
const IMPORTED: [&str; 2] = ["omen::", "omen_gate::"];

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui")
}

/// The names, without extension, of the files in a directory with an extension.
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

/// Compiles all of them, and compares the output of rustc.
pub(crate) fn compile() {
    let file = directory().join("TOOLCHAIN");
    let output = Command::new("rustc").arg("--version").output().expect("rustc");
    let toolchain = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let blessing = env::var_os("TRYBUILD").is_some_and(|what| what == "overwrite");
    if blessing {
        fs::write(&file, format!("{toolchain}\n")).expect("tests/ui/TOOLCHAIN");
    }
    let blessed = read(&file);
    if toolchain != blessed.trim() {
        return Need::Toolchain.skip(format_args!("tests/ui is from {}, and this is {toolchain}", blessed.trim()));
    }
    if env::var(FLAGS).is_ok_and(|flags| flags == flags_of_programs()) {
        // Nothing but `compile_fail`, for all of them together are then one call of cargo.
        return trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
    }
    let output = Command::new(env::current_exe().expect("this program"))
        .args(["--exact", "ui::illegal_programs_do_not_compile", "--nocapture"])
        .args(env::args().filter(|argument| argument.starts_with("trybuild=")))
        .env(FLAGS, flags_of_programs())
        .envs(programs::PROFILE)
        .output()
        .expect("this program");
    let [said, also] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(output.status.success() && said.contains("test result: ok. 1 passed"), "{said}{also}");
}

/// The variable from which cargo takes the flags of rustc, whatever else its caller says.
///
/// `trybuild` first compiles what the programs depend on, and then the programs, which have one flag more. For cargo these are
/// different flags, so that it would compile all dependencies once more. Therefore the test runs itself with one set of flags for
/// both: that of `omen_testkit::programs`, whose programs then have the same dependencies, too.
const FLAGS: &str = "CARGO_ENCODED_RUSTFLAGS";

fn flags_of_programs() -> String {
    programs::FLAGS.join("\u{1f}")
}

impl Cases {
    pub(crate) fn read() -> Self {
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
        Self(names(&directory, "rs").into_iter().map(case).collect())
    }

    pub(crate) fn are_small_and_named_after_their_rule(&self, is_rule: impl Fn(&str) -> bool) {
        for Case { name, rule, source, .. } in &self.0 {
            let prefix = rule.replace('-', "").to_lowercase() + "_";
            assert!(name.starts_with(&prefix), "{name}: the name does not begin with `{prefix}`");
            assert!(is_rule(rule), "{name}: there is no rule `{rule}`");
            let lines = source.lines().count();
            assert!(lines <= 15, "{name}: {lines} lines, and a case has at most 15");
        }
    }

    /// The rules are words.
    pub(crate) fn cover(&self, rules: &str) {
        for rule in rules.split_whitespace() {
            assert!(self.0.iter().any(|case| case.rule == rule), "no case of {rule}");
        }
    }

    pub(crate) fn are_answered_by_one_error_that_begins_with_the_rule(&self) {
        for case in &self.0 {
            let Case { name, rule, code, answer, .. } = case;
            let first = answer.lines().next().expect("an answer");
            let (kind, message) = first.split_once(": ").unwrap_or_else(|| panic!("{name}: no error"));
            let errors = answer.lines().filter(|line| line.starts_with("error")).count();
            assert_eq!(errors, 1, "{name}: one mistake gives one error");
            assert!(!answer.contains("\nwarning"), "{name}: expected one error and no warning");
            let expected = if code.starts_with("E0") { format!("error[{code}]") } else { "error".to_owned() };
            assert_eq!(kind, expected, "{name}: the error differs from the first line of the program");
            // Errors without a predicate have the words of rustc: a moved value, a private field.
            if matches!(code.as_str(), "E0277" | "E0080" | "macro") {
                let message = message.trim_start_matches("evaluation panicked: ");
                let codes = message.split_once(": ").map_or("", |(codes, _)| codes);
                let named = codes.split([' ', '(', ')']).any(|code| code == rule);
                assert!(named, "{name}: the message does not begin with {rule}: {message}");
            }
        }
    }

    pub(crate) fn are_answered_with_short_types_and_no_paths_of_a_machine(&self) {
        for case in &self.0 {
            let Case { name, answer, .. } = case;
            for line in answer.lines() {
                if let Some(place) = line.trim_start().strip_prefix("--> ") {
                    let ours = ["$", "tests/ui/"].iter().any(|start| place.starts_with(start));
                    assert!(ours, "{name}: a path of this machine: {place}");
                }
                // Lines of source code are not checked.
                let is_source = line.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ').starts_with('|');
                if is_source {
                    continue;
                }
                for ty in line.split('`').skip(1).step_by(2).filter(|text| is_type(text)) {
                    let length = IMPORTED.iter().fold(ty.to_owned(), |ty, path| ty.replace(path, "")).len();
                    assert!(length <= 60, "{name}: a type of {length} characters: {ty}");
                }
            }
        }
    }

    pub(crate) fn have_fixed_twins(&self) {
        let all: BTreeSet<_> = self.0.iter().map(|case| case.name.clone()).collect();
        let fixed = directory().join("fixed");
        let mut twins = names(&fixed, "rs");
        assert!(twins.remove("mod"));
        assert_eq!(twins, all);
        let list = read(&fixed.join("mod.rs"));
        let listed = list.lines().filter_map(|line| Some(line.strip_prefix("mod ")?.trim_end_matches(';').to_owned()));
        assert_eq!(listed.collect::<BTreeSet<_>>(), twins, "fixed/mod.rs lists all of them");
        for Case { name, rule, source, .. } in &self.0 {
            let twin = read(&fixed.join(format!("{name}.rs")));
            assert_ne!(*source, twin);
            assert!(twin.starts_with(&format!("// {rule}: ")), "{name}: the twin does not begin with its rule");
            let lines = twin.lines().count();
            assert!(lines <= 20, "{name}: the twin has {lines} lines, and may have 20");
        }
    }
}

pub(crate) fn no_answer_is_without_its_case() {
    assert_eq!(names(&directory(), "rs"), names(&directory(), "stderr"));
}

/// Whether a text in backticks is a type or a path, not code.
fn is_type(text: &str) -> bool {
    !text.contains(['(', '{', ';', '='])
}
