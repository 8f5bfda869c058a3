//! Locks of shared records. A model checker replaces them: see `tests/interleavings.rs`.

pub(crate) use std::sync::{Mutex, MutexGuard, PoisonError};
