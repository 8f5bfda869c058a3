//! Directives, permits and tasks.

use omen::episode::{AnyScope, DoesNotFit, Fields, Json, Sorted};
use omen::{AnyClass, Pending};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyType;

use super::convert;
use super::once::Once;

/// One use of a token.
#[pyclass(frozen, module = "omen._core")]
pub(crate) struct Permit(pub(super) Once<omen::Permit<AnyScope>>);

/// Token that a directive can use now.
#[pyclass(frozen, get_all, module = "omen._core")]
pub(crate) struct LiveToken {
    token_id: String,
    tools: Vec<String>,
    operations: Vec<&'static str>,
    uses_left: u64,
    expiry: String,
}

impl From<omen::LiveToken> for LiveToken {
    fn from(token: omen::LiveToken) -> Self {
        Self {
            token_id: token.token_id.to_string(),
            tools: token.tools,
            operations: token.operations.iter().map(|operation| operation.as_str()).collect(),
            uses_left: token.uses_left,
            expiry: token.expiry.to_string(),
        }
    }
}

/// Directive, sorted by its need for a permit.
pub(super) enum Sent {
    /// It can be sent.
    Ready(omen::Order<AnyClass>),
    /// It needs a permit.
    Writes(omen::episode::Unauthorized),
}

/// Directive to a tool.
#[pyclass(frozen, module = "omen._core")]
pub(crate) struct Directive(pub(super) Once<Sent>);

#[pymethods]
impl Permit {
    /// Returns the class: its type parameters are for type checkers.
    #[classmethod]
    fn __class_getitem__<'py>(class: &Bound<'py, PyType>, _parameters: &Bound<'py, PyAny>) -> Bound<'py, PyType> {
        class.clone()
    }

    /// Token of which it is a use, by which an alert revokes it.
    #[getter]
    fn token_id(&self, py: Python<'_>) -> PyResult<String> {
        self.0.read(py, "token_id", |permit| permit.token_id().to_string())
    }
}

#[pymethods]
impl Directive {
    /// Returns the class: its type parameters are for type checkers.
    #[classmethod]
    fn __class_getitem__<'py>(class: &Bound<'py, PyType>, _parameters: &Bound<'py, PyAny>) -> Bound<'py, PyType> {
        class.clone()
    }

    /// Creates a call of a tool, by its id and its safety class.
    #[new]
    fn new(tool: &str, class: &str, params: Option<&Bound<'_, PyAny>>, timeout_seconds: Option<u32>) -> PyResult<Self> {
        let params = params.map(|params| Fields::try_new(convert::value(params)?).map_err(unfit)).transpose()?;
        let class = convert::wire("tool_safety_class", class)?;
        let mut directive = omen::Directive::named(convert::text("tool_id", tool)?, class, params);
        if let Some(seconds) = timeout_seconds {
            directive = directive.timeout_seconds(seconds);
        }
        Ok(Self(Once::new(
            "directive",
            match directive.sort() {
                Sorted::Reads(order) => Sent::Ready(order.any()),
                Sorted::Writes(directive) => Sent::Writes(directive),
            },
        )))
    }

    /// Attaches a permit.
    fn with_permit(&self, py: Python<'_>, permit: &Permit) -> PyResult<Self> {
        let permit = permit.0.take(py, "with_permit")?;
        let order = match self.0.take(py, "with_permit")? {
            // A directive that only reads leaves the permit unused.
            Sent::Ready(order) => order,
            Sent::Writes(directive) => directive.with(permit).any(),
        };
        Ok(Self(Once::new("order", Sent::Ready(order))))
    }
}

fn unfit(error: DoesNotFit) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Directive without a result.
#[pyclass(frozen, module = "omen._core")]
pub(crate) struct Task(Once<Pending>);

impl Task {
    pub(super) fn new(task: Pending) -> Self {
        Self(Once::new("task", task))
    }
}

#[pymethods]
impl Task {
    #[getter]
    fn task_id(&self, py: Python<'_>) -> PyResult<String> {
        self.0.read(py, "task_id", |task| task.task_id().to_string())
    }

    #[getter]
    fn directive(&self, py: Python<'_>) -> PyResult<String> {
        self.0.read(py, "directive", |task| task.directive().to_string())
    }

    #[getter]
    fn tool_id(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.0.read(py, "tool_id", |task| task.method().tool_id.clone())
    }

    /// Returns the parameters of the tool.
    #[getter]
    fn params<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let text = self.0.read(py, "params", |task| {
            serde_json::Value::Object(task.method().tool_params.clone().unwrap_or_default()).to_string()
        })?;
        py.import("json")?.call_method1("loads", (text,))
    }

    fn success(&self, py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<Settled> {
        let data = Json::new(convert::value(data)?).map_err(unfit)?;
        Ok(Settled(Once::new("result", self.0.take(py, "success")?.success(data))))
    }

    fn failure(&self, py: Python<'_>, message: &str) -> PyResult<Settled> {
        let message = convert::text("error_message", message)?;
        Ok(Settled(Once::new("result", self.0.take(py, "failure")?.failure(message))))
    }

    fn cancelled(&self, py: Python<'_>) -> PyResult<Settled> {
        Ok(Settled(Once::new("result", self.0.take(py, "cancelled")?.cancelled())))
    }
}

/// Task with its result.
#[pyclass(frozen, module = "omen._core")]
pub(crate) struct Settled(pub(super) Once<omen::Settled>);

#[pymethods]
impl Settled {
    /// Returns the class: its type parameters are for type checkers.
    #[classmethod]
    fn __class_getitem__<'py>(class: &Bound<'py, PyType>, _parameters: &Bound<'py, PyAny>) -> Bound<'py, PyType> {
        class.clone()
    }
}
