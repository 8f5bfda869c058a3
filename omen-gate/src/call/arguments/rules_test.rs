//! Argument rules used as a test by the order rules.

use std::any::Any;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use omen_order::{Fit, ValueTest};
use serde_json::{Map, Value};

use super::rules::ArgumentRules;

/// Argument rules as a test of earlier calls.
#[derive(Debug)]
pub(crate) struct RulesTest {
    rules: ArgumentRules,
    content: String,
    folder: Arc<OnceLock<PathBuf>>,
    /// Whether an undecidable call counts as not fitting.
    is_strict: bool,
}

impl RulesTest {
    /// Creates a test. Paths are resolved against the folder once it is known.
    pub(crate) fn new(rules: ArgumentRules, content: String, folder: Arc<OnceLock<PathBuf>>) -> Self {
        Self { rules, content, folder, is_strict: false }
    }

    /// Creates a test in which an undecidable call does not fit.
    pub(crate) fn strict(rules: ArgumentRules, content: String, folder: Arc<OnceLock<PathBuf>>) -> Self {
        Self { is_strict: true, ..Self::new(rules, content, folder) }
    }

    pub(crate) fn rules(&self) -> &ArgumentRules {
        &self.rules
    }

    /// Returns the folder against which paths are resolved; empty if not yet known.
    pub(super) fn folder(&self) -> &Path {
        self.folder.get().map_or(Path::new(""), PathBuf::as_path)
    }

    fn fit(&self, value: &Value, fit: impl FnOnce(&ArgumentRules, &Map<String, Value>, &Path) -> Fit) -> Fit {
        match value.as_object().map_or(Fit::Unknown, |value| fit(&self.rules, value, self.folder())) {
            Fit::Unknown if self.is_strict => Fit::No,
            fit => fit,
        }
    }
}

impl ValueTest for RulesTest {
    fn judge(&self, value: &Value) -> Fit {
        self.fit(value, ArgumentRules::fit)
    }

    fn judge_recorded(&self, value: &Value) -> Fit {
        self.fit(value, ArgumentRules::fit_recorded)
    }

    fn content(&self) -> String {
        self.content.clone()
    }

    fn may_block(&self) -> bool {
        self.rules.asks_files()
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}
