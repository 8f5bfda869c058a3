//! Conversion of Python values to JSON.

use omen::Text;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use serde_json::Value;

/// Returns a value as JSON text: of a packet class by its `to_json()`, of anything else by the module `json`.
pub(super) fn json(value: &Bound<'_, PyAny>) -> PyResult<String> {
    let py = value.py();
    if let Ok(method) = value.getattr("to_json") {
        return method.call0()?.extract();
    }
    let options = pyo3::types::PyDict::new(py);
    options.set_item("ensure_ascii", false)?;
    options.set_item("allow_nan", false)?;
    options.set_item("default", py.import("omen._values")?.getattr("_to_plain")?)?;
    py.import("json")?.getattr("dumps")?.call((value,), Some(&options))?.extract()
}

/// Returns a value as parsed JSON.
pub(super) fn value(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    serde_json::from_str(&json(value)?).map_err(|error| PyValueError::new_err(format!("invalid JSON: {error}")))
}

/// Returns a text of a packet.
pub(super) fn text(name: &str, value: &str) -> PyResult<Text> {
    Text::new(value).map_err(|invalid| PyValueError::new_err(format!("invalid `{name}`: {invalid}")))
}

/// Returns a value of an enum.
pub(super) fn wire<T: std::str::FromStr>(name: &str, value: &str) -> PyResult<T> {
    value.parse().map_err(|_| PyTypeError::new_err(format!("invalid value `{value}` for `{name}`")))
}
