//! Log storage.

mod files;
mod locked;
mod memory;
mod names;

use std::fmt::Debug;
use std::io::{self, Read};
use std::path::PathBuf;

pub use files::{Files, head_path, is_beside};
pub(crate) use files::{LogFile, ReadOnly, is_attached};
pub use memory::Memory;
pub(crate) use names::parse as parse_name;
pub use names::{log_of, numbered};

/// Storage medium of the log. An operation that returns successfully is durable, as far as the medium can guarantee it;
/// one that fails may have been done, or half done.
pub trait Store: Debug + Send + 'static {
    /// Returns whether writing blocks on a device. If not, asynchronous code writes directly instead of on a thread
    /// that may block: waking such a thread takes longer than writing to the system's memory. `true` by default.
    fn waits(&self) -> bool {
        true
    }

    /// Reads the log from its start, if it exists. An empty log differs from a missing one: the head record is created
    /// before the log, so an empty log without a head record has lost it.
    ///
    /// # Errors
    /// If the log cannot be read.
    fn log(&mut self) -> io::Result<Option<Box<dyn Read + '_>>>;

    /// Reads the head record, if it exists.
    ///
    /// # Errors
    /// If the head record cannot be read.
    fn head(&mut self) -> io::Result<Option<Vec<u8>>>;

    /// Returns a log file that was removed, moved or replaced since it was opened, so entries written to it would be lost.
    ///
    /// # Errors
    /// If this cannot be determined.
    fn misplaced(&mut self) -> io::Result<Option<PathBuf>> {
        Ok(None)
    }

    /// Writes lines at the end of the log, which is at this offset in bytes from the start. Creates a missing log.
    ///
    /// # Errors
    /// If the lines are not safely written.
    fn append(&mut self, offset: u64, lines: &[u8]) -> io::Result<()>;

    /// Removes the bytes after an offset from the log once they are safely stored elsewhere under an unused name: they
    /// are evidence and must not be deleted (D57).
    ///
    /// # Errors
    /// If the bytes are not safely stored; in that case they are still in the log.
    fn set_aside(&mut self, offset: u64) -> io::Result<()>;

    /// Returns the names under which [`set_aside`](Self::set_aside) has stored the bytes after this offset, oldest
    /// first. While the log ends at the offset, no entry has recorded them yet.
    ///
    /// # Errors
    /// If the names cannot be determined.
    fn kept(&mut self, offset: u64) -> io::Result<Vec<String>>;

    /// Overwrites the head record with one of the same size. Every group of entries incurs this cost.
    ///
    /// # Errors
    /// If the head record is not safely written.
    fn set_head(&mut self, head: &[u8]) -> io::Result<()>;

    /// Creates or replaces the head record atomically.
    ///
    /// # Errors
    /// If the head record is not safely written.
    fn replace_head(&mut self, head: &[u8]) -> io::Result<()>;

    /// Returns whether a continuing file or its head record exists.
    ///
    /// # Errors
    /// If this cannot be determined.
    fn has_next(&mut self) -> io::Result<bool> {
        Ok(false)
    }

    /// Opens the file that continues this one. If it does not exist, the first entry creates it, as with a new log.
    ///
    /// # Errors
    /// If the file is in use or cannot be opened, or the medium has only one file, which is the default: such a log
    /// does not rotate.
    fn next(&mut self) -> io::Result<Box<dyn Store>> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "the store has one file only"))
    }
}
