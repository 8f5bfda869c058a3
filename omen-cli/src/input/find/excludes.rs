//! Patterns for files that are not read from directories.

use std::fmt;
use std::path::{Component, Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// Patterns in the syntax of `.gitignore`, each relative to a directory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Excludes(Vec<Gitignore>);

/// An invalid pattern.
#[derive(Debug)]
pub(crate) struct BadPattern(String);

impl fmt::Display for BadPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Excludes {
    /// Adds patterns relative to a directory; an empty path stands for the working directory.
    pub(crate) fn add(&mut self, root: &Path, patterns: &[String]) -> Result<(), BadPattern> {
        if patterns.is_empty() {
            return Ok(());
        }
        let mut builder = GitignoreBuilder::new(absolute(root));
        // An unclosed `[` must be an error rather than a pattern that matches nothing.
        builder.allow_unclosed_class(false);
        for pattern in patterns {
            let added = builder.add_line(None, pattern);
            added.map_err(|error| BadPattern(format!("invalid pattern `{pattern}`: {error}")))?;
        }
        self.0.push(builder.build().map_err(|error| BadPattern(error.to_string()))?);
        Ok(())
    }

    /// Returns whether a file or directory itself is excluded, not counting its parents.
    pub(super) fn contain(&self, path: &Path, is_dir: bool) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let path = absolute(path);
        self.0.iter().any(|set| path.starts_with(set.path()) && set.matched(&path, is_dir).is_ignore())
    }

    /// Returns whether a pattern matches a file or any directory that contains it.
    pub(crate) fn cover(&self, path: &Path) -> bool {
        let path = absolute(path);
        let covers =
            |set: &Gitignore| path.starts_with(set.path()) && set.matched_path_or_any_parents(&path, false).is_ignore();
        self.0.iter().any(covers)
    }
}

/// Returns the absolute path, without `.` and `..`.
pub(crate) fn absolute(path: &Path) -> PathBuf {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut plain = PathBuf::new();
    for name in path.components() {
        match name {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            name => plain.push(name),
        }
    }
    plain
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_relative_to_their_directory() {
        let mut excludes = Excludes::default();
        excludes
            .add(Path::new("/logs"), &["old/".to_owned(), "/a.json".to_owned(), "*.tmp.*".to_owned()])
            .expect("valid");
        let excluded = |path: &str, is_dir| excludes.contain(Path::new(path), is_dir);
        assert!(excluded("/logs/old", true) && excluded("/logs/x/old", true));
        assert!(excluded("/logs/a.json", false) && !excluded("/logs/x/a.json", false));
        assert!(excluded("/logs/x/../b.tmp.jsonl", false));
        assert!(!excluded("/other/a.json", false) && !excluded("/logs/old", false));
        assert!(!Excludes::default().contain(Path::new("/logs/old"), true));
        assert!(Excludes::default().add(Path::new(""), &["a{b".to_owned()]).is_err());
    }
}
