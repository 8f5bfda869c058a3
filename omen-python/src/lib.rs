//! Extension module `omen._core`: the core of the Python package `omen`, in Rust.
//!
//! Python holds no rule of the protocol: it calls the validator, the packets and the machine of the crates beside this one.

mod check;
mod episode;
mod errors;
mod gate;
mod packets;

use pyo3::prelude::*;

/// Version of the package, as `pip` and the command show it.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Fills the module `omen._core`.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    check::register(module)?;
    episode::register(module)?;
    gate::register(module)?;
    packets::register(module)?;
    module.add_function(wrap_pyfunction!(version, module)?)
}
