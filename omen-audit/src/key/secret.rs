//! Secret files: hexadecimal digits that only the owner can read.

use std::fs::Metadata;
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use zeroize::Zeroizing;

use super::error::{BYTES, KeyError};
use omen_base::regular_file;

/// Reads a file on which only the owner has permissions (A3).
pub(crate) fn read(path: &Path) -> Result<Zeroizing<String>, KeyError> {
    let unreadable = |source| KeyError::Io { path: path.to_owned(), source };
    let file = regular_file::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidInput => KeyError::NotFile(path.to_owned()),
        _ => unreadable(error),
    })?;
    check_rights(path, &file.metadata().map_err(unreadable)?)?;
    // Allocated at full capacity, because growing would leave copies of parts behind.
    let mut text = Zeroizing::new(String::with_capacity(MAX_TEXT));
    let read = file.take(MAX_TEXT as u64).read_to_string(&mut text);
    match read {
        Ok(MAX_TEXT) => Err(KeyError::NotHex),
        Ok(_) => Ok(text),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(KeyError::NotHex),
        Err(error) => Err(unreadable(error)),
    }
}

/// Creates a file with random bytes from the operating system that only the owner may read and write.
pub(crate) fn create(path: &Path) -> Result<Zeroizing<[u8; BYTES]>, KeyError> {
    let mut bytes = Zeroizing::new([0; BYTES]);
    getrandom::fill(bytes.as_mut()).map_err(|error| KeyError::Random(error.to_string()))?;

    let mut text = Zeroizing::new([b'\n'; 2 * BYTES + 1]);
    let encoded = base16ct::lower::encode(bytes.as_ref(), text.as_mut()).map(<[u8]>::len);
    debug_assert_eq!(encoded, Ok(2 * BYTES), "one byte is left for the line break");
    // Synced, because entries sealed with a key lost in a power failure could no longer be verified.
    let written = regular_file::private().create_new(true).open(path).and_then(|mut file| {
        file.write_all(text.as_ref())?;
        file.sync_all()?;
        regular_file::sync_folder(path)
    });
    written.map_err(|source| KeyError::Io { path: path.to_owned(), source })?;
    Ok(bytes)
}

fn check_rights(path: &Path, metadata: &Metadata) -> Result<(), KeyError> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;

        let mode = metadata.permissions().mode() & 0o7777;
        if mode & 0o077 != 0 {
            return Err(KeyError::Open { path: path.to_owned(), mode });
        }
    }
    Ok(())
}

/// Maximum size of the file in bytes, far more than a secret needs.
const MAX_TEXT: usize = 4096;
