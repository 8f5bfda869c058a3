//! The validator that is fed in chunks.

use std::sync::Arc;

use omen::ValidatorOptions;
use omen::validator::BadSnapshot;
use omen_base::lock::Mutex;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::finding::{Finding, Summary};
use super::options::options;
use crate::errors::ErrorClass;

/// Validator of a log that arrives in chunks of any size: one packet on each line, not compressed.
///
/// `levels` changes severities as in `check`; `name` is the name of the log in findings.
#[pyclass(frozen, module = "omen")]
pub(crate) struct Validator {
    name: Arc<str>,
    validator: Mutex<Option<omen::Validator>>,
}

/// Receiver of findings.
struct Collector<'n> {
    name: &'n Arc<str>,
    found: Vec<Finding>,
}

impl omen::Sink for Collector<'_> {
    type Error = std::convert::Infallible;

    fn finding(&mut self, finding: omen::Finding, line: Option<&str>) -> Result<(), Self::Error> {
        self.found.push(Finding::new(self.name, finding, line.map(str::to_owned)));
        Ok(())
    }

    fn wants_packets(&self) -> bool {
        false
    }
}

#[pymethods]
impl Validator {
    #[new]
    #[pyo3(signature = (*, levels = None, name = "-"))]
    fn new(levels: Option<&Bound<'_, PyDict>>, name: &str) -> PyResult<Self> {
        Ok(Self::over(omen::Validator::new(options(levels)?), name))
    }

    /// Restores a validator from a snapshot, which must have had the same levels.
    #[staticmethod]
    #[pyo3(signature = (snapshot, *, levels = None, name = "-"))]
    fn restore(py: Python<'_>, snapshot: &[u8], levels: Option<&Bound<'_, PyDict>>, name: &str) -> PyResult<Self> {
        let options: ValidatorOptions = options(levels)?;
        let restored = py.detach(|| omen::Validator::restore(snapshot, options));
        let refused = |error: BadSnapshot| ErrorClass::Argument.at(py, &error.to_string(), Some("snapshot"), None);
        Ok(Self::over(restored.map_err(refused)?, name))
    }

    /// Checks the next bytes of the log, and returns their findings.
    fn feed(&self, py: Python<'_>, data: &[u8]) -> PyResult<Vec<Finding>> {
        self.with(py, |validator, found| {
            let Ok(()) = validator.feed(data, found);
        })
    }

    /// Ends an episode before the end of the log, and returns findings about what is still open in it. Later packets with the same
    /// correlation id begin another episode.
    fn end_episode(&self, py: Python<'_>, correlation_id: &str) -> PyResult<Vec<Finding>> {
        self.with(py, |validator, found| {
            let Ok(_) = validator.end_episode(correlation_id, found);
        })
    }

    /// Checks the end of the log, and returns its findings and the counts. The validator cannot be used afterwards.
    fn finish(&self, py: Python<'_>) -> PyResult<(Vec<Finding>, Summary)> {
        let ended = py.detach(|| {
            let validator = self.validator.lock().take()?;
            let mut collector = Collector { name: &self.name, found: Vec::new() };
            let Ok(summary) = validator.finish(&mut collector);
            Some((collector.found, Summary(summary)))
        });
        ended.ok_or_else(|| finished(py))
    }

    /// Returns the counts so far.
    fn summary(&self, py: Python<'_>) -> PyResult<Summary> {
        let summary = py.detach(|| self.validator.lock().as_ref().map(omen::Validator::summary));
        summary.map(Summary).ok_or_else(|| finished(py))
    }

    /// Returns the state as bytes, from which `restore` continues.
    fn snapshot<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.validator.lock().as_mut().map(omen::Validator::snapshot));
        bytes.map(|bytes| PyBytes::new(py, &bytes)).ok_or_else(|| finished(py))
    }

    fn __repr__(&self) -> String {
        format!("<omen.Validator of {}>", self.name)
    }
}

impl Validator {
    fn over(validator: omen::Validator, name: &str) -> Self {
        Self { name: name.into(), validator: Mutex::new(Some(validator)) }
    }

    fn with(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut omen::Validator, &mut Collector<'_>) + Send,
    ) -> PyResult<Vec<Finding>> {
        let found = py.detach(|| {
            let mut validator = self.validator.lock();
            let mut collector = Collector { name: &self.name, found: Vec::new() };
            work(validator.as_mut()?, &mut collector);
            Some(collector.found)
        });
        found.ok_or_else(|| finished(py))
    }
}

fn finished(py: Python<'_>) -> PyErr {
    ErrorClass::Usage.error(py, "the validator was finished", Some("create another one for the next log"))
}
