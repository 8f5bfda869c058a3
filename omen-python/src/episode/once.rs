//! Values that are used once.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;

use super::errors;

/// First use of a value: the move, and the place in the program.
#[derive(Clone, Debug)]
pub(super) struct FirstUse {
    by: String,
    at: String,
}

impl FirstUse {
    /// Notes a use by the running program.
    pub(super) fn now(py: Python<'_>, by: &str) -> Self {
        Self { by: by.to_owned(), at: place(py).unwrap_or_else(|_| "an unknown place".to_owned()) }
    }

    /// Returns the error of a second use.
    pub(super) fn again(&self, py: Python<'_>, what: &str, by: &str) -> PyErr {
        errors::used(
            py,
            &format!("this {what} was already used by `{}` at {}; `{by}` cannot use it again", self.by, self.at),
        )
    }
}

/// Returns file and line of the caller outside of this package.
fn place(py: Python<'_>) -> PyResult<String> {
    let mut frame = py.import("sys")?.getattr("_getframe")?.call0()?;
    loop {
        let module = frame.getattr("f_globals")?.get_item("__name__").and_then(|name| name.extract::<String>());
        let inside = module.is_ok_and(|name| name == "omen" || name.starts_with("omen."));
        let outer = frame.getattr("f_back")?;
        if !inside || outer.is_none() {
            let file: String = frame.getattr("f_code")?.getattr("co_filename")?.extract()?;
            let line: usize = frame.getattr("f_lineno")?.extract()?;
            return Ok(format!("{file}:{line}"));
        }
        frame = outer;
    }
}

/// Value that is taken by its first use.
pub(super) struct Once<T> {
    what: &'static str,
    state: Mutex<Result<T, FirstUse>>,
}

impl<T> Once<T> {
    pub(super) fn new(what: &'static str, value: T) -> Self {
        Self { what, state: Mutex::new(Ok(value)) }
    }

    /// Takes the value.
    ///
    /// # Errors
    /// `StateUsed`, with the place of the first use.
    pub(super) fn take(&self, py: Python<'_>, by: &str) -> PyResult<T> {
        let now = FirstUse::now(py, by);
        let taken = {
            let mut state = self.lock();
            let first = state.as_ref().err().cloned();
            std::mem::replace(&mut *state, Err(first.unwrap_or(now)))
        };
        // Python runs without the lock, or two threads could wait for each other.
        taken.map_err(|first| first.again(py, self.what, by))
    }

    /// Puts the value back after a refused use.
    pub(super) fn put_back(&self, value: T) {
        *self.lock() = Ok(value);
    }

    /// Reads the value; `read` must not run Python.
    ///
    /// # Errors
    /// As [`Once::take`].
    pub(super) fn read<R>(&self, py: Python<'_>, by: &str, read: impl FnOnce(&T) -> R) -> PyResult<R> {
        let found = match &*self.lock() {
            Ok(value) => Ok(read(value)),
            Err(first) => Err(first.clone()),
        };
        found.map_err(|first| first.again(py, self.what, by))
    }

    /// Ignores poisoning: every change is a single operation.
    fn lock(&self) -> MutexGuard<'_, Result<T, FirstUse>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
