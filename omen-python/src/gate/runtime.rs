//! Runtime on which calls wait for the disk, for servers and for each other, without the lock of the interpreter.

use std::sync::{Mutex, PoisonError};

use pyo3::PyResult;
use tokio::runtime::{Builder, Runtime};

use super::error::gate_error;

/// Runtime of this process. After a fork, that of the parent has no threads in the child, which gets another one.
static RUNTIME: Mutex<Option<(u32, &'static Runtime)>> = Mutex::new(None);

/// Returns the runtime of this process; starts it if there is none.
pub(super) fn runtime() -> PyResult<&'static Runtime> {
    let mut started = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    match *started {
        Some((owner, runtime)) if owner == process => Ok(runtime),
        _ => {
            let built = Builder::new_multi_thread().worker_threads(2).thread_name("omen-gate").enable_all().build();
            let built = built.map_err(|error| gate_error(&format!("no threads can be started: {error}"), ""))?;
            // One for each process, to its end: dropping it would wait for tools that block.
            let runtime: &'static Runtime = Box::leak(Box::new(built));
            *started = Some((process, runtime));
            Ok(runtime)
        }
    }
}
