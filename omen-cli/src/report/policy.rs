//! Which schema files and rules the logs were checked with: their hashes.

use super::digest;

/// A schema file and its hash.
#[derive(Debug)]
pub(super) struct File {
    pub(super) path: &'static str,
    pub(super) sha256: String,
}

pub(super) fn files() -> Vec<File> {
    omen_schema::FILES.iter().map(|(path, text)| File { path, sha256: digest::of(text.as_bytes()) }).collect()
}

/// One hash for all files: that of the list that `sha256sum` prints for them.
pub(super) fn total(files: &[File]) -> String {
    let list: String = files.iter().map(|File { path, sha256 }| format!("{sha256}  {path}\n")).collect();
    digest::of(list.as_bytes())
}
