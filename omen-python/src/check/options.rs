//! Options of a check, from Python arguments.

use std::num::NonZeroUsize;

use omen::finding::Code;
use omen::input::available_jobs;
use omen::{Level, Levels, ValidatorOptions};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::ErrorClass;

/// Reads levels, in their order: the last one for a code applies, as on the command line.
pub(super) fn options(levels: Option<&Bound<'_, PyDict>>) -> PyResult<ValidatorOptions> {
    let mut read = Levels::default();
    for (code, level) in levels.into_iter().flat_map(|levels| levels.iter()) {
        let py = code.py();
        let (code, level): (String, String) = (code.extract()?, level.extract()?);
        let Some((_, level)) = LEVELS.iter().find(|(name, _)| *name == level) else {
            let expected = LEVELS.map(|(name, _)| format!("`{name}`")).join(", ");
            let message = format!("invalid level `{level}` for `{code}`; expected one of {expected}");
            return Err(ErrorClass::Argument.at(py, &message, Some("levels"), None));
        };
        if code.eq_ignore_ascii_case(WARNINGS) {
            read.set_warnings(*level);
            continue;
        }
        let set = code.parse::<Code>().map_err(|error| error.to_string());
        let set = set.and_then(|code| read.set(code, *level).map_err(|error| error.to_string()));
        set.map_err(|message| ErrorClass::Argument.at(py, &message, Some("levels"), None))?;
    }
    Ok(ValidatorOptions { levels: read, ..ValidatorOptions::default() })
}

/// Returns the number of threads; by default, that of the system.
pub(super) fn jobs(py: Python<'_>, jobs: Option<usize>) -> PyResult<NonZeroUsize> {
    match jobs.map(NonZeroUsize::new) {
        None => Ok(available_jobs()),
        Some(Some(jobs)) => Ok(jobs),
        Some(None) => Err(ErrorClass::Argument.at(py, "expected at least 1 thread, found 0", Some("jobs"), None)),
    }
}

const LEVELS: [(&str, Level); 3] = [("allow", Level::Allow), ("warn", Level::Warn), ("deny", Level::Deny)];

/// Key for everything that is a warning at its point in the order.
const WARNINGS: &str = "warnings";
