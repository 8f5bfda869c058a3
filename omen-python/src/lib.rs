//! Extension module `omen._core`: the core of the Python package `omen`, in Rust.
//!
//! The Python code has no rule of the protocol: it calls the validator, the packets and the machine of the other crates.

mod check;
mod episode;
mod errors;
mod gate;
mod packets;

use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// Version of the package, as `pip` and the command show it.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Fills the module `omen._core`.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    refuse_other_interpreters(module.py())?;
    check::register(module)?;
    episode::register(module)?;
    gate::register(module)?;
    packets::register(module)?;
    module.add_function(wrap_pyfunction!(version, module)?)
}

/// Refuses the import in another interpreter of the process than the first one, whose objects the core keeps.
fn refuse_other_interpreters(py: Python<'_>) -> PyResult<()> {
    static FIRST: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    // Each interpreter has a module `sys` of its own.
    let own = py.import("sys")?;
    if FIRST.get_or_init(py, || own.clone().unbind()).is(&own) {
        return Ok(());
    }
    let problem = "subinterpreters are not supported: another interpreter of this process has imported `omen`; use a thread or a process";
    Err(PyImportError::new_err(problem))
}
