//! Search for logs: named files, logs in directories, and files that match a glob, in a deterministic order.
//!
//! A named file is read, whatever its name. In a directory, files named like logs are read, except hidden ones and those that a
//! `.gitignore` or an exclude leaves out.

mod excludes;

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};
use ignore::{DirEntry, WalkBuilder};

use crate::input::is_stdin;

pub(crate) use excludes::{Excludes, absolute};

/// Options of a search.
#[derive(Debug, Default)]
pub(crate) struct Search {
    pub(crate) excludes: Excludes,
    /// Whether to read files that `.gitignore` leaves out.
    pub(crate) no_ignore: bool,
}

/// Result of a search.
#[derive(Debug, Default)]
pub(crate) struct Logs {
    /// Paths in the order of the arguments; those from one argument are sorted by name.
    pub(crate) paths: Vec<PathBuf>,
    /// Paths that could not be searched, each with the reason.
    pub(crate) failed: Vec<(String, String)>,
    /// Directories without logs.
    pub(crate) empty: Vec<PathBuf>,
    seen: HashSet<PathBuf>,
    /// Files that come from directories or globs.
    found: HashSet<PathBuf>,
}

impl Search {
    /// Finds the logs for several arguments.
    pub(crate) fn run(&self, arguments: &[Argument]) -> Logs {
        let mut logs = Logs::default();
        for argument in arguments {
            let path = argument.full();
            if is_stdin(&argument.path) {
                logs.name(argument.path.clone());
            } else if path.is_dir() {
                self.directory(&path, &mut logs);
            } else if let Some(pattern) = Pattern::from_argument(argument).filter(|_| path.symlink_metadata().is_err())
            {
                self.glob(argument, pattern, &mut logs);
            } else {
                // A missing file is reported when it is read.
                logs.name(path);
            }
        }
        logs
    }

    fn directory(&self, path: &Path, logs: &mut Logs) {
        let (before, failed) = (logs.paths.len(), logs.failed.len());
        let mut is_any = false;
        let mut walk = WalkBuilder::new(path);
        // User or machine settings must not affect the check; the repository's may.
        walk.standard_filters(!self.no_ignore).git_global(false).hidden(true);
        self.walk(&mut walk, logs, |entry, logs| {
            if is_log(entry.path()) {
                is_any = true;
                logs.find(entry.path());
            }
        });
        if !is_any && logs.paths.len() == before && logs.failed.len() == failed {
            logs.empty.push(path.to_owned());
        }
    }

    fn glob(&self, argument: &Argument, pattern: Result<Pattern, String>, logs: &mut Logs) {
        let failed = |why: &str| (argument.full().display().to_string(), why.to_owned());
        let pattern = match pattern {
            Ok(pattern) => pattern,
            Err(why) => return logs.failed.push(failed(&why)),
        };
        let base = argument.root.join(&pattern.base);
        let mut walk = WalkBuilder::new(if base.as_os_str().is_empty() { Path::new(".") } else { &base });
        walk.standard_filters(false).hidden(!pattern.is_of_hidden).max_depth(pattern.depth);
        let mut is_any = false;
        let before = logs.failed.len();
        if base.as_os_str().is_empty() || base.is_dir() {
            self.walk(&mut walk, logs, |entry, logs| {
                let path = plain(entry.path());
                if pattern.matches(path.strip_prefix(&argument.root).unwrap_or(path)) {
                    is_any = true;
                    logs.find(path);
                }
            });
        }
        if !is_any && logs.failed.len() == before {
            logs.failed.push(failed("no file matches"));
        }
    }

    /// Passes on the files, sorted by name in each directory. Links to files are followed, but not links to directories, which
    /// could lead to reading a log twice.
    fn walk(&self, walk: &mut WalkBuilder, logs: &mut Logs, mut each: impl FnMut(&DirEntry, &mut Logs)) {
        let excludes = self.excludes.clone();
        walk.follow_links(false).sort_by_file_name(|one, other| one.cmp(other)).filter_entry(move |entry| {
            let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
            entry.depth() == 0 || !excludes.contain(entry.path(), is_dir)
        });
        for entry in walk.build() {
            match entry {
                Ok(entry) if entry.path().is_file() => each(&entry, logs),
                Ok(_) => {}
                Err(error) => logs.failed.push(failure(&error)),
            }
        }
    }
}

impl Logs {
    /// Adds a named file, unless a directory or glob has already produced it. A file that is named twice is read twice.
    fn name(&mut self, path: PathBuf) {
        if !self.found.contains(&path) {
            self.seen.insert(path.clone());
            self.paths.push(path);
        }
    }

    /// Adds a file from a directory or glob, unless it is already listed.
    fn find(&mut self, path: &Path) {
        let path = plain(path);
        if self.seen.insert(path.to_owned()) {
            self.found.insert(path.to_owned());
            self.paths.push(path.to_owned());
        }
    }
}

/// Returns a path without a leading `./`.
fn plain(path: &Path) -> &Path {
    match path.components().next() {
        Some(Component::CurDir) => path.strip_prefix(".").unwrap_or(path),
        _ => path,
    }
}

/// Returns whether a file in a directory is named like a log.
fn is_log(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
    let name = name.to_ascii_lowercase();
    let name = [".gz", ".zst"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    [".jsonl", ".ndjson", ".json"].iter().any(|end| name.strip_suffix(end).is_some_and(|stem| !stem.is_empty()))
}

/// Returns the path that could not be searched, and the reason.
fn failure(error: &ignore::Error) -> (String, String) {
    let mut path = None;
    let mut inner = error;
    loop {
        inner = match inner {
            ignore::Error::WithPath { path: at, err } => {
                path = Some(plain(at).display().to_string());
                err
            }
            ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => err,
            _ => break,
        };
    }
    // The innermost error is the actual reason.
    let mut why: &dyn std::error::Error = inner.io_error().map_or(inner as &dyn std::error::Error, |error| error);
    while let Some(source) = why.source() {
        why = source;
    }
    (path.unwrap_or_else(|| "a directory".to_owned()), why.to_string())
}

/// An argument of a search.
#[derive(Clone, Debug)]
pub(crate) struct Argument {
    /// Directory to which the path is relative; empty for the working directory.
    pub(crate) root: PathBuf,
    /// A file, a directory, a glob, or `-`.
    pub(crate) path: PathBuf,
}

impl Argument {
    fn full(&self) -> PathBuf {
        if self.root.as_os_str().is_empty() { self.path.clone() } else { self.root.join(&self.path) }
    }
}

/// A glob: `*` and `?` match parts of a name, `**` any number of directories, `[ab]` and `{a,b}` alternatives.
struct Pattern {
    /// Directories before the first component with a wildcard.
    base: PathBuf,
    /// Maximum number of levels below the base at which a file can match.
    depth: Option<usize>,
    /// Whether the pattern names something hidden, so that hidden entries must be searched.
    is_of_hidden: bool,
    matcher: GlobMatcher,
}

impl Pattern {
    /// Parses the glob in an argument; returns `None` if it has no wildcards.
    fn from_argument(argument: &Argument) -> Option<Result<Self, String>> {
        let text = argument.path.to_str().filter(|text| text.contains(WILDCARDS))?;
        let text = text.strip_prefix("./").unwrap_or(text);
        Some(Self::new(text))
    }

    fn new(text: &str) -> Result<Self, String> {
        let glob = GlobBuilder::new(text).literal_separator(true).build();
        let matcher = glob.map_err(|error| format!("invalid glob: {}", error.kind()))?.compile_matcher();
        let names: Vec<Component<'_>> = Path::new(text).components().collect();
        let has = |name: &Component<'_>, what: &[char]| name.as_os_str().to_string_lossy().contains(what);
        let literal = names.iter().take_while(|name| !has(name, WILDCARDS)).count();
        let base = names.iter().take(literal).collect();
        // Braces may contain further directory levels.
        let is_deep = text.contains("**") || text.contains('{');
        let is_of_hidden = names.iter().skip(literal).any(|name| name.as_os_str().to_string_lossy().starts_with('.'));
        let depth = (!is_deep).then_some(names.len() - literal);
        Ok(Self { base, depth, is_of_hidden, matcher })
    }

    fn matches(&self, path: &Path) -> bool {
        self.matcher.is_match(path)
    }
}

const WILDCARDS: &[char] = &['*', '?', '[', '{'];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_are_recognised_by_their_names() {
        for name in ["a.jsonl", "a.ndjson", "a.json", "A.JSONL", "a.b.json.gz", "a.jsonl.zst", "a.NDJSON.GZ"] {
            assert!(is_log(Path::new(name)), "{name}");
        }
        for name in ["a.txt", "jsonl", ".jsonl", "a.gz", "a.jsonl.bz2", "a.jsonl.gz.gz", "a.jsonl~", ".json.gz"] {
            assert!(!is_log(Path::new(name)), "{name}");
        }
    }
}
