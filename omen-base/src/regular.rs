//! Regular files, opened without waiting and read within bounds.
//!
//! Opening a FIFO waits until another process opens its other end, and a device such as `/dev/zero` has no end. Neither
//! can hold a configuration, a key, an anchor or a log. So a file is opened with `O_NONBLOCK`, and its kind is asked of
//! the open descriptor: between checking a path and opening it, the path could come to name another file.

use std::fs::{File, FileType, OpenOptions};
use std::io::{self, Read as _};
use std::path::Path;

/// Opens a regular file to read it.
///
/// # Errors
/// If it cannot be opened, or is a directory, a pipe, a socket or a device.
pub fn open(path: impl AsRef<Path>) -> io::Result<File> {
    open_with(OpenOptions::new().read(true), path.as_ref())
}

/// Reads a regular file whole.
///
/// # Errors
/// If it cannot be read, is a directory, a pipe, a socket or a device, or has more than `limit` bytes
/// ([`io::ErrorKind::FileTooLarge`]).
pub fn read(path: impl AsRef<Path>, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it is longer than {limit} bytes")));
    }
    Ok(bytes)
}

/// Opens a regular file, in whatever way the options say.
pub fn open_with(options: &OpenOptions, path: &Path) -> io::Result<File> {
    let mut options = options.clone();
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;

        use rustix::fs::OFlags;

        // Regular files do not know the flag. Nor must opening a terminal make it ours.
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
    }
    let file = options.open(path).map_err(|error| unopened(path, error))?;
    let kind = file.metadata()?.file_type();
    if kind.is_file() { Ok(file) } else { Err(refused(kind)) }
}

/// A FIFO without a reader, a socket and a directory fail to open for writing with errors that say less than their kind.
fn unopened(path: &Path, error: io::Error) -> io::Error {
    match path.metadata() {
        Ok(metadata) if !metadata.is_file() => refused(metadata.file_type()),
        Ok(_) | Err(_) => error,
    }
}

fn refused(kind: FileType) -> io::Error {
    let (what, help) = name(kind);
    io::Error::new(io::ErrorKind::InvalidInput, format!("expected a regular file, found {what}{help}"))
}

fn name(kind: FileType) -> (&'static str, &'static str) {
    if kind.is_dir() {
        return ("a directory", "");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;

        if kind.is_fifo() {
            return ("a pipe", ": write its content to a file, and name that file");
        }
        if kind.is_socket() {
            return ("a socket", "");
        }
        if kind.is_char_device() || kind.is_block_device() {
            return ("a device", "");
        }
    }
    ("something else", "")
}
