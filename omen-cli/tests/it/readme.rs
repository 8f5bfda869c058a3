//! The README and the page on CI show what the command and the compiler really print. `OMEN_BLESS=1` updates the output of the
//! command.

use super::*;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
const MISSING_PERMIT: &str = include_str!("../../../omen-sdk/tests/ui/inv007_write_without_token.stderr");

fn readme() -> String {
    fs::read_to_string(Path::new(ROOT).join("README.md")).expect("the README")
}

/// The blocks of one language.
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

/// What the README begins with: the directories have other JSON beside the logs, which is left out.
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
    // The README leaves out the numbers of lines and some notes.
    let printed: Vec<_> =
        MISSING_PERMIT.lines().map(|line| line.trim_start_matches(|c: char| c.is_numeric()).trim()).collect();
    for line in error.lines() {
        assert!(printed.contains(&line.trim()), "rustc does not print `{line}`");
    }
}
