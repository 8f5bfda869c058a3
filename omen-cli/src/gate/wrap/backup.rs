//! The file as it was, kept beside what it became.
//!
//! The name of a backup has a hash of what the file became. So the backup is found again exactly as long as the file is
//! that, and nothing that somebody has written since is lost by an undo.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

/// What stands between the name of a file and the hash.
const MARK: &str = ".before-omen-";

/// Keeps the old text of a file, and gives the path of the backup. A backup that is there already is the same.
pub(super) fn keep(file: &Path, old: &str, new: &str) -> Result<PathBuf, String> {
    let path = path_of(file, new);
    let cannot = |error: io::Error| format!("cannot write {}: {error}", path.display());
    let permissions = fs::metadata(file).map_err(cannot)?.permissions();
    match fs::File::options().write(true).create_new(true).open(&path) {
        Ok(mut backup) => {
            // The file may hold secrets: its copy is open to nobody else.
            backup.set_permissions(permissions).map_err(cannot)?;
            backup.write_all(old.as_bytes()).and_then(|()| backup.sync_all()).map_err(cannot)?;
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            if fs::read(&path).map_err(cannot)? != old.as_bytes() {
                return Err(format!("{} exists, and is another file; move it away", path.display()));
            }
        }
        Err(error) => return Err(cannot(error)),
    }
    Ok(path)
}

pub(super) fn find(file: &Path, now: &str) -> Result<PathBuf, String> {
    let path = path_of(file, now);
    if path.is_file() {
        return Ok(path);
    }
    let folder = file.parent().unwrap_or(Path::new("."));
    let start = format!("{}{MARK}", file.file_name().unwrap_or_default().to_string_lossy());
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut others: Vec<_> = entries
        .map(|entry| entry.path())
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&start)))
        .collect();
    others.sort();
    Err(match others.first() {
        None => format!("{} was not wrapped: there is no backup beside it", file.display()),
        Some(other) => format!(
            "{} was changed since it was wrapped; compare it with {}, and undo by hand what you do not want",
            file.display(),
            other.display()
        ),
    })
}

fn path_of(file: &Path, new: &str) -> PathBuf {
    let hash = Sha256::digest(new.as_bytes());
    let start = hash.get(..8).unwrap_or_default();
    let mut name = file.as_os_str().to_owned();
    name.push(format!("{MARK}{}", base16ct::lower::encode_string(start)));
    name.into()
}
