//! A file that appears when it is complete.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

/// A file that is written beside its place, and takes it when it is complete: a reader finds the old file or the new one, and
/// a run that fails leaves the old one. Pipes and devices are written in place.
#[derive(Debug)]
pub(super) enum Draft {
    Beside(NamedTempFile, PathBuf),
    InPlace(File),
}

impl Draft {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        // Through a link, the file that it points to is replaced.
        let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let existing = match fs::metadata(&place) {
            Ok(metadata) => Some(metadata),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if let Some(metadata) = &existing {
            // Fails for a directory, and if the file is protected.
            let file = File::options().append(true).open(path)?;
            // `/dev/stdout` may be a regular file, which the shell has open.
            if !metadata.is_file() || path.starts_with("/dev") || path.starts_with("/proc") {
                return Ok(Self::InPlace(file));
            }
        }
        let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut builder = Builder::new();
        builder.prefix(".omen-").suffix(".tmp");
        let permissions = existing.map(|metadata| metadata.permissions()).or_else(fresh);
        if let Some(permissions) = permissions {
            builder.permissions(permissions);
        }
        // Without the name of the temporary file, which the caller did not choose.
        let file = builder.tempfile_in(folder).map_err(|error| io::Error::from(error.kind()))?;
        Ok(Self::Beside(file, place))
    }

    /// Whether every byte is visible at once.
    pub(super) fn is_in_place(&self) -> bool {
        matches!(self, Self::InPlace(_))
    }

    /// Puts the file in its place.
    pub(super) fn keep(self) -> io::Result<()> {
        match self {
            Self::Beside(file, place) => file.persist(place).map(drop).map_err(|error| error.error),
            Self::InPlace(_) => Ok(()),
        }
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Beside(file, _) => file.write(bytes),
            Self::InPlace(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Beside(file, _) => file.flush(),
            Self::InPlace(file) => file.flush(),
        }
    }
}

/// The permissions of a new file, less those that the process masks. Temporary files are private otherwise.
#[cfg(unix)]
fn fresh() -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt as _;

    Some(Permissions::from_mode(0o666))
}

#[cfg(not(unix))]
fn fresh() -> Option<Permissions> {
    None
}
