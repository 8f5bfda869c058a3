//! `omen explain CODE --rust`: the programs that break a rule and do not compile.

use std::collections::BTreeMap;

use omen::Code;
use omen_gate::GateCode;

use super::*;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Folder of the programs.
const FOLDER: &str = "compile-tests/tests/ui";

/// Returns the names of all programs, by code.
fn programs() -> BTreeMap<String, Vec<String>> {
    let mut programs: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for entry in fs::read_dir(Path::new(ROOT).join(FOLDER)).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            let source = read(&format!("{FOLDER}/{name}.rs"));
            let (code, _) = source.strip_prefix("// ").and_then(|rest| rest.split_once(": ")).expect("a code");
            programs.entry(code.to_owned()).or_default().push(name);
        }
    }
    programs
}

fn codes() -> impl Iterator<Item = (&'static str, &'static str)> {
    let packets = Code::ALL.iter().map(|code| (code.as_str(), code.info().title));
    packets.chain(GateCode::ALL.iter().map(|code| (code.as_str(), code.title())))
}

fn explained(code: &str) -> String {
    let run = run(&mut omen(["explain", code, "--rust"]));
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{code}");
    run.stdout
}

/// Returns a source as it is printed: indented, without `main`.
fn printed(source: &str) -> String {
    textwrap::indent(source.trim_end().trim_end_matches("fn main() {}").trim_end(), "  ") + "\n"
}

#[test]
fn every_program_is_reachable_by_its_code() {
    let mut programs = programs();
    let total: usize = programs.values().map(Vec::len).sum();
    assert!(total > 300, "{total} programs");
    for (code, title) in codes() {
        let Some(cases) = programs.remove(code) else { continue };
        let text = explained(code);
        assert!(text.starts_with(&format!("{code}: {title}\n\n{} program", cases.len())), "{text}");
        assert_eq!(text.matches("\nProgram ").count(), cases.len(), "{code}");
        for name in cases {
            let fixed = read(&format!("{FOLDER}/fixed/{name}.rs"));
            let (first, fixed) = fixed.split_once('\n').expect("lines");
            let (_, fix) = first.split_once(": ").expect("a fix");
            let illegal = printed(&read(&format!("{FOLDER}/{name}.rs")));
            let error = printed(&read(&format!("{FOLDER}/{name}.stderr")));
            let part = format!("\n{illegal}\nError\n{error}\nFixed: {fix}\n{}", printed(fixed));
            assert!(text.contains(&part), "{name} is not printed for {code}:\n{part}\n{text}");
        }
    }
    assert!(programs.is_empty(), "codes that the command does not know: {programs:?}");
}

#[test]
fn a_code_without_programs_is_reported() {
    let programs = programs();
    let mut without = 0;
    for (code, title) in codes().filter(|(code, _)| !programs.contains_key(*code)) {
        let text = explained(code);
        let said = match code {
            "E5" => "INV-009 is the same rule: `omen explain INV-009 --rust` prints its programs.",
            _ => "No program in the tests fails to compile because of this rule.",
        };
        assert_eq!(text, format!("{code}: {title}\n\n{said}\n"));
        without += 1;
    }
    assert!(without >= 2, "E5 and LAYER have none");
}

#[test]
fn what_has_no_programs_is_a_usage_error() {
    for (args, error) in [
        (
            &["explain", "D29", "--rust"][..],
            "D29 is a decision; `--rust` expects the code of a rule, such as E4 or PG-3",
        ),
        (&["explain", "E4", "--rust", "--example", "fixed"], "'--rust' cannot be used with '--example <WHICH>'"),
    ] {
        let run = run(&mut omen(args.iter().copied()));
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{args:?}");
        assert!(run.stderr.contains(error), "{}", run.stderr);
    }
}
