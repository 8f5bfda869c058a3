//! Errors of programs that use a gate.

use pyo3::prelude::*;

pyo3::create_exception!(
    omen,
    GateError,
    pyo3::exceptions::PyException,
    "Error of a configuration, or of a program that uses a gate wrongly; no call was made."
);

/// Error with a line for its help.
pub(super) fn gate_error(message: &str, help: &str) -> PyErr {
    GateError::new_err(if help.is_empty() { message.to_owned() } else { format!("{message}\n  help: {help}") })
}
