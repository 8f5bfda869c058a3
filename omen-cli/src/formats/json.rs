//! Findings for programs: JSON Lines, with a summary at the end. The fields are those of the library.

use std::io;
use std::path::Path;

use omen::Summary;
use omen::finding::Finding;
use omen::render::json;

use super::format::FindingFormat;
use crate::output::Output;

/// `--format json`
#[derive(Debug)]
pub(super) struct Json;

impl FindingFormat for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn about(&self) -> &'static str {
        "JSON Lines, with a summary at the end"
    }

    fn is_for_people(&self) -> bool {
        false
    }

    fn finding(&self, out: &mut Output, path: &Path, finding: &Finding, _: Option<&str>) -> io::Result<()> {
        json::finding(out, &path.to_string_lossy(), finding)
    }

    fn totals(&self, out: &mut Output, files: u64, summary: &Summary) -> io::Result<()> {
        json::summary(out, files, summary)
    }
}
