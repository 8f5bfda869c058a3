//! Arguments of a search, and globs among them.

use std::path::{Component, Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};

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

/// A glob: `*` and `?` match parts of one name, `**` any number of directories, `[ab]` and `{a,b}` alternatives.
pub(super) struct Pattern {
    /// Directories before the first name with a wildcard.
    pub(super) base: PathBuf,
    /// Maximum number of levels below the base at which a file can match.
    pub(super) depth: Option<usize>,
    /// Whether it names something hidden, so that hidden entries are searched.
    pub(super) is_of_hidden: bool,
    matcher: GlobMatcher,
}

impl Pattern {
    /// Parses the glob in an argument; `None` if it has no wildcards.
    pub(super) fn of(argument: &Argument) -> Option<Result<Self, String>> {
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
        // Braces may contain further levels.
        let is_deep = text.contains("**") || text.contains('{');
        let is_of_hidden = names.iter().skip(literal).any(|name| name.as_os_str().to_string_lossy().starts_with('.'));
        let depth = (!is_deep).then_some(names.len() - literal);
        Ok(Self { base, depth, is_of_hidden, matcher })
    }

    pub(super) fn matches(&self, path: &Path) -> bool {
        self.matcher.is_match(path)
    }
}

const WILDCARDS: &[char] = &['*', '?', '[', '{'];
