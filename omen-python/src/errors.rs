//! Exceptions: the classes are in `omen/_errors.py`, so that each is an ordinary Python class.

use omen::Diagnostic;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// Class of an exception.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ErrorClass {
    /// An argument that is invalid by itself.
    Argument,
    /// A configuration of a gate, or a program that uses one wrongly.
    Gate,
    /// An input that cannot be read, or not to its end.
    Input,
    /// A packet, or a part of one, that does not match its schema.
    Packet,
    /// A call that is not possible in the current state of an object.
    Usage,
}

impl ErrorClass {
    fn name(self) -> &'static str {
        match self {
            Self::Argument => "ArgumentError",
            Self::Gate => "GateError",
            Self::Input => "InputError",
            Self::Packet => "PacketError",
            Self::Usage => "UsageError",
        }
    }

    /// Creates an exception without a code.
    pub(crate) fn error(self, py: Python<'_>, message: &str, help: Option<&str>) -> PyErr {
        self.at(py, message, None, help)
    }

    /// Creates an exception about a place, such as a path or a JSON pointer.
    pub(crate) fn at(self, py: Python<'_>, message: &str, place: Option<&str>, help: Option<&str>) -> PyErr {
        made(|| {
            let arguments = keywords(py, None, place, help)?;
            self.class(py)?.call((message,), Some(&arguments))
        })
    }

    fn class(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        py.import("omen._errors")?.getattr(self.name())
    }
}

/// Creates the exception for a packet with errors; without any, which no caller passes, it says only that.
pub(crate) fn packet(py: Python<'_>, errors: &[Diagnostic]) -> PyErr {
    made(|| {
        let problem = py.import("omen._errors")?.getattr("Problem")?;
        let problems = errors.iter().map(|error| {
            let keywords = keywords(py, Some(error.code.as_str()), error.pointer.as_deref(), error.help.as_deref())?;
            problem.call((&error.message,), Some(&keywords))
        });
        let problems = problems.collect::<PyResult<Vec<_>>>()?;
        ErrorClass::Packet.class(py)?.call1((PyTuple::new(py, problems)?,))
    })
}

fn keywords<'py>(
    py: Python<'py>,
    code: Option<&str>,
    place: Option<&str>,
    help: Option<&str>,
) -> PyResult<Bound<'py, PyDict>> {
    let keywords = PyDict::new(py);
    keywords.set_item("code", code)?;
    keywords.set_item("place", place)?;
    keywords.set_item("help", help)?;
    Ok(keywords)
}

/// Returns the exception, or that of its creation.
fn made<'py>(exception: impl FnOnce() -> PyResult<Bound<'py, PyAny>>) -> PyErr {
    exception().map_or_else(|error| error, PyErr::from_value)
}
