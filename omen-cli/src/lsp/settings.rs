//! Configuration with which each document is checked.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::args::check_command;
use crate::check::TextCheck;
use crate::config;
use crate::config::content::Config;

/// Checks by configuration, each with the files as last read.
#[derive(Debug, Default)]
pub(super) struct CheckSettings {
    /// Folders open in the editor.
    pub(super) folders: Vec<PathBuf>,
    /// Checks by the path of their configuration; `None` stands for no configuration.
    checks: HashMap<Option<PathBuf>, ReadCheck>,
}

/// A check, or the reason why it is unavailable, and the state of its files when they were read.
#[derive(Debug)]
struct ReadCheck {
    check: Result<TextCheck, String>,
    stamps: Vec<(PathBuf, FileStamp)>,
}

/// Modification time and length of a file; `None` if it cannot be read.
type FileStamp = Option<(SystemTime, u64)>;

impl CheckSettings {
    /// Returns the check for a document, with the configuration that `omen check` would find in the editor's open folder that
    /// contains the document, or else in the document's own folder.
    pub(super) fn check(&mut self, document: &Path) -> Result<&mut TextCheck, String> {
        let folders = self.folders.iter().filter(|folder| document.starts_with(folder));
        let folder = folders.max_by_key(|folder| folder.components().count()).cloned();
        let folder = folder.or_else(|| document.parent().map(Path::to_owned)).unwrap_or_default();
        let path = folder.is_absolute().then(|| config::nearest(&folder)).flatten();
        let is_current = |read: &ReadCheck| read.stamps.iter().all(|(path, before)| stamp(path) == *before);
        if !self.checks.get(&path).is_some_and(is_current) {
            if self.checks.len() >= MOST_CONFIGURATIONS {
                self.checks.clear();
            }
            self.checks.insert(path.clone(), ReadCheck::new(path.as_deref()));
        }
        match self.checks.get_mut(&path) {
            Some(ReadCheck { check: Ok(check), .. }) => Ok(check),
            Some(ReadCheck { check: Err(why), .. }) => Err(why.clone()),
            None => Err(String::new()),
        }
    }
}

impl ReadCheck {
    fn new(path: Option<&Path>) -> Self {
        // Taken before the files are read, so that a change in between is noticed later.
        let mut stamps: Vec<_> = path.map(|path| (path.to_owned(), stamp(path))).into_iter().collect();
        let config = path.map_or_else(|| Ok(Config::default()), |path| Config::read(path, &check_command()));
        let check = config.map_err(|errors| errors.to_string()).and_then(|config| {
            let baseline = config.baseline();
            stamps.extend(baseline.map(|path| (path.clone(), stamp(&path))));
            TextCheck::new(config).map_err(|failure| failure.to_string())
        });
        Self { check, stamps }
    }
}

fn stamp(path: &Path) -> FileStamp {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

/// Maximum number of configurations kept; beyond that, all are read again.
const MOST_CONFIGURATIONS: usize = 64;
