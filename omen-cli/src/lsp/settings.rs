//! The configuration that each document is checked with.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::check::TextCheck;
use crate::config;
use crate::config::content::Config;

/// The checks of all configurations, each as its files were last read.
#[derive(Debug, Default)]
pub(super) struct CheckSettings {
    /// The folders that are open in the editor.
    pub(super) folders: Vec<PathBuf>,
    /// By the path of the configuration; `None` without one.
    checks: HashMap<Option<PathBuf>, ReadCheck>,
}

/// A check, or why there is none, and what its files were like.
#[derive(Debug)]
struct ReadCheck {
    check: Result<TextCheck, String>,
    stamps: Vec<(PathBuf, FileStamp)>,
}

/// When a file was changed, and its length; `None` if it cannot be read.
type FileStamp = Option<(SystemTime, u64)>;

impl CheckSettings {
    /// The check for a document: with the configuration that `omen check` finds in the open folder of the document, or else in its
    /// own folder.
    pub(super) fn of(&mut self, document: &Path) -> Result<&mut TextCheck, String> {
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
        // Before they are read: a change in the meantime is noticed.
        let mut stamps: Vec<_> = path.map(|path| (path.to_owned(), stamp(path))).into_iter().collect();
        let config = path.map_or_else(|| Ok(Config::default()), Config::read).map_err(|errors| errors.to_string());
        let check = config.and_then(|config| {
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

/// With more configurations than this, all are read again.
const MOST_CONFIGURATIONS: usize = 64;
