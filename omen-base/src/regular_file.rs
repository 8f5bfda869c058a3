//! Regular files, opened without blocking and read within limits.
//!
//! Opening a FIFO blocks until another process opens its other end, and a device such as `/dev/zero` has no end. Neither can be a
//! configuration, a key, an anchor or a log. Files are therefore opened with `O_NONBLOCK`, and the file type is queried from the
//! open descriptor: if the path were checked instead, it could be changed to another file afterwards.

use std::fs::{File, FileType, OpenOptions};
use std::io::{self, Read as _};
use std::path::Path;

/// Opens a regular file for reading.
///
/// # Errors
/// If it cannot be opened, or is a directory, a pipe, a socket or a device.
pub fn open(path: impl AsRef<Path>) -> io::Result<File> {
    open_with(OpenOptions::new().read(true), path.as_ref())
}

/// Reads a whole regular file.
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

/// Opens a regular file with the given options.
pub fn open_with(options: &OpenOptions, path: &Path) -> io::Result<File> {
    let mut options = options.clone();
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;

        use rustix::fs::OFlags;

        // `NONBLOCK` has no effect on regular files. `NOCTTY` prevents a terminal from becoming the controlling terminal.
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
    }
    let file = options.open(path).map_err(|error| unopened(path, error))?;
    let kind = file.metadata()?.file_type();
    if kind.is_file() { Ok(file) } else { Err(refused(kind)) }
}

/// Returns the options for writing a file that only the owner may read and write.
#[must_use]
pub fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Syncs the folder of a created or renamed file, which makes the name durable. Possible only on Unix.
///
/// # Errors
/// If the file system refuses.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Replaces an unspecific error: opening a FIFO without a reader, a socket, or a directory for writing fails with
/// errors that do not name the file type.
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
            return ("a pipe", ": write its content to a file, and pass that file");
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
