//! Locks of shared records. Tests with a model checker replace them; see `tests/interleavings.rs`.

pub(crate) use std::sync::{Mutex, MutexGuard, PoisonError};
