//! Files that become visible only when complete.

use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::{sync::mpsc::sync_channel, thread};

use omen_base::Mutex;
#[cfg(unix)]
use signal_hook::{
    consts::{SIGINT, SIGTERM},
    iterator::Signals,
};
use tempfile::{Builder, NamedTempFile};

/// A file that is written next to its destination and replaces it when complete. Readers find either the old file or the new one,
/// and a failed run leaves the old one in place. Pipes and devices are written directly.
#[derive(Debug)]
pub(super) enum Draft {
    Beside(NamedTempFile, PathBuf),
    InPlace(File),
}

impl Draft {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        // Resolves a link, so that its target is replaced.
        let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let existing = match fs::metadata(&place) {
            Ok(metadata) => Some(metadata),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if let Some(metadata) = &existing {
            // Opening fails for a directory or a read-only file.
            let file = File::options().append(true).open(path)?;
            if !metadata.is_file() || is_descriptor(path) {
                return Ok(Self::InPlace(file));
            }
        }
        let permissions = existing.as_ref().map(|metadata| metadata.permissions());
        let file = beside(&place, permissions.clone().or_else(fresh))?;
        DRAFTS.lock().push(file.path().to_owned());
        if let Some(metadata) = &existing {
            keep_owner(&file, metadata)?;
        }
        // Restores permissions that the umask or the change of owner has removed.
        if let Some(permissions) = permissions {
            fs::set_permissions(file.path(), permissions)?;
        }
        Ok(Self::Beside(file, place))
    }

    /// Returns whether written bytes are visible immediately.
    pub(super) fn is_in_place(&self) -> bool {
        matches!(self, Self::InPlace(_))
    }

    /// Moves the file to its destination.
    pub(super) fn keep(self) -> io::Result<()> {
        match self {
            Self::Beside(file, place) => file.persist(place).map(drop).map_err(|error| error.error),
            Self::InPlace(_) => Ok(()),
        }
    }
}

/// Replaces a file by one that only its owner may access, with this content. Readers find the old or the new content, but none in
/// between, even after a crash of the machine.
///
/// # Errors
/// If the file cannot be written, synced or renamed; then the old one is left.
pub(crate) fn replace_private(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = beside(path, None)?;
    file.write_all(content)?;
    file.as_file().sync_data()?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// Creates a temporary file in the folder of a path, private unless other permissions are given.
fn beside(path: &Path, permissions: Option<Permissions>) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = Builder::new();
    builder.prefix(".omen-").suffix(".tmp");
    if let Some(permissions) = permissions {
        builder.permissions(permissions);
    }
    // Only the error kind is kept: the caller did not choose the name of the temporary file.
    builder.tempfile_in(folder).map_err(|error| io::Error::from(error.kind()))
}

/// Returns whether a path refers to an open descriptor, such as `/dev/stdout`. Such a path may be a regular file, but must not be
/// replaced.
pub(crate) fn is_descriptor(path: &Path) -> bool {
    let is_standard = ["/dev/stdin", "/dev/stdout", "/dev/stderr"].iter().any(|name| path == Path::new(name));
    let is_listed = path.starts_with("/proc") && path.components().nth(3).is_some_and(|part| part.as_os_str() == "fd");
    is_standard || is_listed || path.starts_with("/dev/fd")
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

/// Installs handlers that remove drafts on SIGINT and SIGTERM, since a killed process runs no destructors. If the handlers cannot
/// be installed, drafts remain after a signal.
#[cfg(unix)]
pub(crate) fn remove_at_signals() {
    let (is_ready, ready) = sync_channel(1);
    // The thread is started first, since signals would be lost without it.
    let thread = thread::Builder::new().name("omen signals".to_owned()).spawn(move || {
        let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) else { return };
        let _ = is_ready.send(());
        for signal in signals.forever() {
            for draft in DRAFTS.lock().iter() {
                // Does not affect a complete draft, which has been renamed.
                let _ = fs::remove_file(draft);
            }
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    });
    if thread.is_ok() {
        let _ = ready.recv();
    }
}

#[cfg(not(unix))]
pub(crate) fn remove_at_signals() {}

/// Paths of this process's drafts.
static DRAFTS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Makes the owner of the replaced file the owner of a draft.
#[cfg(unix)]
fn keep_owner(draft: &NamedTempFile, existing: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, fchown};

    let (own, owner) = (draft.as_file().metadata()?, (existing.uid(), existing.gid()));
    if (own.uid(), own.gid()) == owner {
        return Ok(());
    }
    fchown(draft, Some(owner.0), Some(owner.1)).map_err(|error| {
        let message = format!(
            "its owner cannot be preserved; run this as the user {} in the group {}: {error}",
            owner.0, owner.1
        );
        io::Error::new(error.kind(), message)
    })
}

#[cfg(not(unix))]
fn keep_owner(_: &NamedTempFile, _: &Metadata) -> io::Result<()> {
    Ok(())
}

/// Returns the permissions of a new file under the process's umask; temporary files would otherwise be private.
#[cfg(unix)]
fn fresh() -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt as _;

    Some(Permissions::from_mode(0o666))
}

#[cfg(not(unix))]
fn fresh() -> Option<Permissions> {
    None
}
