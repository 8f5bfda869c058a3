//! The README shows what the command and the compiler really print.

use super::*;

const README: &str = include_str!("../../../README.md");
const MISSING_PERMIT: &str = include_str!("../../../omen-sdk/tests/ui/inv007_write_without_token.stderr");

/// The blocks of one language.
fn blocks(language: &str) -> Vec<&'static str> {
    let fence = format!("```{language}\n");
    README.split(fence.as_str()).skip(1).filter_map(|rest| rest.split("\n```").next()).collect()
}

#[test]
fn its_commands_print_what_it_shows() {
    let blocks = blocks("console");
    assert!(!blocks.is_empty(), "the README shows a command");
    for block in blocks {
        let (command, shown) = block.split_once('\n').expect("a command and its output");
        let args = command.strip_prefix("$ omen ").expect("a call of the command").split(' ');
        let run = run(omen(args).current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/..")));
        assert_eq!(run.stdout.trim_end(), shown, "{command}");
        assert_eq!(run.stderr, "", "{command}");
    }
}

#[test]
fn its_compile_error_is_that_of_rustc() {
    let error = blocks("text").into_iter().find(|block| block.starts_with("error[E")).expect("a compile error");
    // Numbers of lines, and notes that the README leaves out, are the only differences.
    let printed: Vec<_> =
        MISSING_PERMIT.lines().map(|line| line.trim_start_matches(|c: char| c.is_numeric()).trim()).collect();
    for line in error.lines() {
        assert!(printed.contains(&line.trim()), "rustc does not print `{line}`");
    }
}
