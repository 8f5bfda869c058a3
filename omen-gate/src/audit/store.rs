//! Where the log is kept.

mod files;
mod memory;

use std::fmt::Debug;
use std::fs::OpenOptions;
use std::io::{self, Read};

pub use files::{Files, head_path};
pub(crate) use files::{ReadOnly, sync_folder};
pub use memory::Memory;

/// What the log needs of its medium. An operation that returns is done for good, as far as the medium can promise it;
/// one that fails may have been done, or half done.
pub trait Store: Debug + Send + 'static {
    /// The log from its start.
    ///
    /// # Errors
    /// If it cannot be read.
    fn log(&mut self) -> io::Result<Box<dyn Read + '_>>;

    /// The head record, if there is one.
    ///
    /// # Errors
    /// If it cannot be read.
    fn head(&mut self) -> io::Result<Option<Vec<u8>>>;

    /// Writes a line at an offset, in bytes from the start. The log ends behind it: what is left of a torn line goes.
    ///
    /// # Errors
    /// If it is not safely written.
    fn append(&mut self, offset: u64, line: &[u8]) -> io::Result<()>;

    /// Writes the head record over the one before, whose size is the same. This is what every entry pays for.
    ///
    /// # Errors
    /// If it is not safely written.
    fn set_head(&mut self, head: &[u8]) -> io::Result<()>;

    /// Makes the head record, or makes it anew, whole or not at all.
    ///
    /// # Errors
    /// If it is not safely written.
    fn replace_head(&mut self, head: &[u8]) -> io::Result<()>;
}

/// Files that only the owner may read and write.
pub(crate) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
