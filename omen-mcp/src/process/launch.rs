//! Command that starts a server.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::Command;

use omen_base::names::INHERITED;

use super::guard;
use crate::limits::ServerLimits;

/// Command line of a server, with its environment and limits.
///
/// The environment is empty except for `PATH` and the variables named here: a tool server must not read secrets meant
/// for somebody else.
#[derive(Clone)]
pub struct Launch {
    command: OsString,
    args: Vec<OsString>,
    env: BTreeMap<OsString, OsString>,
    dir: Option<PathBuf>,
    limits: ServerLimits,
    pub(super) shows_stderr: bool,
}

impl Launch {
    /// Creates a command for a program, which is searched for in `PATH` if it is a bare name. No shell is involved.
    #[must_use]
    pub fn new(command: impl AsRef<OsStr>) -> Self {
        Self {
            command: command.as_ref().to_owned(),
            args: Vec::new(),
            env: BTreeMap::new(),
            dir: None,
            limits: ServerLimits::default(),
            shows_stderr: false,
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds several arguments.
    #[must_use]
    pub fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.env.insert(name.as_ref().to_owned(), value.as_ref().to_owned());
        self
    }

    /// Passes on a variable of this process's environment, if it is set. This keeps secrets out of configurations.
    #[must_use]
    pub fn pass(mut self, name: impl AsRef<OsStr>) -> Self {
        if let Some(value) = std::env::var_os(name.as_ref()) {
            self.env.insert(name.as_ref().to_owned(), value);
        }
        self
    }

    /// Sets the working directory. By default it is this process's own.
    #[must_use]
    pub fn dir(mut self, dir: impl AsRef<Path>) -> Self {
        self.dir = Some(dir.as_ref().to_owned());
        self
    }

    /// Sets the limits on the server's output.
    #[must_use]
    pub fn limits(mut self, limits: ServerLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Copies the server's standard error to this process's. By default only the end of it is kept.
    #[must_use]
    pub fn show_stderr(mut self) -> Self {
        self.shows_stderr = true;
        self
    }

    /// Returns the limits on the server's output.
    #[must_use]
    pub fn limits_ref(&self) -> &ServerLimits {
        &self.limits
    }

    /// Returns the command, and whether it starts a guard.
    pub(super) fn to_command(&self) -> (Command, bool) {
        let (mut command, mark) = match guard::command(&self.command, &self.args) {
            Some((command, mark)) => (command, Some(mark)),
            None => (Command::new(&self.command), None),
        };
        if mark.is_none() {
            command.args(&self.args);
        }
        command.env_clear();
        for name in INHERITED {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command.envs(&self.env);
        if let Some(dir) = &self.dir {
            command.current_dir(dir);
        }
        let guarded = mark.is_some();
        command.envs(mark);
        // A guard is asked to end rather than killed, because it has work to do first.
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(!guarded);
        // A separate group: the parent handles terminal interrupts, and what the server starts is killed with it.
        #[cfg(unix)]
        command.process_group(0);
        (command, guarded)
    }
}

/// Omits the values of environment variables, which may be secrets.
impl fmt::Debug for Launch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Launch")
            .field("command", &self.command)
            .field("args", &self.args)
            .field("env", &self.env.keys())
            .field("dir", &self.dir)
            .field("limits", &self.limits)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::Launch;

    #[test]
    fn values_of_the_environment_are_not_shown() {
        let shown = format!("{:?}", Launch::new("server").env("TOKEN", "very secret"));
        assert!(shown.contains("TOKEN") && !shown.contains("secret"), "{shown}");
    }
}
