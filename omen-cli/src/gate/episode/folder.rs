//! The folder of a log.

use std::fs::File;
use std::path::Path;

/// So that a log that was made now is there after a loss of power.
pub(super) fn sync(path: &Path) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}
