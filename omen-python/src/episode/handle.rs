//! Handle of an episode in one state.
//!
//! All handles of an episode share it, and only the latest one can use it. A move creates a new handle, and the previous one
//! records where it was used.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use omen::{AnyEpisode, Assumption, Refusal};
use pyo3::prelude::*;

use super::errors;
use super::once::FirstUse;

/// Episode with what its loop is to verify.
pub(super) struct Live {
    pub(super) episode: AnyEpisode,
    /// Assumptions of the loop's plans, by their texts.
    pub(super) assumptions: Vec<(String, Assumption)>,
}

/// Refused move: the episode as it was, and the reason.
pub(super) struct NotDone {
    pub(super) episode: AnyEpisode,
    pub(super) why: Arc<Refusal>,
}

struct Current {
    /// Number of the handle that can use the episode.
    number: u64,
    /// The episode; `None` while a move runs, and after the end.
    live: Option<Live>,
}

/// Episode in one state, which one move uses.
#[pyclass(frozen, module = "omen._core")]
pub(crate) struct Handle {
    shared: Arc<Mutex<Current>>,
    number: u64,
    used: OnceLock<FirstUse>,
}

impl Handle {
    pub(super) fn new(episode: AnyEpisode) -> Self {
        let live = Some(Live { episode, assumptions: Vec::new() });
        Self { shared: Arc::new(Mutex::new(Current { number: 0, live })), number: 0, used: OnceLock::new() }
    }

    /// Makes a move, without the lock of the interpreter: a log may wait for the disk.
    ///
    /// # Errors
    /// `StateUsed` if this handle was used, and what `run` refuses; then the episode is as it was.
    pub(super) fn step<R: Send>(
        &self,
        py: Python<'_>,
        state: &str,
        name: &str,
        run: impl FnOnce(Live) -> Result<(Live, R), (Live, Arc<Refusal>)> + Send,
    ) -> PyResult<(Self, R)> {
        let live = self.take(py, name)?;
        match py.detach(|| run(live)) {
            Ok((live, given)) => {
                let _ = self.used.set(FirstUse::now(py, name));
                let number = self.number.saturating_add(1);
                *self.lock() = Current { number, live: Some(live) };
                Ok((Self { shared: Arc::clone(&self.shared), number, used: OnceLock::new() }, given))
            }
            Err((live, why)) => {
                self.lock().live = Some(live);
                Err(errors::refused(py, state, name, &why))
            }
        }
    }

    /// Reads the episode; `read` must not run Python.
    pub(super) fn read<R>(&self, py: Python<'_>, name: &str, read: impl FnOnce(&AnyEpisode) -> R) -> PyResult<R> {
        let current = self.lock();
        let found = match &current.live {
            Some(live) if current.number == self.number => Some(read(&live.episode)),
            _ => None,
        };
        // Python runs without the lock, or two threads could wait for each other.
        drop(current);
        found.ok_or_else(|| self.unusable(py, name))
    }

    /// Reads the episode and its clock, which may be in Python: without the lock and the lock of the interpreter.
    pub(super) fn read_now<R: Send>(
        &self,
        py: Python<'_>,
        name: &str,
        read: impl FnOnce(&AnyEpisode) -> R + Send,
    ) -> PyResult<R> {
        let live = self.take(py, name)?;
        let (live, found) = py.detach(|| {
            let found = read(&live.episode);
            (live, found)
        });
        self.lock().live = Some(live);
        Ok(found)
    }

    fn take(&self, py: Python<'_>, name: &str) -> PyResult<Live> {
        let mut current = self.lock();
        let live = if current.number == self.number { current.live.take() } else { None };
        drop(current);
        live.ok_or_else(|| self.unusable(py, name))
    }

    fn unusable(&self, py: Python<'_>, name: &str) -> PyErr {
        match self.used.get() {
            Some(first) => first.again(py, "episode", name),
            None => errors::used(py, &format!("`{name}` failed: this episode has ended, or another thread uses it")),
        }
    }

    /// Ends the episode by its drop policy, whichever handle can use it.
    pub(super) fn end_now(&self) {
        let live = self.lock().live.take();
        drop(live);
    }

    /// Marks the handle as used by the close of the episode.
    pub(super) fn close(
        &self,
        py: Python<'_>,
        state: &str,
        close: impl FnOnce(AnyEpisode) -> Result<Vec<String>, NotDone> + Send,
    ) -> PyResult<Vec<String>> {
        let Live { episode, assumptions } = self.take(py, "close")?;
        match py.detach(|| close(episode)) {
            Ok(lines) => {
                let _ = self.used.set(FirstUse::now(py, "close"));
                Ok(lines)
            }
            Err(NotDone { episode, why }) => {
                self.lock().live = Some(Live { episode, assumptions });
                Err(errors::refused(py, state, "close", &why))
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Current> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let mut current = self.lock();
        // An earlier handle does not keep the episode from ending.
        let live = if current.number == self.number { current.live.take() } else { None };
        drop(current);
        drop(live);
    }
}
