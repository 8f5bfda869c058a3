//! Conversion of Python values to JSON.

use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PyMapping, PySequence, PyString, PyTuple,
};

use super::member::Object;
use crate::errors::ErrorClass;

/// Appends a value as JSON. `pointer` is its place, for errors.
pub(super) fn value(out: &mut String, value: &Bound<'_, PyAny>, pointer: &str, depth: usize) -> PyResult<()> {
    let py = value.py();
    if depth == DEEPEST {
        let message = format!("nested deeper than {DEEPEST} levels");
        let help = "flatten the data, or keep it elsewhere and refer to it";
        let end = pointer.match_indices('/').nth(1).map_or(pointer.len(), |(end, _)| end);
        return Err(ErrorClass::Argument.at(py, &message, pointer.get(..end), Some(help)));
    }
    if value.is_none() {
        out.push_str("null");
    } else if let Ok(object) = value.cast::<Object>() {
        out.push_str(object.get().text());
    } else if let Ok(text) = value.cast::<PyString>() {
        string(out, text.to_str()?);
    } else if let Ok(truth) = value.cast::<PyBool>() {
        out.push_str(if truth.is_true() { "true" } else { "false" });
    } else if value.is_instance_of::<PyInt>() {
        // The digits of a subclass, too, such as a value of `IntEnum`.
        let digits = py.get_type::<PyInt>().call_method1("__repr__", (value,))?;
        out.push_str(digits.cast::<PyString>()?.to_str()?);
    } else if let Ok(number) = value.cast::<PyFloat>() {
        match serde_json::Number::from_f64(number.value()) {
            Some(number) => out.push_str(&number.to_string()),
            None => {
                let message = format!("expected a finite number, found {}", number.value());
                return Err(ErrorClass::Argument.at(py, &message, Some(pointer), None));
            }
        }
    } else if let Ok(members) = value.cast::<PyDict>() {
        object(out, members.items().try_iter()?, pointer, depth)?;
    } else if value.is_instance_of::<PyBytes>() || value.is_instance_of::<PyByteArray>() {
        let message = format!("expected a JSON value, found `{}`", value.get_type().qualname()?);
        return Err(ErrorClass::Argument.at(py, &message, Some(pointer), Some("decode it, such as with `.decode()`")));
    } else if value.is_instance_of::<PyList>()
        || value.is_instance_of::<PyTuple>()
        || value.cast::<PySequence>().is_ok()
    {
        array(out, value, pointer, depth)?;
    } else if let Ok(members) = value.cast::<PyMapping>() {
        object(out, members.items()?.try_iter()?, pointer, depth)?;
    } else {
        let message = format!("expected a JSON value, found `{}`", value.get_type().qualname()?);
        return Err(ErrorClass::Argument.at(py, &message, Some(pointer), None));
    }
    Ok(())
}

/// Appends a string as JSON.
pub(super) fn string(out: &mut String, text: &str) {
    out.push_str(&serde_json::Value::from(text).to_string());
}

fn object(out: &mut String, members: Bound<'_, pyo3::types::PyIterator>, pointer: &str, depth: usize) -> PyResult<()> {
    out.push('{');
    for (at, member) in members.enumerate() {
        let (name, inner): (Bound<'_, PyAny>, Bound<'_, PyAny>) = member?.extract()?;
        let Ok(name) = name.cast::<PyString>() else {
            let message = format!("expected a `str` as the name of a member, found `{}`", name.get_type().qualname()?);
            return Err(ErrorClass::Argument.at(name.py(), &message, Some(pointer), None));
        };
        let name = name.to_str()?;
        if at > 0 {
            out.push(',');
        }
        string(out, name);
        out.push(':');
        value(out, &inner, &step(pointer, name), depth + 1)?;
    }
    out.push('}');
    Ok(())
}

fn array(out: &mut String, items: &Bound<'_, PyAny>, pointer: &str, depth: usize) -> PyResult<()> {
    out.push('[');
    for (at, item) in items.try_iter()?.enumerate() {
        if at > 0 {
            out.push(',');
        }
        value(out, &item?, &step(pointer, &at.to_string()), depth + 1)?;
    }
    out.push(']');
    Ok(())
}

/// Returns the pointer to a member or an element.
pub(super) fn step(pointer: &str, name: &str) -> String {
    let mut pointer = pointer.to_owned();
    omen_types::pointer::push(&mut pointer, name);
    pointer
}

/// Levels of nesting that are written. The parser refuses fewer; this protects the stack from a value that contains itself.
const DEEPEST: usize = 200;
