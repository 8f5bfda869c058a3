//! Repair of a log whose last line a crash has left incomplete.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use omen_gate::regular_file;

/// Moves everything after the last complete line to a file next to the log, and returns its path. The step that it belonged to
/// was not taken. The log is cut only after that file is on disk.
///
/// # Errors
/// If another process has the log, or the file system refuses.
pub fn set_aside(mut log: &File, path: &Path, whole: u64) -> io::Result<PathBuf> {
    // Cutting the log would corrupt it if another process were still writing.
    log.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => io::Error::new(io::ErrorKind::ResourceBusy, "it is in use by another process"),
        TryLockError::Error(error) => error,
    })?;
    let (mut file, kept) = fresh(path, whole)?;
    log.seek(SeekFrom::Start(whole))?;
    io::copy(&mut log, &mut file)?;
    file.sync_all()?;
    regular_file::sync_folder(path)?;
    log.set_len(whole)?;
    log.sync_all()?;
    log.unlock()?;
    Ok(kept)
}

/// Creates a new file; the number in its name allows for a log that is cut several times at the same offset.
fn fresh(path: &Path, whole: u64) -> io::Result<(File, PathBuf)> {
    for time in 1_u64.. {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".torn-{whole}"));
        if time > 1 {
            name.push(format!("-{time}"));
        }
        let kept = path.with_file_name(name);
        match OpenOptions::new().write(true).create_new(true).open(&kept) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            opened => return opened.map(|file| (file, kept)),
        }
    }
    Err(io::Error::other("there are too many files beside it"))
}
