//! Size of the published crates: lines, and files that are too small to be worth opening.

use std::fs;
use std::io;
use std::path::Path;

use super::bounded::Bounded;
use super::rust_files;

/// Most lines of the sources of `omen-*` and `schema`, with comments and test modules. It may only decrease, but for what a new command or
/// package brings: last, that for Python (5,200 lines with its generator), and what `gate prove` and `gate check` decide since (1,200).
pub const MOST_LINES: u64 = 145_282;

/// Most files of fewer than [`SMALL`] lines there. An idea that needs no more lines is easier to read beside its only user.
pub const MOST_SMALL_FILES: u64 = 76;

/// Lines from which on a file is not small.
pub const SMALL: usize = 30;

/// Returns both figures of a workspace beside their bounds.
///
/// # Errors
/// If a file cannot be read.
pub fn sizes(root: &Path) -> io::Result<[Bounded; 2]> {
    let (mut lines, mut small) = (0, 0);
    for entry in fs::read_dir(root)? {
        let entry = entry?;
        let name = entry.file_name();
        if !name.to_string_lossy().starts_with("omen-") && name != "schema" {
            continue;
        }
        for file in rust_files(&entry.path().join("src"))? {
            let count = fs::read_to_string(&file)?.lines().count();
            lines += count as u64;
            small += u64::from(count < SMALL);
        }
    }
    let bounded = |what: &str, found, bound| Bounded { what: what.to_owned(), found: Some(found), bound: Some(bound) };
    Ok([
        bounded("published crates: lines", lines, MOST_LINES),
        bounded("published crates: small files", small, MOST_SMALL_FILES),
    ])
}
