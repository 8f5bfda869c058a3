//! Formats of `omen check`: each report is valid, whatever is in the logs, and shows what `--format json` shows.

use std::collections::BTreeSet;

use super::*;

pub(crate) mod hostile;
mod outputs;
mod pipes;
mod reader;
mod small;
mod stable;
pub(super) mod valid;

/// All formats.
pub(super) const FORMATS: [&str; 8] = ["human", "concise", "json", "sarif", "junit", "github", "gitlab", "markdown"];

/// Returns a folder with logs of every kind: clean, with a warning, with an error, with a cascade, with an unfinished episode,
/// and with texts that are code to some reader. `missing.jsonl` does not exist.
fn set() -> TempDir {
    let misspelt = log(GOOD).replacen("BeliefUpdatePacket", "BeliefUpdatPacket", 1);
    folder(&[
        ("clean.jsonl", log(GOOD).as_bytes()),
        ("warned.jsonl", log(WARNED).as_bytes()),
        ("bad.jsonl", log(BAD).as_bytes()),
        ("cascade.jsonl", misspelt.as_bytes()),
        ("end.jsonl", log("invalid/e6-end-with-directive-open.jsonl").as_bytes()),
        ("hostile.jsonl", hostile::LOG),
    ])
}

const SET: [&str; 7] =
    ["clean.jsonl", "warned.jsonl", "bad.jsonl", "cascade.jsonl", "end.jsonl", "hostile.jsonl", "missing.jsonl"];

/// Checks files of a folder in one format.
fn check<'a>(folder: &TempDir, format: &'a str, files: impl IntoIterator<Item = &'a str>) -> Run {
    run(omen(["check", "--format", format].into_iter().chain(files)).current_dir(folder))
}
