//! A file whose lock ends with it.

use std::fs::{File, TryLockError};
use std::ops::{Deref, DerefMut};

/// A file that is locked, and unlocked when it goes.
///
/// To close it is not enough. A child process that another thread starts has a copy of the descriptor until it becomes its
/// program, and would keep the lock for that moment.
#[derive(Debug)]
pub(crate) struct Locked(File);

impl Locked {
    /// Locks a file for this process alone.
    pub(crate) fn alone(file: File) -> Result<Self, TryLockError> {
        file.try_lock().map(|()| Self(file))
    }

    /// Locks a file for all who only read it.
    pub(crate) fn shared(file: File) -> Result<Self, TryLockError> {
        file.try_lock_shared().map(|()| Self(file))
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // Where this fails, closing the file does the same a moment later.
        let _ = self.0.unlock();
    }
}

impl Deref for Locked {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

impl DerefMut for Locked {
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
        for lock in [Locked::alone, Locked::shared] {
            let ours = File::open(file.path()).unwrap();
            let inherited = ours.try_clone().unwrap();
            let locked = lock(ours).unwrap();
            assert!(Locked::alone(File::open(file.path()).unwrap()).is_err(), "it is locked");
            drop(locked);
            assert!(Locked::alone(File::open(file.path()).unwrap()).is_ok(), "it is free");
            drop(inherited);
        }
    }
}
