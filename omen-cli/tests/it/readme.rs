//! The README shows what the command and the compiler really print. `OMEN_BLESS=1` updates the output of the command.

use super::*;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
const MISSING_PERMIT: &str = include_str!("../../../omen-sdk/tests/ui/inv007_write_without_token.stderr");

fn readme() -> String {
    page("README.md")
}

fn page(path: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(path)).expect("a page")
}

/// The blocks of one language.
fn blocks<'a>(readme: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("```{language}\n");
    readme.split(fence.as_str()).skip(1).filter_map(|rest| rest.split("\n```").next()).collect()
}

#[test]
fn its_commands_print_what_it_shows() {
    prints_what_it_shows("README.md");
}

#[test]
fn the_commands_of_a_page_print_what_it_shows() {
    prints_what_it_shows("docs/configuration.md");
}

#[track_caller]
fn prints_what_it_shows(path: &str) {
    let readme = page(path);
    let blocks = blocks(&readme, "console");
    assert!(!blocks.is_empty(), "{path} shows a command");
    let mut blessed = readme.clone();
    for block in blocks {
        let (command, shown) = block.split_once('\n').unwrap_or((block, ""));
        let args = command.strip_prefix("$ omen ").expect("a call of the command").split(' ');
        let run = run(omen(args).current_dir(ROOT));
        assert_eq!(run.stderr, "", "{command}");
        if std::env::var_os("OMEN_BLESS").is_some() {
            blessed = blessed.replace(block, &format!("{command}\n{}", run.stdout.trim_end()));
        } else {
            assert_eq!(run.stdout.trim_end(), shown, "{command}");
        }
    }
    if blessed != readme {
        fs::write(Path::new(ROOT).join(path), blessed).expect("the page is written");
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
