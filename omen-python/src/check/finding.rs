//! Findings and counts, as Python objects.

use std::sync::Arc;

use omen::render::human::Human;
use omen::render::json;
use pyo3::prelude::*;

use crate::errors::ErrorClass;

/// A problem with a packet, or with the end of an episode. The attributes are the members of `omen check --format json`.
#[pyclass(frozen, module = "omen")]
pub(crate) struct Finding {
    file: Arc<str>,
    finding: omen::Finding,
    text: Option<String>,
}

impl Finding {
    pub(super) fn new(file: &Arc<str>, finding: omen::Finding, text: Option<String>) -> Self {
        Self { file: Arc::clone(file), finding, text }
    }
}

#[pymethods]
impl Finding {
    /// Log, as given; `-` if it has no path.
    #[getter]
    fn file(&self) -> &str {
        &self.file
    }

    /// Line in the log, from 1; `None` for a finding on the end of an episode.
    #[getter]
    fn line(&self) -> Option<u64> {
        self.finding.line
    }

    /// Column in the line, in characters, from 1.
    #[getter]
    fn column(&self) -> Option<u64> {
        self.finding.column
    }

    /// Number of the packet among the lines that are not blank, from 0.
    #[getter]
    fn packet_index(&self) -> Option<u64> {
        self.finding.packet_index
    }

    /// `header.packet_id`, if it is readable.
    #[getter]
    fn packet_id(&self) -> Option<&str> {
        self.finding.packet_id.as_deref()
    }

    /// `header.correlation_id`, which names the episode, if it is readable.
    #[getter]
    fn correlation_id(&self) -> Option<&str> {
        self.finding.correlation_id.as_deref()
    }

    /// Type of the packet, if it is known.
    #[getter]
    fn packet_type(&self) -> Option<&'static str> {
        self.finding.packet_type.map(|packet_type| packet_type.as_str())
    }

    /// Possible states of the episode before the packet.
    #[getter]
    fn state(&self) -> Option<Vec<&'static str>> {
        self.finding.state.clone()
    }

    /// Stage of the check that reports the finding.
    #[getter]
    fn stage(&self) -> &'static str {
        self.finding.stage.as_str()
    }

    /// Rule that is broken; `omen explain CODE` describes it.
    #[getter]
    fn code(&self) -> &'static str {
        self.finding.diagnostic.code.as_str()
    }

    /// Other rules that the same problem breaks.
    #[getter]
    fn also(&self) -> Vec<&'static str> {
        self.finding.diagnostic.also.iter().map(|code| code.as_str()).collect()
    }

    /// `error`, which rejects the packet, or `warning`.
    #[getter]
    fn severity(&self) -> &'static str {
        self.finding.diagnostic.severity.as_str()
    }

    /// JSON pointer to the problem in the packet.
    #[getter]
    fn pointer(&self) -> Option<&str> {
        self.finding.diagnostic.pointer.as_deref()
    }

    /// Description of the problem.
    #[getter]
    fn message(&self) -> &str {
        &self.finding.diagnostic.message
    }

    /// Way to fix the problem.
    #[getter]
    fn help(&self) -> Option<&str> {
        self.finding.diagnostic.help.as_deref()
    }

    /// Rejected packet without which the finding would not exist; `None` for a root cause.
    #[getter]
    fn follows_from(&self) -> Option<Cause> {
        let cause = self.finding.follows_from.as_ref()?;
        Some(Cause { line: cause.line, packet_id: cause.packet_id.clone() })
    }

    /// Labels of the place itself.
    #[getter]
    fn labels(&self) -> Vec<&str> {
        self.finding.diagnostic.label.as_deref().into_iter().collect()
    }

    /// Facts from elsewhere in the log.
    #[getter]
    fn notes(&self) -> Vec<&str> {
        self.finding.diagnostic.notes.iter().map(String::as_str).collect()
    }

    /// At the end of a log: line of the directive that was left open.
    #[getter]
    fn directive_line(&self) -> Option<u64> {
        self.finding.directive_line
    }

    /// Returns the line that `omen check --format json` prints, without its line end.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        let text = serde_json::to_string(&json::row(&self.file, &self.finding));
        text.map_err(|error| ErrorClass::Usage.error(py, &error.to_string(), None))
    }

    /// Returns the members of `to_json` as a dictionary.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        loads(py, &self.to_json(py)?)
    }

    /// Returns the text that `omen check` prints, with an excerpt of the line. `width` is that of the terminal in columns.
    #[pyo3(signature = (*, width = None, color = false))]
    fn render(&self, width: Option<usize>, color: bool) -> String {
        let human = if color { Human::coloured() } else { Human::plain() };
        let human = match width {
            Some(columns) => human.width(columns),
            None => human,
        };
        human.finding(&self.file, &self.finding, self.text.as_deref())
    }

    fn __str__(&self) -> String {
        self.render(None, false)
    }

    fn __repr__(&self) -> String {
        let place = self.line().map(|line| format!(":{line}")).unwrap_or_default();
        format!("<omen.Finding {} {}{place}: {}>", self.code(), self.file, self.message())
    }

    fn __eq__(&self, py: Python<'_>, other: &Self) -> PyResult<bool> {
        Ok(self.to_json(py)? == other.to_json(py)?)
    }

    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash as _, Hasher as _};
        let mut hasher = DefaultHasher::new();
        (&self.file, self.line(), self.code(), self.message()).hash(&mut hasher);
        hasher.finish()
    }
}

/// Cause of a finding: an earlier packet that was rejected.
#[pyclass(frozen, eq, hash, get_all, module = "omen")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Cause {
    /// Line of the packet, from 1.
    line: u64,
    /// `header.packet_id`, if it is readable.
    packet_id: Option<String>,
}

#[pymethods]
impl Cause {
    fn __repr__(&self) -> String {
        format!("<omen.Cause line {}>", self.line)
    }
}

/// Counts of a log.
#[pyclass(frozen, eq, module = "omen")]
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Summary(pub(super) omen::Summary);

#[pymethods]
impl Summary {
    /// Bytes that were read.
    #[getter]
    fn bytes(&self) -> u64 {
        self.0.bytes
    }

    /// Lines that are not blank.
    #[getter]
    fn packets(&self) -> u64 {
        self.0.packets
    }

    /// Packets without an error.
    #[getter]
    fn accepted(&self) -> u64 {
        self.0.accepted
    }

    /// Packets with an error.
    #[getter]
    fn rejected(&self) -> u64 {
        self.0.rejected
    }

    /// The number of correlation ids among the packets that match their schema.
    #[getter]
    fn episodes(&self) -> u64 {
        self.0.episodes
    }

    /// Findings that are errors.
    #[getter]
    fn errors(&self) -> u64 {
        self.0.errors
    }

    /// Findings that are warnings.
    #[getter]
    fn warnings(&self) -> u64 {
        self.0.warnings
    }

    /// Findings that follow from a packet that was rejected earlier.
    #[getter]
    fn consequences(&self) -> u64 {
        self.0.consequences
    }

    /// Returns the counts as a dictionary.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let text = serde_json::to_string(&self.0);
        loads(py, &text.map_err(|error| ErrorClass::Usage.error(py, &error.to_string(), None))?)
    }

    fn __repr__(&self) -> String {
        let omen::Summary { packets, errors, warnings, .. } = self.0;
        format!("<omen.Summary {packets} packets, {errors} errors, {warnings} warnings>")
    }
}

/// Reads JSON by the library of Python, which keeps integers of any length.
pub(crate) fn loads<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.getattr("loads")?.call1((text,))
}
