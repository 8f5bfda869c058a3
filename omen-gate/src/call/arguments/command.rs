//! Rule on shell commands: which programs a command runs, with which arguments and redirections.
//!
//! The text of a command is not what runs: a shell expands and splits it first. Only commands that every POSIX shell reads alike
//! are judged: simple commands in pipelines, lists and subshells, made of words without expansions. Everything else is refused.

mod line;
mod programs;
mod tokens;

use std::fmt;
use std::path::Path;

use serde_json::Value;

use super::path::FolderRule;
use super::pattern::Pattern;
use super::types::ValueTypes;
use super::violation::RefusalReason;
use crate::base::bounded;
use line::{Redirect, SimpleCommand};
use programs::RefusedArgument;
pub(crate) use programs::is_runner;
pub(super) use programs::subcommands;

/// Programs that a command may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommandRule {
    /// Programs as written in a command.
    pub(crate) programs: Vec<String>,
    /// Pattern that each argument must match.
    pub(crate) argument: Option<Pattern>,
    /// Folders of files that output may be redirected to and input read from.
    pub(crate) redirect: Option<FolderRule>,
}

impl CommandRule {
    pub(super) fn judge(&self, value: &Value, folder: &Path) -> Result<(), RefusalReason> {
        let Value::String(text) = value else { return Err(RefusalReason::other_type(ValueTypes::STRING, value)) };
        let commands = line::parse(text).map_err(|why| RefusalReason::new(why, PLAIN))?;
        commands.iter().try_for_each(|command| self.judge_command(command, folder))
    }

    fn judge_command(&self, command: &SimpleCommand, folder: &Path) -> Result<(), RefusalReason> {
        let Some((program, arguments)) = command.words.split_first() else {
            return Err(RefusalReason::new("a part of the command has no program", PLAIN));
        };
        if !self.programs.contains(program) {
            let help = format!("run only {}", self.listed());
            return Err(RefusalReason::new("it runs a program that is not listed", help));
        }
        if let Some(argument) = programs::refused(program, arguments) {
            return Err(refused(argument, &bounded(program)));
        }
        if let Some(pattern) = &self.argument {
            arguments.iter().try_for_each(|argument| pattern.judge(&Value::from(argument.as_str())))?;
        }
        command.redirects.iter().try_for_each(|redirect| self.judge_redirect(redirect, folder))
    }

    fn judge_redirect(&self, redirect: &Redirect, folder: &Path) -> Result<(), RefusalReason> {
        match (redirect, &self.redirect) {
            (Redirect::Descriptor, _) => Ok(()),
            (Redirect::File(file), _) if DEVICES.contains(&file.as_str()) => Ok(()),
            (Redirect::File(file), Some(folders)) => folders.judge(&Value::from(file.as_str()), folder),
            (Redirect::File(_), None) => {
                Err(RefusalReason::new("it redirects to or from a file", "leave the redirection out"))
            }
        }
    }

    fn listed(&self) -> String {
        bounded(&self.programs.iter().map(|program| format!("`{program}`")).collect::<Vec<_>>().join(", "))
    }
}

fn refused(argument: RefusedArgument<'_>, program: &str) -> RefusalReason {
    match argument {
        RefusedArgument::Option(option) => RefusalReason::new(
            format!("`{option}` makes `{program}` run other programs or write files"),
            format!("omit `{option}`, including its abbreviated forms"),
        ),
        RefusedArgument::Unknown(argument) => RefusalReason::new(
            format!("unknown argument `{}` may make `{program}` run other programs or write files", bounded(argument)),
            "begin with the full name of a known subcommand, or with `--version`",
        ),
    }
}

impl fmt::Display for CommandRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let programs = self.programs.iter().map(|program| format!("{program:?}")).collect::<Vec<_>>().join(", ");
        write!(f, "command = {{ program = [{}] }}", bounded(&programs))
    }
}

/// Help for a command that cannot be judged.
const PLAIN: &str = "write plain commands, joined by `;`, `&&`, `||` or `|`, without expansions; quote literal text";

/// Files that a redirection may always name.
const DEVICES: [&str; 3] = ["/dev/null", "/dev/stderr", "/dev/stdout"];
