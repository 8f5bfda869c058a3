//! `omen completions`: prints completion scripts for shells.

use std::fmt::Write as _;
use std::io::Write as _;

use clap::builder::PossibleValue;
use clap::{Arg, Command, CommandFactory as _};
use clap_complete::Shell;

use crate::args::Cli;
use crate::exit::{Exit, Failure};
use crate::output::Output;

pub(crate) fn run(shell: Shell, out: &mut Output) -> Result<Exit, Failure> {
    // The generator panics on write errors, so it writes to memory.
    let mut script = Vec::new();
    let mut command = Cli::command();
    clap_complete::generate(shell, &mut command, NAME, &mut script);
    if shell == Shell::Fish {
        let values = positional_values(&command, &mut Vec::new());
        script.extend_from_slice(values.as_bytes());
    }
    out.write_all(&script)?;
    out.flush()?;
    Ok(Exit::Clean)
}

/// Returns completions for positional arguments, one line per argument, which clap's generator for fish omits.
fn positional_values(command: &Command, path: &mut Vec<String>) -> String {
    let mut lines = String::new();
    for subcommand in command.get_subcommands() {
        path.push(subcommand.get_name().to_owned());
        for arg in subcommand.get_positionals() {
            let values = values(arg);
            if !values.is_empty() {
                let seen = path.iter().skip(1).map(|name| format!("; and __fish_seen_subcommand_from {name}"));
                let seen: String = seen.collect();
                let first = path.first().map_or("", String::as_str);
                let condition = format!("__fish_omen_using_subcommand {first}{seen}");
                let _ = writeln!(lines, "complete -c {NAME} -n \"{condition}\" -f -a \"{}\"", values.join("\n"));
            }
        }
        lines.push_str(&positional_values(subcommand, path));
        path.pop();
    }
    lines
}

/// Returns each value as `VALUE\t'HELP'`, or the value alone, to stand inside double quotes in fish.
fn values(arg: &Arg) -> Vec<String> {
    let value = |value: PossibleValue| {
        let help = value.get_help().map(|help| help.to_string().replace('\'', "\\'"));
        let help = help.map(|help| format!("\\t'{}'", escaped(&help))).unwrap_or_default();
        format!("{}{help}", escaped(value.get_name()))
    };
    arg.get_possible_values().into_iter().filter(|value| !value.is_hide_set()).map(value).collect()
}

/// Escapes a text for double quotes in fish, which expand variables and interpret some backslashes.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('$', "\\$").replace(['\n', '\t'], " ")
}

const NAME: &str = "omen";
