//! Programs that run other programs, and options by which others do: `schema/shell/programs.json`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde::Deserialize;

/// Facts about programs.
#[derive(Debug, Default, Deserialize)]
struct ProgramFacts {
    /// Programs whose arguments or input are commands: no rule on programs can hold for what they run.
    runners: BTreeSet<String>,
    /// Refused arguments, by program, or by program and subcommand.
    options: BTreeMap<String, Vec<String>>,
}

static FACTS: LazyLock<ProgramFacts> =
    // A file of this package that is tested; without it, everything would count as a runner.
    LazyLock::new(|| serde_json::from_str(omen_schema::PROGRAMS).unwrap_or_default());

/// Whether a program runs others. Its folder and its version do not count: `/usr/bin/python3.12` is `python`.
pub(crate) fn is_runner(program: &str) -> bool {
    let name = name(program);
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').trim_end_matches('-');
    FACTS.runners.is_empty() || [name, bare].iter().any(|name| FACTS.runners.contains(*name))
}

/// Argument with which a program runs others, if there is one.
pub(super) fn refused<'f>(program: &str, arguments: &[String]) -> Option<&'f str> {
    let program = name(program);
    let subcommand = arguments.iter().find(|argument| !argument.starts_with('-'));
    let of_subcommand = subcommand.and_then(|subcommand| FACTS.options.get(&format!("{program} {subcommand}")));
    let options = [FACTS.options.get(program), of_subcommand];
    let mut refused = options.into_iter().flatten().flatten();
    refused.find(|option| arguments.iter().any(|argument| is_option(option, argument))).map(String::as_str)
}

/// Whether an argument is an option: also shortened, with its value, or among other letters.
fn is_option(option: &str, argument: &str) -> bool {
    if option.starts_with("--") {
        let name = argument.split('=').next().unwrap_or(argument);
        return name.len() > 2 && name.starts_with("--") && option.starts_with(name);
    }
    let mut letters = option.chars();
    if let (Some('-'), Some(letter), None) = (letters.next(), letters.next(), letters.next()) {
        return argument.starts_with('-') && !argument.starts_with("--") && argument.contains(letter);
    }
    argument == option
}

fn name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}
