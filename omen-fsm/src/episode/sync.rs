//! The locks that shared records use. A model checker puts its own in their place: see `tests/interleavings.rs`.

pub(crate) use std::sync::{Mutex, MutexGuard, PoisonError};
