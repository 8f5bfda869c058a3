//! The tool boundary for Python: the gate of `omen-gate`, with Python functions as tools and confirmer.
//!
//! A call takes the public steps of a request, as in any Rust program. When the gate has let the call through, Python receives an
//! event, runs the function, and returns its answer: no function can be reached except through such an event.

mod callers;
mod core;
mod pending;
mod refusal;
mod servers;
mod steps;

use std::path::PathBuf;

use omen_gate::audit::{Key, LogVerdict, verify_file};
use pyo3::prelude::*;

use refusal::gate_error;

/// Adds the classes of the gate to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(new_key, module)?)?;
    module.add_function(wrap_pyfunction!(verify_log, module)?)?;
    module.add_class::<core::GateCore>()?;
    module.add_class::<pending::PendingCall>()
}

/// Makes the key of an audit log, in a file that only its owner can read and that must not exist yet.
#[pyfunction]
fn new_key(path: PathBuf) -> PyResult<()> {
    Key::create(&path).map(drop).map_err(|error| gate_error(&error.to_string(), &error.help()))
}

/// Verifies an audit log as `omen audit verify` does, and returns the number of its entries.
#[pyfunction]
fn verify_log(py: Python<'_>, log: PathBuf, key_file: PathBuf) -> PyResult<u64> {
    let key = Key::from_file(&key_file).map_err(|error| gate_error(&error.to_string(), &error.help()))?;
    let found = py.detach(|| verify_file(&log, &key, None));
    let found = found.map_err(|error| gate_error(&error.to_string(), error.help()))?;
    match found.verdict {
        LogVerdict::Sound => Ok(found.entries),
        flawed => Err(gate_error(&format!("{}: {flawed}", log.display()), "")),
    }
}
