//! Content of a configuration.

use std::path::PathBuf;

use omen::validator::Level;
use omen_types::Code;

use crate::args::levels::Target;
use crate::input::find::Excludes;

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
    pub(crate) levels: Vec<(Target, Level)>,
    /// Findings that `omen check` omits.
    pub(crate) ignores: Vec<Ignore>,
    /// Defaults for options, as pairs of option id and values.
    pub(super) defaults: Vec<(&'static str, Vec<String>)>,
}

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
