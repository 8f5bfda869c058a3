//! Start and resumption of episodes.

use std::path::PathBuf;

use omen::episode::{AnyEpisode, Claims, IdSource, Line, Log, OnDrop, Setup, SystemClock, TimeSource};
use omen::{DynEnvelope, DynHypothesis, Instant, log_file};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::handle::Handle;
use super::{convert, errors};

/// Log in a file with one writer.
#[pyclass(frozen, module = "omen._core")]
pub(crate) struct LogFile(log_file::LogFile);

#[pymethods]
impl LogFile {
    /// Opens or creates a log, and locks it.
    #[new]
    #[pyo3(signature = (path, *, synced=false))]
    fn open(py: Python<'_>, path: PathBuf, synced: bool) -> PyResult<Self> {
        let log = py.detach(|| log_file::LogFile::open(path)).map_err(|error| errors::log(py, &error.to_string()))?;
        Ok(Self(if synced { log.synced() } else { log }))
    }
}

/// Clock in Python: a function that returns the time as RFC 3339.
struct Clock(Py<PyAny>);

impl TimeSource for Clock {
    fn now(&self) -> Instant {
        Python::attach(|py| {
            let read = || -> PyResult<Instant> {
                let now = self.0.bind(py).call0()?;
                // A `datetime` writes itself as RFC 3339.
                let now = if now.hasattr("isoformat")? { now.call_method0("isoformat")? } else { now };
                let text: String = now.extract()?;
                text.parse().map_err(|_| PyValueError::new_err(format!("invalid time `{text}`; expected RFC 3339")))
            };
            // A clock cannot fail: the machine judges the time of the packet.
            read().unwrap_or_else(|error| {
                error.write_unraisable(py, Some(self.0.bind(py)));
                Instant::default()
            })
        })
    }
}

/// Source of ids in Python: an object with `packet_id`, `task_id` and `token_id`.
struct Ids(Py<PyAny>);

impl Ids {
    /// Returns an id, or an empty text, which the episode refuses.
    fn id(&self, method: &str) -> String {
        Python::attach(|py| {
            let id = self.0.bind(py).call_method0(method).and_then(|id| id.extract());
            id.unwrap_or_else(|error| {
                error.write_unraisable(py, Some(self.0.bind(py)));
                String::new()
            })
        })
    }
}

impl IdSource for Ids {
    fn packet_id(&mut self) -> String {
        self.id("packet_id")
    }

    fn task_id(&mut self) -> String {
        self.id("task_id")
    }

    fn token_id(&mut self) -> String {
        self.id("token_id")
    }
}

/// Options of an episode.
#[derive(FromPyObject)]
struct Options {
    log: Option<Py<LogFile>>,
    ids: Option<Py<PyAny>>,
    clock: Option<Py<PyAny>>,
    campaign_id: Option<String>,
    on_drop: String,
    is_copy: bool,
}

impl Options {
    fn setup(self, py: Python<'_>, correlation_id: &str, envelope: &Bound<'_, PyAny>) -> PyResult<Setup> {
        let mcp = envelope_of(py, "Setup", "start", envelope)?;
        let correlation_id = correlation_id.parse().map_err(|error| PyValueError::new_err(format!("{error}")))?;
        let mut setup = match self.clock {
            Some(clock) => Setup::new(correlation_id, &mcp, Clock(clock)),
            None => Setup::new(correlation_id, &mcp, SystemClock::default()),
        };
        if let Some(ids) = self.ids {
            setup = setup.ids(Ids(ids));
        }
        if let Some(id) = self.campaign_id {
            setup = setup.campaign(id.parse().map_err(|error| PyValueError::new_err(format!("{error}")))?);
        }
        if self.is_copy {
            setup = setup.claims(&Claims::new());
        }
        let on_drop = match self.on_drop.as_str() {
            "cancel" => OnDrop::Cancel,
            "halt" => OnDrop::Halt,
            "escalate" => OnDrop::Escalate,
            "leave" => OnDrop::Leave,
            other => {
                let problem =
                    format!("invalid value `{other}` for `on_drop`; expected cancel, halt, escalate or leave");
                return Err(PyValueError::new_err(problem));
            }
        };
        Ok(setup.on_drop(on_drop))
    }
}

/// Reads an envelope.
pub(super) fn envelope_of(
    py: Python<'_>,
    state: &str,
    name: &str,
    envelope: &Bound<'_, PyAny>,
) -> PyResult<DynEnvelope> {
    let text = convert::json(envelope)?;
    DynEnvelope::from_json(&text).map_err(|errors| errors::invalid(py, state, name, errors))
}

/// Reads the envelope of a decision, whose claims may have no evidence yet: the machine judges what it may decide.
pub(super) fn hypothesis_of(
    py: Python<'_>,
    state: &str,
    name: &str,
    envelope: &Bound<'_, PyAny>,
) -> PyResult<DynHypothesis> {
    let text = convert::json(envelope)?;
    DynHypothesis::from_json(&text).map_err(|errors| errors::invalid(py, state, name, errors))
}

/// Starts an episode.
#[pyfunction]
pub(super) fn start(
    py: Python<'_>,
    correlation_id: &str,
    envelope: &Bound<'_, PyAny>,
    options: &Bound<'_, PyAny>,
) -> PyResult<Handle> {
    let mut options: Options = options.extract()?;
    let log = options.log.take();
    let mut setup = options.setup(py, correlation_id, envelope)?;
    if let Some(log) = log {
        setup = setup.log(log.get().0.clone());
    }
    let episode = py.detach(|| setup.start()).map_err(|error| errors::log(py, &error.to_string()))?;
    Ok(Handle::new(episode.into_any()))
}

/// Resumes an episode at the end of its log: of the log file in the options, or of the lines.
#[pyfunction]
pub(super) fn resume(
    py: Python<'_>,
    correlation_id: &str,
    envelope: &Bound<'_, PyAny>,
    options: &Bound<'_, PyAny>,
    lines: Option<Vec<String>>,
) -> PyResult<Handle> {
    let mut options: Options = options.extract()?;
    let log = options.log.take();
    let setup = options.setup(py, correlation_id, envelope)?;
    let resumed = py.detach(|| match (log, lines) {
        (Some(log), _) => log.get().0.resume(setup).map_err(|error| error.to_string()),
        (None, lines) => {
            let lines = lines.unwrap_or_default();
            AnyEpisode::resume(setup.log(ResumedLog(lines.clone())), lines.iter().map(String::as_str))
                .map_err(|error| error.to_string())
        }
    });
    resumed.map(Handle::new).map_err(|error| errors::log(py, &error))
}

/// Log in memory that begins with the lines of a resumed episode.
struct ResumedLog(Vec<String>);

impl Log for ResumedLog {
    fn append(&mut self, lines: &[Line<'_>]) -> std::io::Result<()> {
        self.0.extend(lines.iter().map(|line| line.text.to_owned()));
        Ok(())
    }

    fn lines(&self) -> &[String] {
        &self.0
    }
}
