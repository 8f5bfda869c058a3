//! Where the log is kept.

mod files;
mod locked;
mod memory;
mod names;

use std::fmt::Debug;
use std::fs::OpenOptions;
use std::io::{self, Read};
use std::path::PathBuf;

pub use files::is_beside;
pub use files::{Files, head_path};
pub(crate) use files::{ReadOnly, Reading, is_attached, sync_folder};
pub use memory::Memory;
pub(crate) use names::parse as parse_name;
pub use names::{log_of, numbered};

/// What the log needs of its medium. An operation that returns is done for good, as far as the medium can promise it;
/// one that fails may have been done, or half done.
pub trait Store: Debug + Send + 'static {
    /// Whether writing waits for a device. If not, asynchronous code writes at once instead of on a thread that may wait: to wake
    /// such a thread takes longer than to write to the system's memory. By default it waits.
    fn waits(&self) -> bool {
        true
    }

    /// The log from its start, if there is one. An empty log is not the same as none: the head record is made before the
    /// log, so an empty log without a head record has lost it.
    ///
    /// # Errors
    /// If it cannot be read.
    fn log(&mut self) -> io::Result<Option<Box<dyn Read + '_>>>;

    /// The head record, if there is one.
    ///
    /// # Errors
    /// If it cannot be read.
    fn head(&mut self) -> io::Result<Option<Vec<u8>>>;

    /// Returns a file of the log that was removed, moved or replaced since it was opened. What is written to it then would
    /// be found by nobody.
    ///
    /// # Errors
    /// If that cannot be found out.
    fn misplaced(&mut self) -> io::Result<Option<PathBuf>> {
        Ok(None)
    }

    /// Writes lines at the end of the log, which is at this offset, in bytes from the start. If there is no log, makes
    /// one.
    ///
    /// # Errors
    /// If they are not safely written.
    fn append(&mut self, offset: u64, lines: &[u8]) -> io::Result<()>;

    /// Takes what is behind an offset off the log, once it is safely kept elsewhere, under a name that nothing has had:
    /// what was there is evidence, and is not deleted (D57).
    ///
    /// # Errors
    /// If it is not safely kept. Then it is still in the log.
    fn set_aside(&mut self, offset: u64) -> io::Result<()>;

    /// The names under which [`set_aside`](Self::set_aside) has kept what was behind this offset, the first one first.
    /// While the log ends at the offset, no entry has recorded them yet.
    ///
    /// # Errors
    /// If that cannot be found out.
    fn kept(&mut self, offset: u64) -> io::Result<Vec<String>>;

    /// Writes the head record over the one before, whose size is the same. This is what every group of entries pays for.
    ///
    /// # Errors
    /// If it is not safely written.
    fn set_head(&mut self, head: &[u8]) -> io::Result<()>;

    /// Makes the head record, or makes it anew, whole or not at all.
    ///
    /// # Errors
    /// If it is not safely written.
    fn replace_head(&mut self, head: &[u8]) -> io::Result<()>;

    /// Whether there is a file that continues this one, or its head record.
    ///
    /// # Errors
    /// If that cannot be found out.
    fn has_next(&mut self) -> io::Result<bool> {
        Ok(false)
    }

    /// The file that continues this one. If there is none, the first entry makes it, as with a new log.
    ///
    /// # Errors
    /// If it is in use, cannot be opened, or the medium has one file only, which is the default: such a log does not
    /// rotate.
    fn next(&mut self) -> io::Result<Box<dyn Store>> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "the store has one file only"))
    }
}

/// Files that only the owner may read and write.
pub(crate) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
