//! Size of the published crates: lines, and files that are too small to be worth opening.

use std::fs;
use std::io;
use std::path::Path;

use super::bounded::Bounded;
use super::rust_files;

/// Maximum number of source lines of `omen-*` and `schema`, with comments and test modules. It may only decrease, except for new
/// commands and packages: most recently for claims and orders of layer 1 in Python (165 lines).
pub const MOST_LINES: u64 = 148_564;

/// Maximum number of files there with fewer than [`SMALL`] lines. A shorter idea is easier to read beside its only user.
pub const MOST_SMALL_FILES: u64 = 66;

/// Minimum number of lines of a file that is not small.
pub const SMALL: usize = 30;

/// Returns both figures of a workspace with their bounds.
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
