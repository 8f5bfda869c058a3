//! Content of a configuration, and the inputs that it selects together with the arguments.

use std::path::{Path, PathBuf};

use omen::validator::{Level, NotAdjustable};
use omen_types::Code;
use omen_types::code::UnknownCode;

use crate::exit::{Failure, complain};
use crate::input::find::{Argument, Excludes, Logs, Search};
use crate::input::is_stdin;

/// Content of a configuration file.
#[derive(Debug, Default)]
pub(crate) struct Config {
    /// Path of the file, for display.
    pub(crate) name: String,
    /// Directory of the file, to which paths in it are relative; empty for the working directory.
    pub(crate) root: PathBuf,
    /// Paths to check if none are given on the command line.
    pub(crate) inputs: Vec<PathBuf>,
    pub(crate) exclude: Vec<String>,
    /// Whether to read files that `.gitignore` excludes.
    pub(crate) no_ignore: bool,
    /// Severity levels in the order in which they apply, before those of the command line.
    pub(crate) levels: Vec<(LevelTarget, Level)>,
    /// Findings that `omen check` omits.
    pub(crate) ignores: Vec<Ignore>,
    /// Defaults for options, as pairs of option id and values.
    pub(crate) defaults: Vec<(&'static str, Vec<String>)>,
}

/// Code or group of codes to which a level applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LevelTarget {
    Code(Code),
    /// `warnings`: everything that is a warning at this point.
    Warnings,
}

impl LevelTarget {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if text.eq_ignore_ascii_case(WARNINGS) {
            return Ok(Self::Warnings);
        }
        let code: Code = text.parse().map_err(|error: UnknownCode| error.to_string())?;
        if code.is_adjustable() { Ok(Self::Code(code)) } else { Err(NotAdjustable(code).to_string()) }
    }
}

/// Name of the group of all warnings.
pub(crate) const WARNINGS: &str = "warnings";

/// An `[[ignore]]` entry: omits the findings that meet all of its conditions.
#[derive(Debug)]
pub(crate) struct Ignore {
    /// Line of the entry in the file, counted from 1.
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) code: Option<Code>,
    pub(crate) path: Option<Excludes>,
    /// Correlation id of the episode.
    pub(crate) episode: Option<String>,
    /// Tool that a directive names.
    pub(crate) tool: Option<String>,
    /// Reason for ignoring the findings.
    pub(crate) reason: String,
    /// Last day on which the entry applies, as `2026-03-01`.
    pub(crate) until: Option<String>,
}

/// Selection of inputs: those that arguments and configuration name, and those they exclude.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InputSelection<'g> {
    pub(crate) files: &'g [PathBuf],
    /// Patterns to exclude, in the syntax of `.gitignore`.
    pub(crate) exclude: &'g [String],
    /// Whether to read files that `.gitignore` leaves out.
    pub(crate) no_ignore: bool,
    pub(crate) config: &'g Config,
}

impl InputSelection<'_> {
    /// Returns whether neither the arguments nor the configuration name any input.
    pub(crate) fn is_nothing(&self) -> bool {
        self.files.is_empty() && self.config.inputs.is_empty()
    }

    /// Finds the logs; returns standard input if none are named. Unless `quiet`, directories without logs are reported.
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
