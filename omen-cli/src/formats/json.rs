//! Findings for programs: JSON Lines, with a summary at the end. The fields are those of the library.

use std::io;
use std::path::Path;

use omen::Summary;
use omen::finding::Finding;
use omen::render::json;

use super::format::{Format, Report};
use crate::output::Output;

pub(super) const FORMAT: Format = Format {
    name: "json",
    about: "JSON Lines, with a summary at the end",
    is_for_people: false,
    start: || Box::new(Json),
};

struct Json;

impl Report for Json {
    fn finding(&mut self, out: &mut Output, path: &Path, finding: &Finding, _: Option<&str>) -> io::Result<()> {
        json::finding(out, &path.to_string_lossy(), finding)
    }

    fn totals(&mut self, out: &mut Output, files: u64, summary: &Summary) -> io::Result<()> {
        json::summary(out, files, summary)
    }
}
