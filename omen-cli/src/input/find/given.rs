//! Inputs of a command: its arguments, or else the inputs in its configuration.

use std::path::{Path, PathBuf};

use super::{Argument, Excludes, Logs, Search};
use crate::config::content::Config;
use crate::exit::{Failure, complain};
use crate::input::is_stdin;

/// Inputs of a command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Given<'g> {
    pub(crate) files: &'g [PathBuf],
    /// Patterns to exclude, in the syntax of `.gitignore`.
    pub(crate) exclude: &'g [String],
    /// Whether to read files that `.gitignore` excludes.
    pub(crate) no_ignore: bool,
    pub(crate) config: &'g Config,
}

impl Given<'_> {
    /// Returns whether neither the arguments nor the configuration name any input.
    pub(crate) fn is_nothing(&self) -> bool {
        self.files.is_empty() && self.config.inputs.is_empty()
    }

    /// Finds the logs; standard input if nothing is named. Directories without logs are reported here, unless `quiet`.
    pub(crate) fn find(&self, quiet: bool) -> Result<Logs, Failure> {
        let here = Path::new("");
        let mut excludes = Excludes::default();
        for (root, patterns) in [(&*self.config.root, &*self.config.exclude), (here, self.exclude)] {
            excludes.add(root, patterns).map_err(|error| Failure::Usage(error.to_string()))?;
        }
        let stdin = [PathBuf::from("-")];
        let (root, paths) = match (self.files, &self.config.inputs[..]) {
            ([], []) => (here, &stdin[..]),
            ([], inputs) => (&*self.config.root, inputs),
            (files, _) => (here, files),
        };
        if paths.iter().filter(|path| is_stdin(path)).count() > 1 {
            return Err(Failure::Usage("`-` is given twice; standard input can be read only once".to_owned()));
        }
        let arguments: Vec<_> =
            paths.iter().map(|path| Argument { root: root.to_owned(), path: path.clone() }).collect();
        let logs = Search { excludes, no_ignore: self.no_ignore || self.config.no_ignore }.run(&arguments);
        for path in logs.empty.iter().filter(|_| !quiet) {
            complain(format_args!("note: {} contains no logs (*.jsonl, *.ndjson, *.json)", path.display()));
        }
        Ok(logs)
    }
}
