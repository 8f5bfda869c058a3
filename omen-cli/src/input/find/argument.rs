//! Arguments of a search.

use std::path::PathBuf;

/// An argument of a search.
#[derive(Clone, Debug)]
pub(crate) struct Argument {
    /// Directory that the path is relative to; empty for the working directory.
    pub(crate) root: PathBuf,
    /// A file, a directory, a glob, or `-`.
    pub(crate) path: PathBuf,
}

impl Argument {
    pub(super) fn full(&self) -> PathBuf {
        if self.root.as_os_str().is_empty() { self.path.clone() } else { self.root.join(&self.path) }
    }
}
