//! What an output format of `omen check` has to do.

use std::fmt::Debug;
use std::io;
use std::path::Path;

use omen::Summary;
use omen::finding::Finding;

use crate::output::Output;

/// A format for the findings of `omen check`.
pub(crate) trait FindingFormat: Debug + Send + Sync {
    /// The name that `--format` takes.
    fn name(&self) -> &'static str;

    /// What `--help` says about it.
    fn about(&self) -> &'static str;

    /// Whether people read it, so that it may be coloured.
    fn is_for_people(&self) -> bool;

    /// Writes one finding in the file `path`. `line` is the text of its line, if there is one.
    fn finding(&self, out: &mut Output, path: &Path, finding: &Finding, line: Option<&str>) -> io::Result<()>;

    /// Writes what comes after the last finding: the totals over all files that were read to their end.
    fn totals(&self, out: &mut Output, files: u64, summary: &Summary) -> io::Result<()>;
}
