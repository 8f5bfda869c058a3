//! Log in a file, with one writer.
//!
//! ```
//! use omen::log_file::LogFile;
//! # use omen::prelude::*;
//!
//! # fn demo(setup: Setup, path: &std::path::Path) -> Result<(), Box<dyn std::error::Error>> {
//! let log = LogFile::open(path)?; // Fails while another process writes the log.
//! let episode = setup.log(log).start()?; // Fails if the log holds packets of this episode.
//! # drop(episode);
//! # Ok(())
//! # }
//! ```

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead as _, BufReader, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use omen_fsm::episode::{AnyEpisode, Line, Log, ResumeError, Setup};
use omen_invariants::ledger::{Fingerprint, Kind};
use omen_types::{CorrelationId, PacketFacts, PacketId};

/// Log of JSON Lines in a file with one writer: the file is locked as long as this value or a clone of it exists, so that no two
/// processes write to the same log. Clones write to the same file, each step as a whole, so episodes may be interleaved in it.
///
/// Keeps each correlation id in the log and the id of its last packet in memory, in about 40 bytes.
#[derive(Clone, Debug)]
pub struct LogFile(Arc<Mutex<OpenLog>>);

#[derive(Debug)]
struct OpenLog {
    path: PathBuf,
    file: File,
    /// Last packet of each episode, by correlation id.
    last: BTreeMap<Fingerprint, Fingerprint>,
    is_synced: bool,
}

impl Drop for OpenLog {
    fn drop(&mut self) {
        // Closing the file is not enough: until a child process that another thread is starting executes its program,
        // it holds a copy of the descriptor and thus the lock.
        let _ = self.file.unlock();
    }
}

/// Reason why a file cannot be used as a log.
#[derive(Debug)]
#[non_exhaustive]
pub enum LogFileError {
    /// Caller or another process: the file is open in another `LogFile`.
    Locked(PathBuf),
    /// Input: the file ends without a line feed, so its last step may be incomplete.
    Torn {
        /// Path of the file.
        path: PathBuf,
        /// Number of bytes in complete lines.
        whole: u64,
    },
    /// Input: the episode cannot be resumed from this log.
    Resume(PathBuf, ResumeError),
    /// Environment: the file cannot be read, created or locked.
    Io(PathBuf, io::Error),
}

impl fmt::Display for LogFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Locked(path) => {
                write!(f, "the log `{}` is in use by another process; wait for it to finish", path.display())
            }
            Self::Torn { path, whole } => write!(
                f,
                "the log `{}` ends in the middle of a line; keep a copy, then truncate the file to {whole} bytes: the \
                 incomplete step was not taken",
                path.display()
            ),
            Self::Resume(path, error) => write!(f, "cannot resume from the log `{}`: {error}", path.display()),
            Self::Io(path, error) => write!(f, "cannot open the log `{}`: {error}", path.display()),
        }
    }
}

impl std::error::Error for LogFileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Resume(_, error) => Some(error),
            Self::Io(_, error) => Some(error),
            Self::Locked(_) | Self::Torn { .. } => None,
        }
    }
}

impl LogFile {
    /// Opens or creates a log and locks it.
    ///
    /// # Errors
    /// If the file is locked, its last line is incomplete, or it cannot be read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, LogFileError> {
        let path = path.as_ref();
        let file = OpenOptions::new().read(true).append(true).create(true).open(path);
        Self::from_file(file.map_err(|error| LogFileError::Io(path.to_owned(), error))?, path)
    }

    /// Uses a file that is open for reading and appending, for a program that has verified which file it opened. `path`
    /// is used in error messages.
    ///
    /// # Errors
    /// Same as [`open`](Self::open).
    pub fn from_file(file: File, path: impl AsRef<Path>) -> Result<Self, LogFileError> {
        let path = path.as_ref();
        let failed = |error| LogFileError::Io(path.to_owned(), error);
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")));
        }
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => LogFileError::Locked(path.to_owned()),
            TryLockError::Error(error) => failed(error),
        })?;
        let mut log = OpenLog { path: path.to_owned(), file, last: BTreeMap::new(), is_synced: false };
        let mut last = BTreeMap::new();
        let whole = log.lines(|line| {
            if let Ok(text) = std::str::from_utf8(line)
                && let Ok(packet) = PacketFacts::parse(text)
            {
                last.insert(key(&packet.header.correlation_id), key(&packet.header.packet_id));
            }
        });
        match whole.map_err(failed)? {
            None => log.last = last,
            Some(whole) => return Err(LogFileError::Torn { path: path.to_owned(), whole }),
        }
        Ok(Self(Arc::new(Mutex::new(log))))
    }

    /// Makes every step wait until it is written to the disk.
    #[must_use]
    pub fn synced(self) -> Self {
        self.lock().is_synced = true;
        self
    }

    /// Resumes the episode of `setup` at the end of this log, to which it then writes; begins it if it has no packets.
    ///
    /// # Errors
    /// [`LogFileError::Resume`] for the same reasons as [`AnyEpisode::resume`]; [`LogFileError::Io`] if the file cannot be read.
    pub fn resume(&self, setup: Setup) -> Result<AnyEpisode, LogFileError> {
        let id = setup.correlation_id().clone();
        let mut lines: Vec<String> = Vec::new();
        // Lines of other episodes become blank lines, so errors have the line numbers of the file.
        let mut open = self.lock();
        let path = open.path.clone();
        let read = open.lines(|line| {
            let text = String::from_utf8_lossy(line);
            let is_own = memchr::memmem::find(line, id.as_str().as_bytes()).is_some();
            lines.push(if is_own { text.into_owned() } else { String::new() });
        });
        drop(open);
        if let Err(error) = read {
            return Err(LogFileError::Io(path, error));
        }
        let resumed = AnyEpisode::resume(setup.log(self.clone()), lines.iter().map(String::as_str));
        resumed.map_err(|error| LogFileError::Resume(path, error))
    }

    /// Ignores poisoning: only I/O can panic while the lock is held, which leaves no field half updated.
    fn lock(&self) -> MutexGuard<'_, OpenLog> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenLog {
    /// Reads all lines. If the last line is incomplete, returns the number of bytes in complete lines.
    fn lines(&mut self, mut each: impl FnMut(&[u8])) -> io::Result<Option<u64>> {
        self.file.seek(SeekFrom::Start(0))?;
        let mut reader = BufReader::new(&self.file);
        let (mut line, mut whole) = (Vec::new(), 0);
        loop {
            line.clear();
            let read = reader.read_until(b'\n', &mut line)?;
            match line.strip_suffix(b"\n") {
                Some(text) => each(text.strip_suffix(b"\r").unwrap_or(text)),
                None if read == 0 => return Ok(None),
                None => return Ok(Some(whole)),
            }
            whole += read as u64;
        }
    }
}

impl Log for LogFile {
    fn append(&mut self, lines: &[Line<'_>]) -> io::Result<()> {
        let mut log = self.lock();
        let mut text = String::with_capacity(lines.iter().map(|line| line.text.len() + 1).sum());
        for line in lines {
            text.push_str(line.text);
            text.push('\n');
        }
        log.file.write_all(text.as_bytes())?;
        for line in lines {
            log.last.insert(key(line.correlation_id.as_str()), key(line.packet_id.as_str()));
        }
        if log.is_synced { log.file.sync_data() } else { Ok(()) }
    }

    fn holds(&self, episode: &CorrelationId) -> bool {
        self.lock().last.contains_key(&key(episode.as_str()))
    }

    fn ends_with(&self, episode: &CorrelationId, last: Option<&PacketId>) -> bool {
        let log = self.lock();
        log.last.get(&key(episode.as_str())).is_none_or(|own| last.is_some_and(|last| key(last.as_str()) == *own))
    }
}

fn key(id: &str) -> Fingerprint {
    Fingerprint::new(Kind::Packet, id)
}
