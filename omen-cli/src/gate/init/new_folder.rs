//! The folder of a new configuration.

use std::fs;
use std::path::{Path, PathBuf};

/// A folder that was made, with those above it. Dropped, what is still empty of it is removed: it has no configuration.
pub(super) struct NewFolder(Vec<PathBuf>);

impl NewFolder {
    /// Makes a folder, if there is none.
    pub(super) fn make(folder: &Path) -> Result<Self, String> {
        let missing = folder.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
        let made = Self(missing.map(Path::to_owned).collect());
        match fs::create_dir_all(if folder.as_os_str().is_empty() { Path::new(".") } else { folder }) {
            Ok(()) => Ok(made),
            Err(error) => Err(format!("cannot create the folder {}: {error}", folder.display())),
        }
    }

    pub(super) fn keep(mut self) {
        self.0.clear();
    }
}

impl Drop for NewFolder {
    fn drop(&mut self) {
        for folder in &self.0 {
            let _ = fs::remove_dir(folder);
        }
    }
}
