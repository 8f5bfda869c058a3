//! Lock that ends with its file handle.

use std::fs::{File, TryLockError};
use std::ops::{Deref, DerefMut};

/// Locked file, unlocked on drop.
///
/// Closing the file is not enough: a child process started by another thread has a copy of the descriptor until it
/// executes its program, and would keep the lock until then.
#[derive(Debug)]
pub(crate) struct LockedFile(File);

impl LockedFile {
    /// Locks a file exclusively.
    pub(crate) fn alone(file: File) -> Result<Self, TryLockError> {
        file.try_lock().map(|()| Self(file))
    }

    /// Locks a file for reading, shared with other readers.
    pub(crate) fn shared(file: File) -> Result<Self, TryLockError> {
        file.try_lock_shared().map(|()| Self(file))
    }
}

impl Drop for LockedFile {
    fn drop(&mut self) {
        // If this fails, closing the file does the same a moment later.
        let _ = self.0.unlock();
    }
}

impl Deref for LockedFile {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

impl DerefMut for LockedFile {
    fn deref_mut(&mut self) -> &mut File {
        &mut self.0
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn a_copy_of_the_descriptor_does_not_keep_the_lock() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for lock in [LockedFile::alone, LockedFile::shared] {
            let ours = File::open(file.path()).unwrap();
            let inherited = ours.try_clone().unwrap();
            let locked = lock(ours).unwrap();
            assert!(LockedFile::alone(File::open(file.path()).unwrap()).is_err(), "it is locked");
            drop(locked);
            assert!(LockedFile::alone(File::open(file.path()).unwrap()).is_ok(), "it is free");
            drop(inherited);
        }
    }
}
