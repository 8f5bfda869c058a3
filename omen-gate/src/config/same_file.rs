//! Whether two paths are one file.

use std::path::Path;

/// Whether two paths lead to one file, by whatever links. A file that does not exist is compared by its folder.
pub(super) fn is_same_file(a: &Path, b: &Path) -> bool {
    #[cfg(unix)]
    if let (Ok(a), Ok(b)) = (a.metadata(), b.metadata()) {
        use std::os::unix::fs::MetadataExt as _;

        return (a.dev(), a.ino()) == (b.dev(), b.ino());
    }
    let whole = |path: &Path| match path.canonicalize() {
        Ok(path) => Some(path),
        Err(_) => {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            Some(folder.canonicalize().ok()?.join(path.file_name()?))
        }
    };
    whole(a).is_some_and(|a| whole(b) == Some(a))
}
