//! A log in files.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use super::{Store, private};
use crate::audit::{AuditError, head};

/// The log's file and the head record's, which has the same name with `.head` behind it. The log is locked as long as
/// this lives: one writer at a time, and nobody verifies what is being written.
#[derive(Debug)]
pub struct Files {
    path: PathBuf,
    log: File,
    length: u64,
    head: Option<File>,
    sync: bool,
}

impl Files {
    /// Opens a log to write to it; if there is none, makes an empty one that only the owner may read and write.
    ///
    /// With `sync`, what is written survives a power failure; without, the death of this process only.
    ///
    /// # Errors
    /// If the log is in use, or cannot be opened; or if it is gone and its head record is not.
    pub fn open(path: impl AsRef<Path>, sync: bool) -> Result<Self, AuditError> {
        let path = path.as_ref();
        let unusable = |source| AuditError::Io { path: path.to_owned(), source };
        check_regular(path).map_err(unusable)?;
        let head_path = head_path(path);
        let head_exists = head_path.try_exists().map_err(unusable)?;
        // Where there is a head record, an empty log in place of the one that is gone would only blur what happened.
        let log = match private().read(true).create(!head_exists).open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && head_exists => {
                return Err(AuditError::Gone(path.to_owned()));
            }
            log => log.map_err(unusable)?,
        };
        lock(path, log.try_lock())?;
        let head = open_head(&head_path, OpenOptions::new().read(true).write(true)).map_err(unusable)?;
        let length = log.metadata().map_err(unusable)?.len();
        Ok(Self { path: path.to_owned(), log, length, head, sync })
    }
}

impl Store for Files {
    fn log(&mut self) -> io::Result<Box<dyn Read + '_>> {
        self.log.rewind()?;
        Ok(Box::new(&self.log))
    }

    fn head(&mut self) -> io::Result<Option<Vec<u8>>> {
        self.head.as_mut().map(read_head).transpose()
    }

    fn append(&mut self, offset: u64, line: &[u8]) -> io::Result<()> {
        self.log.seek(SeekFrom::Start(offset))?;
        self.log.write_all(line)?;
        let end = offset + line.len() as u64;
        if end < self.length {
            self.log.set_len(end)?;
        }
        self.length = end;
        if self.sync { self.log.sync_data() } else { Ok(()) }
    }

    fn set_head(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(head) = &mut self.head else {
            return self.replace_head(bytes);
        };
        head.rewind()?;
        head.write_all(bytes)?;
        if self.sync { head.sync_data() } else { Ok(()) }
    }

    /// Written under another name, then renamed: on common disks a dozen times slower than writing in place.
    fn replace_head(&mut self, bytes: &[u8]) -> io::Result<()> {
        let path = head_path(&self.path);
        let fresh = with_suffix(&path, ".new");
        // What a crash has left; nobody else is here, for the log is locked.
        match fs::remove_file(&fresh) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let mut file = private().read(true).create_new(true).open(&fresh)?;
        file.write_all(bytes)?;
        if self.sync {
            file.sync_all()?;
        }
        self.head = None;
        fs::rename(&fresh, &path)?;
        if self.sync {
            sync_folder(&path)?;
        }
        self.head = Some(file);
        Ok(())
    }
}

/// A log that is only read, and its head record.
#[derive(Debug)]
pub(crate) struct ReadOnly {
    /// `None` if it is gone, and the head record is not.
    pub(crate) log: Option<File>,
    pub(crate) head: Option<Vec<u8>>,
}

impl ReadOnly {
    pub(crate) fn open(path: &Path) -> Result<Self, AuditError> {
        let unusable = |source| AuditError::Io { path: path.to_owned(), source };
        check_regular(path).map_err(unusable)?;
        let log = match File::open(path) {
            Ok(log) => {
                lock(path, log.try_lock_shared())?;
                Ok(log)
            }
            Err(error) => Err(error),
        };
        let mut head = open_head(&head_path(path), OpenOptions::new().read(true)).map_err(unusable)?;
        let head = head.as_mut().map(read_head).transpose().map_err(unusable)?;
        match log {
            Ok(log) => Ok(Self { log: Some(log), head }),
            Err(error) if error.kind() == io::ErrorKind::NotFound && head.is_some() => Ok(Self { log: None, head }),
            Err(error) => Err(unusable(error)),
        }
    }
}

/// Where the head record of a log is.
#[must_use]
pub fn head_path(log: impl AsRef<Path>) -> PathBuf {
    with_suffix(log.as_ref(), ".head")
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

/// Opening a pipe could wait forever.
fn check_regular(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => Ok(()),
        Ok(_) => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn lock(path: &Path, locked: Result<(), TryLockError>) -> Result<(), AuditError> {
    match locked {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(AuditError::InUse(path.to_owned())),
        Err(TryLockError::Error(source)) => Err(AuditError::Io { path: path.to_owned(), source }),
    }
}

fn open_head(path: &Path, options: &OpenOptions) -> io::Result<Option<File>> {
    check_regular(path)?;
    match options.open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// One byte more than a record has tells that it is none.
fn read_head(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(head::SIZE + 1);
    file.rewind()?;
    file.take(head::SIZE as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A file's new name is safe when its folder is. Only Unix can be asked for that.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    if cfg!(unix) {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}
