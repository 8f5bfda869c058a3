//! Exceptions. Their classes are written in Python, so that they have documented attributes.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use omen::Refusal;
use omen::finding::Diagnostic;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Outcome of each call in each state, from the model of the schema files: `null` is legal.
static CALLS: LazyLock<BTreeMap<String, BTreeMap<String, serde_json::Value>>> =
    LazyLock::new(|| serde_json::from_str(include_str!("../moves.json")).unwrap_or_default());

/// Returns the exception of a move that is illegal in a state, or `None` if there is no such move.
#[pyfunction]
pub(super) fn illegal_move(py: Python<'_>, state: &str, name: &str) -> PyResult<Option<Py<PyAny>>> {
    let Some(refused) = CALLS.get(state).and_then(|calls| calls.get(name)) else { return Ok(None) };
    let text = |key: &str| refused.get(key).and_then(serde_json::Value::as_str).unwrap_or_default().to_owned();
    let (code, message, fix) = (text("code"), text("message"), text("fix"));
    illegal(py, state, name, &code, &message, Some(&fix)).map(|error| Some(error.into_value(py).into_any()))
}

/// Returns the exception of a move that the machine has refused.
pub(super) fn refused(py: Python<'_>, state: &str, name: &str, why: &Refusal) -> PyErr {
    let Some(first) = why.findings().first() else { return log(py, &why.to_string()) };
    let message = match &first.pointer {
        Some(pointer) => format!("{} (at {pointer})", first.message),
        None => first.message.clone(),
    };
    illegal(py, state, name, first.code.as_str(), &message, first.help.as_deref()).unwrap_or_else(|error| error)
}

/// Returns the exception of values that no packet can have.
pub(super) fn invalid(py: Python<'_>, state: &str, name: &str, errors: Vec<Diagnostic>) -> PyErr {
    refused(py, state, name, &Refusal::Rules(errors))
}

fn illegal(py: Python<'_>, state: &str, name: &str, code: &str, message: &str, fix: Option<&str>) -> PyResult<PyErr> {
    let class = class(py, "IllegalMove")?;
    let values = PyDict::new(py);
    values.set_item("move", name)?;
    values.set_item("state", state)?;
    values.set_item("code", code)?;
    values.set_item("fix", fix.unwrap_or_default())?;
    Ok(PyErr::from_value(class.call((message,), Some(&values))?))
}

/// Returns the exception of a second use.
pub(super) fn used(py: Python<'_>, message: &str) -> PyErr {
    plain(py, "StateUsed", message)
}

/// Returns the exception of a log that failed.
pub(super) fn log(py: Python<'_>, message: &str) -> PyErr {
    plain(py, "LogError", message)
}

fn plain(py: Python<'_>, name: &str, message: &str) -> PyErr {
    let made = class(py, name).and_then(|class| class.call1((message,)));
    made.map_or_else(|error| error, PyErr::from_value)
}

fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("omen._values")?.getattr(name)
}
