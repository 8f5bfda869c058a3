//! Log stored in files.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use super::Store;
use super::locked::LockedFile;
use super::names::{numbered, parse};
use crate::chain::head;
use crate::error::AuditError;
use omen_base::regular_file::{self, private, sync_folder};

/// Log file with its head record file, whose name has the additional suffix `.head`. The log is locked while this value
/// exists: there is only one writer at a time, and no verification while it writes.
///
/// Bytes cut off by a repair are kept in a file with the same name and the suffix `.torn-` followed by their offset.
#[derive(Debug)]
pub struct Files {
    path: PathBuf,
    /// First file of the log, and the number of this file.
    base: PathBuf,
    number: u32,
    log: LockedFile,
    /// Temporary name of the file while there is no log. Another process that starts the log finds it locked, and a log
    /// never exists before its head record.
    unnamed: Option<PathBuf>,
    head: Option<File>,
    sync: bool,
}

impl Files {
    /// Opens a log for writing. If it does not exist, the first entry creates it, and only the owner may read and write it.
    ///
    /// With `sync`, written data survives a power failure; without it, only the death of this process.
    ///
    /// # Errors
    /// If the log is in use or cannot be opened.
    pub fn open(path: impl AsRef<Path>, sync: bool) -> Result<Self, AuditError> {
        let files = Self::open_numbered(path.as_ref(), 1, sync)?;
        // A log with a later file is not new.
        if files.is_missing()
            && let Some(later) =
                later(path.as_ref()).map_err(|source| AuditError::Io { path: files.path.clone(), source })?
        {
            return Err(AuditError::Headless { log: files.path.clone(), later });
        }
        Ok(files)
    }

    /// Opens the log file with a number.
    pub(crate) fn open_numbered(base: &Path, number: u32, sync: bool) -> Result<Self, AuditError> {
        let path = &numbered(base, number);
        let unusable = |source| AuditError::Io { path: path.to_owned(), source };
        // Each further round means that another process has begun or abandoned the log since the previous round.
        for _ in 0..ROUNDS {
            let (log, unnamed) = match regular_file::open_with(private().read(true), path) {
                Ok(log) => (locked(path, LockedFile::alone(log))?, None),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    let Some((log, name)) = begin(path)? else { continue };
                    (log, Some(name))
                }
                Err(error) => return Err(unusable(error)),
            };
            let mut files = Self { path: path.clone(), base: base.to_owned(), number, log, unnamed, head: None, sync };
            files.head = open_head(&head_path(path), OpenOptions::new().read(true).write(true)).map_err(unusable)?;
            return Ok(files);
        }
        Err(AuditError::InUse(path.to_owned()))
    }

    pub(crate) fn is_missing(&self) -> bool {
        self.unnamed.is_some()
    }

    /// Returns whether a head record exists. Its log may be missing.
    pub(crate) fn has_head(&self) -> bool {
        self.head.is_some()
    }

    /// Renames the log from its temporary name, if it still has that name.
    fn name(&mut self) -> io::Result<()> {
        if let Some(unnamed) = &self.unnamed {
            fs::rename(unnamed, &self.path)?;
            self.unnamed = None;
            if self.sync {
                sync_folder(&self.path)?;
            }
        }
        Ok(())
    }

    /// Returns the path for bytes cut off at an offset, by the number of the attempt.
    fn aside(&self, offset: u64, time: u64) -> PathBuf {
        let again = if time == 1 { String::new() } else { format!(".{time}") };
        with_suffix(&self.path, &format!("{TORN}{offset}{again}"))
    }
}

impl Store for Files {
    fn waits(&self) -> bool {
        self.sync
    }

    fn log(&mut self) -> io::Result<Option<Box<dyn Read + '_>>> {
        if self.is_missing() {
            return Ok(None);
        }
        self.log.rewind()?;
        Ok(Some(Box::new(&*self.log)))
    }

    fn head(&mut self) -> io::Result<Option<Vec<u8>>> {
        self.head.as_mut().map(read_head).transpose()
    }

    fn misplaced(&mut self) -> io::Result<Option<PathBuf>> {
        let log = self.unnamed.as_ref().unwrap_or(&self.path);
        if !is_at(&self.log, log)? {
            return Ok(Some(log.clone()));
        }
        let path = head_path(&self.path);
        match &self.head {
            Some(head) if !is_at(head, &path)? => Ok(Some(path)),
            _ => Ok(None),
        }
    }

    fn append(&mut self, offset: u64, line: &[u8]) -> io::Result<()> {
        self.name()?;
        self.log.seek(SeekFrom::Start(offset))?;
        self.log.write_all(line)?;
        if self.sync { self.log.sync_data() } else { Ok(()) }
    }

    /// Sets bytes aside, synced regardless of the options, because cut bytes are evidence and repairs are rare.
    fn set_aside(&mut self, offset: u64) -> io::Result<()> {
        let mut time = 1;
        let (mut file, path) = loop {
            let path = self.aside(offset, time);
            match private().create_new(true).open(&path) {
                Ok(file) => break (file, path),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => time += 1,
                Err(error) => return Err(error),
            }
        };
        self.log.seek(SeekFrom::Start(offset))?;
        io::copy(&mut *self.log, &mut file)?;
        file.sync_all()?;
        sync_folder(&path)?;
        self.log.set_len(offset)?;
        self.log.sync_all()
    }

    fn kept(&mut self, offset: u64) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for time in 1.. {
            let path = self.aside(offset, time);
            if !is_there(&path)? {
                break;
            }
            names.extend(path.file_name().map(|name| name.to_string_lossy().into_owned()));
        }
        Ok(names)
    }

    fn set_head(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(head) = &mut self.head else {
            return self.replace_head(bytes);
        };
        head.rewind()?;
        head.write_all(bytes)?;
        if self.sync { head.sync_data() } else { Ok(()) }
    }

    /// Writes under another name, then renames: about twelve times slower than writing in place on common disks.
    fn replace_head(&mut self, bytes: &[u8]) -> io::Result<()> {
        let path = head_path(&self.path);
        let fresh = with_suffix(&path, NEW);
        // Left by a crash: no other process writes here, because the log is locked.
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

    fn has_next(&mut self) -> io::Result<bool> {
        let next = numbered(&self.base, self.number + 1);
        Ok(is_there(&next)? || is_there(&head_path(&next))?)
    }

    fn next(&mut self) -> io::Result<Box<dyn Store>> {
        match Self::open_numbered(&self.base, self.number + 1, self.sync) {
            Ok(files) => Ok(Box::new(files)),
            Err(AuditError::Io { source, .. }) => Err(source),
            Err(error) => Err(io::Error::other(error)),
        }
    }
}

/// Removes a log that was not begun after all.
impl Drop for Files {
    fn drop(&mut self) {
        if let Some(unnamed) = &self.unnamed {
            // The file is locked and empty, so no other process uses it. If it cannot be removed, it will be reused.
            let _ = fs::remove_file(unnamed);
        }
    }
}

/// Creates the file of a new log under a temporary name and locks it. `None` if another process was faster.
fn begin(path: &Path) -> Result<Option<(LockedFile, PathBuf)>, AuditError> {
    let unusable = |source| AuditError::Io { path: path.to_owned(), source };
    let unnamed = with_suffix(path, NEW);
    let log = regular_file::open_with(private().read(true).create(true), &unnamed).map_err(unusable)?;
    let log = locked(path, LockedFile::alone(log))?;
    // Only the holder of the lock renames or removes the file, so these checks stay valid.
    if !is_at(&log, &unnamed).map_err(unusable)? {
        return Ok(None);
    }
    if path.try_exists().map_err(unusable)? {
        fs::remove_file(&unnamed).map_err(unusable)?;
        return Ok(None);
    }
    if log.metadata().map_err(unusable)?.len() > 0 {
        let message = format!("`{}` is not empty, so a new log cannot start there", unnamed.display());
        return Err(unusable(io::Error::new(io::ErrorKind::AlreadyExists, message)));
    }
    Ok(Some((log, unnamed)))
}

/// Returns whether a path still refers to an open file.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;

    let ours = file.metadata()?;
    match fs::metadata(path) {
        Ok(there) => Ok((ours.dev(), ours.ino(), ours.nlink()) == (there.dev(), there.ino(), there.nlink())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns whether the path exists. On other systems, an open file cannot be removed or renamed.
#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> io::Result<bool> {
    path.try_exists()
}

/// Log open for reading, with its head record.
#[derive(Debug)]
pub(crate) struct ReadOnly {
    /// `None` if the log is missing but its head record exists.
    pub(crate) log: Option<LogFile>,
    pub(crate) head: Option<Vec<u8>>,
}

/// Log file that is being read.
#[derive(Debug)]
pub(crate) enum LogFile {
    /// The log is locked, so nothing writes to it in the meantime.
    Locked(LockedFile),
    /// A program has the log open for writing. The entries up to the head record exist and do not change.
    InUse(File),
}

impl LogFile {
    pub(crate) fn skip_to(&mut self, offset: u64) -> io::Result<()> {
        match self {
            Self::Locked(file) => file.seek(SeekFrom::Start(offset)).map(|_| ()),
            Self::InUse(file) => file.seek(SeekFrom::Start(offset)).map(|_| ()),
        }
    }
}

impl Read for LogFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Locked(file) => file.read(buffer),
            Self::InUse(file) => file.read(buffer),
        }
    }
}

impl ReadOnly {
    /// Opens a log whose file and head record may both be missing.
    pub(crate) fn open_or_none(path: &Path) -> Result<Self, AuditError> {
        match Self::open(path) {
            Err(AuditError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Ok(Self { log: None, head: None })
            }
            opened => opened,
        }
    }

    pub(crate) fn open(path: &Path) -> Result<Self, AuditError> {
        let unusable = |source| AuditError::Io { path: path.to_owned(), source };
        let log = match regular_file::open(path) {
            Ok(log) => match LockedFile::shared(log) {
                Ok(log) => Ok(LogFile::Locked(log)),
                Err(TryLockError::WouldBlock) => regular_file::open(path).map(LogFile::InUse),
                Err(TryLockError::Error(error)) => Err(error),
            },
            Err(error) => Err(error),
        };
        // Read after the log was locked, or otherwise before the log is read, so all entries that it covers exist.
        let mut head = open_head(&head_path(path), OpenOptions::new().read(true)).map_err(unusable)?;
        let head = head.as_mut().map(read_head).transpose().map_err(unusable)?;
        match log {
            Ok(log) => Ok(Self { log: Some(log), head }),
            Err(error) if error.kind() == io::ErrorKind::NotFound && head.is_some() => Ok(Self { log: None, head }),
            Err(error) => Err(unusable(error)),
        }
    }
}

/// Returns the path of a log's head record.
#[must_use]
pub fn head_path(log: impl AsRef<Path>) -> PathBuf {
    with_suffix(log.as_ref(), HEAD)
}

/// Returns whether a file name belongs to the log with a name, or to a file next to it.
pub fn is_beside(log: &str, name: &str) -> bool {
    let is_rest = |rest: &str| {
        let rest = rest.strip_prefix(HEAD).unwrap_or(rest);
        rest.is_empty() || rest == NEW || rest.starts_with(TORN)
    };
    let (folder, file) = name.rsplit_once('/').map_or(("", name), |(folder, file)| (folder, file));
    // The name of each file may have the suffix of an attached file.
    let of_a_later_file = (1..=file.len()).filter_map(|end| file.split_at_checked(end)).any(|(file, rest)| {
        let path = if folder.is_empty() { PathBuf::from(file) } else { Path::new(folder).join(file) };
        let (base, number) = parse(&path);
        number > 1 && is_rest(rest) && base == Path::new(log)
    });
    of_a_later_file || name.strip_prefix(log).is_some_and(is_rest)
}

/// Returns whether a name belongs to a file attached to a log file: a head record, cut bytes, or a temporary file.
pub(crate) fn is_attached(name: &str) -> bool {
    name.ends_with(HEAD) || name.ends_with(NEW) || name.contains(TORN)
}

/// Returns whether a file exists. A name that is too long belongs to no file.
fn is_there(path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidFilename) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns a file of a log other than its first one, if any exists.
fn later(log: &Path) -> io::Result<Option<PathBuf>> {
    let folder = log.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let (base, number) = parse(Path::new(&name));
        if number > 1 && Some(base.as_os_str()) == log.file_name() {
            return Ok(Some(folder.join(name)));
        }
    }
    Ok(None)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

fn locked(path: &Path, locked: Result<LockedFile, TryLockError>) -> Result<LockedFile, AuditError> {
    match locked {
        Ok(log) => Ok(log),
        Err(TryLockError::WouldBlock) => Err(AuditError::InUse(path.to_owned())),
        Err(TryLockError::Error(source)) => Err(AuditError::Io { path: path.to_owned(), source }),
    }
}

fn open_head(path: &Path, options: &OpenOptions) -> io::Result<Option<File>> {
    match regular_file::open_with(options, path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads the head record. An extra byte shows that the record is invalid.
fn read_head(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(head::SIZE + 1);
    file.rewind()?;
    file.take(head::SIZE as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

const HEAD: &str = ".head";
/// Suffix of a file that is being created.
const NEW: &str = ".new";
/// Suffix of a file with cut bytes, before the offset.
const TORN: &str = ".torn-";

/// Maximum number of attempts to open a log that other processes begin or abandon.
const ROUNDS: usize = 16;
