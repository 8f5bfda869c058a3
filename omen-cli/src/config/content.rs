//! What a configuration says.

use std::path::PathBuf;

use omen::validator::Level;

use crate::args::levels::Target;

/// The content of a file.
#[derive(Debug, Default)]
pub(crate) struct Config {
    /// The directory of the file, which paths in it are relative to; empty for the working directory.
    pub(crate) root: PathBuf,
    /// What to check if no files are named.
    pub(crate) inputs: Vec<PathBuf>,
    pub(crate) exclude: Vec<String>,
    /// Whether to read what `.gitignore` leaves out.
    pub(crate) no_ignore: bool,
    /// In the order in which they apply, before those of the command line.
    pub(crate) levels: Vec<(Target, Level)>,
    /// Values for options that are not given: the id of an option, and its values.
    pub(super) defaults: Vec<(&'static str, Vec<String>)>,
}
