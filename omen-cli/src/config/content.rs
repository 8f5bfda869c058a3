//! What a configuration says.

use std::path::PathBuf;

use omen::validator::Level;
use omen_types::Code;

use crate::args::levels::Target;
use crate::input::find::Excludes;

/// The content of a file.
#[derive(Debug, Default)]
pub(crate) struct Config {
    /// The path of the file, for people.
    pub(crate) name: String,
    /// The directory of the file, which paths in it are relative to; empty for the working directory.
    pub(crate) root: PathBuf,
    /// What to check if no files are named.
    pub(crate) inputs: Vec<PathBuf>,
    pub(crate) exclude: Vec<String>,
    /// Whether to read what `.gitignore` leaves out.
    pub(crate) no_ignore: bool,
    /// In the order in which they apply, before those of the command line.
    pub(crate) levels: Vec<(Target, Level)>,
    /// Findings that `omen check` does not report.
    pub(crate) ignores: Vec<Ignore>,
    /// Values for options that are not given: the id of an option, and its values.
    pub(super) defaults: Vec<(&'static str, Vec<String>)>,
}

/// An entry of `ignore`: findings that are not reported. A finding matches it if it matches all that is given.
#[derive(Debug)]
pub(crate) struct Ignore {
    /// Where the entry is in the file, from 1.
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) code: Option<Code>,
    pub(crate) path: Option<Excludes>,
    /// A correlation id.
    pub(crate) episode: Option<String>,
    /// The tool of a directive.
    pub(crate) tool: Option<String>,
    /// Why.
    pub(crate) reason: String,
    /// The last day on which it holds, as `2026-03-01`.
    pub(crate) until: Option<String>,
}
