//! The README and the pages show the real output of the command and the compiler, and name the existing commands. `OMEN_BLESS=1`
//! updates the output of the command.

use std::collections::BTreeSet;

use super::*;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
const MISSING_PERMIT: &str = include_str!("../../../compile-tests/tests/ui/inv007_write_without_token.stderr");

/// The log whose directive the README shows as a packet.
const LOG: &str = include_str!("../../../schema/examples/invalid/e4-token-expired.jsonl");

fn page(name: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(name)).expect("the page")
}

fn readme() -> String {
    page("README.md")
}

/// Returns the blocks of one language.
fn blocks<'a>(readme: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("```{language}\n");
    readme.split(fence.as_str()).skip(1).filter_map(|rest| rest.split("\n```").next()).collect()
}

#[test]
fn commands_print_what_is_shown() {
    for page in ["README.md", "docs/ci.md", "docs/configuration.md"] {
        let text = fs::read_to_string(Path::new(ROOT).join(page)).expect("the page");
        let blocks = blocks(&text, "console");
        assert!(!blocks.is_empty(), "{page} shows a command");
        let mut blessed = text.clone();
        for block in blocks {
            let (command, shown) = block.split_once('\n').expect("a command and its output");
            let args = command.strip_prefix("$ omen ").expect("a call of the command").split(' ');
            let run = run(omen(args).current_dir(ROOT));
            assert_eq!(run.stderr, "", "{command}");
            if std::env::var_os("OMEN_BLESS").is_some() {
                blessed = blessed.replace(block, &format!("{command}\n{}", run.stdout.trim_end()));
            } else {
                assert_eq!(run.stdout.trim_end(), shown, "{command}");
            }
        }
        if blessed != text {
            fs::write(Path::new(ROOT).join(page), blessed).expect("the page is written");
        }
    }
}

/// A README is read to its end only if it is short.
#[test]
fn it_has_at_most_200_lines() {
    assert!(readme().lines().count() <= 200);
}

#[test]
fn its_packet_is_the_one_of_the_finding_below_it() {
    let readme = readme();
    let [shown] = blocks(&readme, "json")[..] else { panic!("the README shows one packet") };
    let shown: Value = serde_json::from_str(shown).unwrap();
    let rejected = serde_json::from_str::<Value>(LOG.lines().nth(5).unwrap()).unwrap();
    assert_eq!(shown, rejected);
}

/// The first call of the command in the README.
#[test]
fn its_first_log_has_no_errors() {
    let readme = readme();
    let line = readme.lines().find_map(|line| line.strip_prefix("cargo run -p omen-cli --bin omen -- ")).unwrap();
    let args = line.split('#').next().unwrap().split_whitespace();
    let run = run(omen(args).current_dir(ROOT));
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert!(run.stdout.contains(" 0 errors, ") && !run.stdout.contains(" 0 warnings"), "{}", run.stdout);
}

/// Returns the subcommands in a help, without `help`.
fn subcommands(args: &[&str]) -> Vec<String> {
    let run = run(omen(args.iter().copied()).arg("-h"));
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let (_, list) = run.stdout.split_once("\nCommands:\n").expect("subcommands");
    let names = list.lines().take_while(|line| !line.is_empty());
    // A continuation line is indented further.
    let names = names.filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')));
    names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").map(str::to_owned).collect()
}

/// Every subcommand, and no other, is in a table of the page on commands, and in the README with those of its group.
#[test]
fn every_subcommand_is_named() {
    let (readme, commands) = (readme(), page("docs/commands.md"));
    let named = |text: &str, words: usize| -> BTreeSet<String> {
        let rows = text.lines().filter(|line| line.starts_with("| "));
        let calls = rows.flat_map(|line| line.split("`omen ").skip(1));
        calls
            .map(|call| call.split('`').next().unwrap_or_default().split(' ').take(words).collect::<Vec<_>>().join(" "))
            .collect()
    };
    // The subcommands of the feature `nats`, which this build may lack.
    let fleet = ["worker", "publish", "tail"];
    let mut top: BTreeSet<String> = subcommands(&[]).into_iter().collect();
    top.extend(fleet.map(str::to_owned));
    assert_eq!(named(&readme, 1), top);
    assert_eq!(named(&commands, 1), top);
    for group in ["gate", "audit"] {
        let expected: BTreeSet<_> = subcommands(&[group]).into_iter().map(|name| format!("{group} {name}")).collect();
        let listed = named(&commands, 2).into_iter().filter(|call| call.starts_with(&format!("{group} "))).collect();
        assert_eq!(expected, listed);
    }
}

/// The directories of examples have other JSON beside the logs, which is skipped.
#[test]
fn the_directories_of_examples_can_be_checked() {
    for (folder, code) in [("valid", 0), ("invalid", 1)] {
        let run = run(omen(["check", "--format", "json", &format!("schema/examples/{folder}")]).current_dir(ROOT));
        assert_eq!((run.code, run.stderr.as_str()), (code, ""), "{folder}");
        let logs =
            omen_schema::EXAMPLES.iter().filter(|(path, _)| path.starts_with(folder) && path.ends_with(".jsonl"));
        assert_eq!(json(&run).1["files"].as_u64(), Some(logs.count() as u64), "{folder}");
    }
}

/// The page on CI shows one result of SARIF; the whole report has all rules.
#[test]
fn the_result_is_that_of_the_report() {
    let page = Path::new(ROOT).join("docs/ci.md");
    let text = fs::read_to_string(&page).expect("the page");
    let [shown] = blocks(&text, "json")[..] else { panic!("the page shows one result") };
    let example = "schema/examples/invalid/e4-token-expired.jsonl";
    let run = run(omen(["check", "--format", "sarif", example]).current_dir(ROOT));
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    let result = serde_json::to_string_pretty(&report["runs"][0]["results"][0]).unwrap();
    if std::env::var_os("OMEN_BLESS").is_some() {
        fs::write(&page, text.replace(shown, &result)).expect("the page is written");
    } else {
        assert_eq!(serde_json::from_str::<Value>(shown).unwrap(), report["runs"][0]["results"][0]);
    }
}

#[test]
fn its_compile_error_is_that_of_rustc() {
    let readme = readme();
    let error =
        blocks(&readme, "text").into_iter().find(|block| block.starts_with("error[E")).expect("a compile error");
    // The README omits line numbers and some notes, and keeps the order.
    let without_number = |line: &str| line.trim_start_matches(|c: char| c.is_numeric()).trim().to_owned();
    let mut printed = MISSING_PERMIT.lines().map(without_number);
    for line in error.lines() {
        assert!(printed.any(|printed| printed == line.trim()), "rustc does not print `{line}` here");
    }
}
