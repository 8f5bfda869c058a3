//! Lock that a panic does not poison.

use std::sync::{self, MutexGuard, PoisonError};

/// Mutex without poisoning. After a panic with the lock held, the next holder finds the value as the panic left it. Use it
/// only for values whose changes are never half done where code could panic, or that stay valid if a change is.
#[derive(Debug, Default)]
pub struct Mutex<T>(sync::Mutex<T>);

impl<T> Mutex<T> {
    /// Creates a mutex.
    pub const fn new(value: T) -> Self {
        Self(sync::Mutex::new(value))
    }

    /// Waits until nobody else holds the value.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
