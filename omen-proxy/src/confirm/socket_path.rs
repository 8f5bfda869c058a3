//! Sockets of one user: a socket's path belongs to one process, and only processes of that user can connect.

use std::fs::{self, DirBuilder, File, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{
    DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use tokio::net::UnixListener;

/// Reason why a socket cannot be provided.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SocketError {
    /// Another gate uses the socket.
    #[error("the socket `{0}` is in use by another gate")]
    InUse(PathBuf),
    /// Other users could replace the socket with their own, or answer.
    #[error("the folder `{path}` of the socket is accessible to other users (mode {mode:o})")]
    Open {
        /// Path of the folder.
        path: PathBuf,
        /// Permission bits of the folder.
        mode: u32,
    },
    /// The folder belongs to another user.
    #[error("the folder `{path}` of the socket belongs to another user ({uid})")]
    Foreign {
        /// Path of the folder.
        path: PathBuf,
        /// Owner of the folder.
        uid: u32,
    },
    /// Something other than a socket is at the path, and is left there.
    #[error("`{0}` is not a socket")]
    NotSocket(PathBuf),
    /// The path cannot be used.
    #[error("the socket `{path}` cannot be used: {source}")]
    Io {
        /// Path of the socket.
        path: PathBuf,
        /// Cause of the failure.
        source: io::Error,
    },
}

impl SocketError {
    /// Returns the help: how to fix the error.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::InUse(_) => {
                "wait for the other gate to stop, or give each gate its own socket (`confirm.socket`)".into()
            }
            Self::Open { path, .. } => format!("run `chmod 700 {}`, or choose another folder", path.display()),
            Self::Foreign { .. } => "choose a socket in a folder of your own (`confirm.socket`)".into(),
            Self::NotSocket(_) => "move it away, or choose another path (`confirm.socket`)".into(),
            Self::Io { .. } => "choose a path in a folder that this user can write to (`confirm.socket`)".into(),
        }
    }
}

/// Path of a socket, which belongs to this process while this value exists. Dropping it removes the socket.
#[derive(Debug)]
pub(super) struct SocketPath {
    pub(super) path: PathBuf,
    /// Locked file. However a process ends, it releases the lock, so a socket that it has left is known to be dead.
    lock: File,
}

impl SocketPath {
    /// Takes the path: creates its folder if there is none, and removes a socket left by a dead process.
    fn take(path: &Path) -> Result<Self, SocketError> {
        let unusable = |source| SocketError::Io { path: path.to_owned(), source };
        let folder = folder_of(path);
        // Existing folders keep their permissions.
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(unusable)?;
        let owner = folder.metadata().map_err(unusable)?;
        if owner.uid() != rustix::process::geteuid().as_raw() {
            return Err(SocketError::Foreign { path: folder.to_owned(), uid: owner.uid() });
        }
        let mode = owner.permissions().mode() & 0o7777;
        if mode & 0o077 != 0 {
            return Err(SocketError::Open { path: folder.to_owned(), mode });
        }
        let mut lock = path.as_os_str().to_owned();
        lock.push(".lock");
        let lock = File::options().write(true).create(true).truncate(false).mode(0o600).open(lock).map_err(unusable)?;
        lock.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => SocketError::InUse(path.to_owned()),
            TryLockError::Error(source) => unusable(source),
        })?;
        match path.symlink_metadata() {
            Ok(old) if old.file_type().is_socket() => fs::remove_file(path).map_err(unusable)?,
            Ok(_) => return Err(SocketError::NotSocket(path.to_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(unusable(error)),
        }
        Ok(Self { path: path.to_owned(), lock })
    }
}

impl Drop for SocketPath {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
        // A child process may briefly have a copy of the descriptor, so closing it is not enough.
        let _ = self.lock.unlock();
    }
}

/// Listener on a Unix socket that only processes of this user can reach: the socket has mode 0600, in a folder of the
/// user with mode 0700. Dropping this removes the socket.
#[derive(Debug)]
pub struct PrivateListener {
    pub(super) listener: UnixListener,
    pub(super) socket: SocketPath,
}

impl PrivateListener {
    /// Creates the socket, and its folder if there is none. A socket left by a dead process is replaced. Must be called
    /// within a tokio runtime with I/O enabled.
    ///
    /// # Errors
    /// If a live process uses the socket, other users have permissions on its folder, or it cannot be created.
    pub fn bind(path: &Path) -> Result<Self, SocketError> {
        let socket = SocketPath::take(path)?;
        // The permissions of the folder keep other users away from it in any case.
        let listener = at(path, |address| {
            let listener = UnixListener::bind(address)?;
            fs::set_permissions(path, Permissions::from_mode(0o600))?;
            Ok(listener)
        });
        let listener = listener.map_err(|source| SocketError::Io { path: path.to_owned(), source })?;
        Ok(Self { listener, socket })
    }

    /// Waits for the next connection from a process of this user. Other connections are closed.
    ///
    /// # Errors
    /// If the system accepts no connection, e.g. because too many files are open.
    pub async fn accept(&self) -> io::Result<tokio::net::UnixStream> {
        loop {
            let (stream, _) = self.listener.accept().await?;
            if stream.peer_cred().is_ok_and(|peer| peer.uid() == rustix::process::geteuid().as_raw()) {
                return Ok(stream);
            }
        }
    }
}

/// Connects to a socket owned by this user.
///
/// # Errors
/// `PermissionDenied` if the socket belongs to another user; any other error if nothing listens there.
pub fn connect(path: &Path) -> io::Result<UnixStream> {
    let uid = path.metadata()?.uid();
    if uid != rustix::process::geteuid().as_raw() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, format!("it belongs to another user ({uid})")));
    }
    at(path, |address| UnixStream::connect(address))
}

/// Runs an operation on a socket's address. An address has room for about a hundred bytes; on Linux, a longer path is
/// reached through its folder.
pub(super) fn at<T>(path: &Path, act: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    if path.as_os_str().len() < LONGEST_ADDRESS {
        return act(path);
    }
    #[cfg(target_os = "linux")]
    if let Some(name) = path.file_name() {
        use std::os::fd::AsRawFd as _;

        let folder = File::open(folder_of(path))?;
        return act(&Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string()).join(name));
    }
    let why = format!("the path is longer than {LONGEST_ADDRESS} bytes");
    Err(io::Error::new(io::ErrorKind::InvalidInput, why))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Maximum length that fits on every system, including the final NUL.
const LONGEST_ADDRESS: usize = 100;
