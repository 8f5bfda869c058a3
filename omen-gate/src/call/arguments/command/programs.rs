//! Programs that run other programs, and options that make other programs do so: `schema/shell/programs.json`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde::Deserialize;

/// Facts about programs, as `omen_schema::PROGRAMS` describes them.
#[derive(Debug, Default, Deserialize)]
struct ProgramFacts {
    runners: BTreeSet<String>,
    aliases: BTreeMap<String, String>,
    subcommands: BTreeMap<String, Subcommands>,
    options: BTreeMap<String, Vec<String>>,
    one_dash: BTreeSet<String>,
    dashless: BTreeSet<String>,
}

/// Subcommands of a program that run no other programs, and the options that may precede them.
#[derive(Debug, Deserialize)]
struct Subcommands {
    options: BTreeSet<String>,
    names: BTreeSet<String>,
}

/// Argument with which a program may run other programs.
pub(super) enum RefusedArgument<'a> {
    /// Option, or argument of another form, as the facts name it.
    Option(&'a str),
    /// Argument that is neither a known subcommand nor a known option before one.
    Unknown(&'a str),
}

static FACTS: LazyLock<ProgramFacts> =
    // The file is part of this package and tested; without it, everything would count as a runner.
    LazyLock::new(|| serde_json::from_str(omen_schema::PROGRAMS).unwrap_or_default());

/// Returns whether a program runs other programs, ignoring its folder and version: `/usr/bin/python3.12` is `python`.
pub(crate) fn is_runner(program: &str) -> bool {
    let name = name(program);
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').trim_end_matches('-');
    FACTS.runners.is_empty() || [name, bare].iter().any(|name| FACTS.runners.contains(*name))
}

/// Subcommands of a program that run no others; none if it takes arguments without a subcommand.
pub(in super::super) fn subcommands(program: &str) -> impl Iterator<Item = &'static str> {
    let program = name(program);
    let program = FACTS.aliases.get(program).map_or(program, String::as_str);
    FACTS.subcommands.get(program).into_iter().flat_map(|known| &known.names).map(String::as_str)
}

/// Returns the argument with which a program may run others, if there is one.
pub(super) fn refused<'a>(program: &str, arguments: &'a [String]) -> Option<RefusedArgument<'a>> {
    let program = name(program);
    let program = FACTS.aliases.get(program).map_or(program, String::as_str);
    let subcommand = arguments.iter().position(|argument| !argument.starts_with('-'));
    let named = subcommand.and_then(|at| arguments.get(at));
    let of_subcommand = named.and_then(|name| FACTS.options.get(&format!("{program} {name}")));
    let options = [FACTS.options.get(program), of_subcommand];
    let has_one_dash = FACTS.one_dash.contains(program);
    let letters = arguments.first().filter(|_| FACTS.dashless.contains(program)).map(|first| format!("-{first}"));
    let is_given = |option: &str| {
        let mut arguments = arguments.iter().chain(&letters);
        arguments.any(|argument| is_option(option, argument, has_one_dash))
    };
    let mut refused = options.into_iter().flatten().flatten();
    let option = refused.find(|option| is_given(option)).map(|option| match option.as_str() {
        "=" => "NAME=VALUE",
        "+" => "+NAME",
        option => option,
    });
    option.map(RefusedArgument::Option).or_else(|| {
        let known = FACTS.subcommands.get(program)?;
        let mut before = arguments.iter().take(subcommand.unwrap_or(arguments.len()));
        let unknown = before.find(|option| !known.options.contains(*option));
        unknown.or(named.filter(|name| !known.names.contains(*name))).map(|argument| RefusedArgument::Unknown(argument))
    })
}

/// Returns whether an argument is the option, including abbreviated, with its value attached, or among other letters.
fn is_option(option: &str, argument: &str, has_one_dash: bool) -> bool {
    let name = argument.split('=').next().unwrap_or(argument);
    let bare = name.trim_start_matches('-');
    match (option, option.strip_prefix("--"), option.strip_prefix('-')) {
        ("=", ..) => argument.contains('=') && !argument.starts_with('-'),
        ("+", ..) => argument.starts_with('+'),
        ("--", ..) | (_, None, None) => argument == option,
        (_, Some(long), _) => {
            // After one dash, a single letter is a separate option.
            let is_word = has_one_dash && name.starts_with('-') && (bare == long || bare.len() > 1);
            (is_word || name.starts_with("--")) && !bare.is_empty() && long.starts_with(bare)
        }
        (_, None, Some(word)) if word.chars().nth(1).is_some() => name.starts_with('-') && bare == word,
        (_, None, Some(letter)) => {
            argument.starts_with('-') && !argument.starts_with("--") && argument.contains(letter)
        }
    }
}

fn name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}
