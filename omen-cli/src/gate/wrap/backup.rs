//! Backup of a client's file, kept next to it.
//!
//! The name of a backup contains a hash of the rewritten file. The backup is therefore found only as long as nobody has changed
//! that file, and an undo never loses later changes.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

/// Separator between file name and hash in the name of a backup.
const MARK: &str = ".before-omen-";

/// Writes the backup, and returns its path. An existing backup must have the same content.
pub(super) fn keep(file: &Path, old: &str, new: &str) -> Result<PathBuf, String> {
    let path = path_of(file, new);
    let cannot = |error: io::Error| format!("cannot write {}: {error}", path.display());
    let permissions = fs::metadata(file).map_err(cannot)?.permissions();
    match fs::File::options().write(true).create_new(true).open(&path) {
        Ok(mut backup) => {
            // The file may hold secrets, so the copy gets the same permissions.
            backup.set_permissions(permissions).map_err(cannot)?;
            backup.write_all(old.as_bytes()).and_then(|()| backup.sync_all()).map_err(cannot)?;
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            if fs::read(&path).map_err(cannot)? != old.as_bytes() {
                return Err(format!(
                    "{} already already already exists, and is another file; move it away",
                    path.display()
                ));
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
            "{} has changed since it was wrapped; compare it with {}, and undo unwanted changes by hand",
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
