//! Redaction of arguments in the audit log.

use std::fmt;
use std::sync::Arc;

use regex::{RegexSet, RegexSetBuilder};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::mask::{ArgumentStep, MASKED, masked};
use super::pointer::RulePointer;
use super::rules::ArgumentRules;
use crate::base::secret;

/// Extent to which arguments are recorded. Secrets are never recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArgumentRecording {
    /// All values.
    Full,
    /// Structure, numbers and booleans, member names known from the tool's schema or rules, and texts that a rule of
    /// the tool checks.
    Redacted,
    /// Only the hash of the call.
    #[default]
    Hash,
}

/// Redactor of arguments before they are recorded.
#[derive(Clone, Debug)]
pub struct Recorder {
    mode: ArgumentRecording,
    /// Pointers to members that hold secrets.
    secrets: Vec<RulePointer>,
    /// Patterns that match secrets.
    patterns: Arc<RegexSet>,
}

/// Recordable part of a call: its arguments, and a test for texts that may quote them.
#[derive(Clone, Debug, Default)]
pub struct Recordable {
    args: Option<Map<String, Value>>,
    /// Patterns of secrets, none of which a quotable text may match; `None` if no text may be quoted.
    secrets: Option<Arc<RegexSet>>,
}

impl Recordable {
    /// Returns the arguments to record; `None` if only the hash is recorded.
    #[must_use]
    pub fn arguments(&self) -> Option<&Map<String, Value>> {
        self.args.as_ref()
    }

    pub(crate) fn take_arguments(&mut self) -> Option<Map<String, Value>> {
        self.args.take()
    }

    /// Returns whether a text that may quote the call, such as a refusal's reason or an answer, may be recorded: only
    /// if all arguments are recorded, none is secret, and the text itself does not look like a secret.
    #[must_use]
    pub fn may_quote(&self, text: &str) -> bool {
        self.secrets.as_ref().is_some_and(|secrets| !secrets.is_match(text))
    }

    /// Returns whether a value may be recorded, judging by the names and texts in it; see [`may_quote`](Self::may_quote).
    #[must_use]
    pub fn may_keep(&self, value: &Value) -> bool {
        self.secrets.is_some()
            && match value {
                Value::String(text) => self.may_quote(text),
                Value::Array(items) => items.iter().all(|item| self.may_keep(item)),
                Value::Object(members) => members
                    .iter()
                    .all(|(name, value)| !secret::is_name(name) && self.may_quote(name) && self.may_keep(value)),
                Value::Null | Value::Bool(_) | Value::Number(_) => true,
            }
    }
}

/// Known names and texts of a tool's calls: its rules and the names in its schema.
pub(crate) struct KnownNames<'k> {
    rules: Vec<&'k RulePointer>,
    declares: &'k dyn Fn(&str) -> bool,
}

impl<'k> KnownNames<'k> {
    pub(crate) fn new(rules: Option<&'k ArgumentRules>, declares: &'k dyn Fn(&str) -> bool) -> Self {
        Self { rules: rules.map(ArgumentRules::places).unwrap_or_default(), declares }
    }
}

impl fmt::Debug for KnownNames<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Known").field("rules", &self.rules).finish_non_exhaustive()
    }
}

/// Error for a set of patterns whose compiled program is too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLarge;

impl Recorder {
    pub(crate) fn new(
        mode: ArgumentRecording,
        secrets: Vec<RulePointer>,
        patterns: &[String],
    ) -> Result<Self, TooLarge> {
        let all = KNOWN.iter().copied().chain(patterns.iter().map(String::as_str));
        let patterns = RegexSetBuilder::new(all).size_limit(MAX_SIZE).build().map_err(|_| TooLarge)?;
        Ok(Self { mode, secrets, patterns: Arc::new(patterns) })
    }

    /// Returns whether redaction depends on the tool's schema.
    pub(crate) fn asks_for_names(&self) -> bool {
        self.mode == ArgumentRecording::Redacted
    }

    /// Returns the recordable part of a call.
    pub(crate) fn record(&self, known: &KnownNames<'_>, args: &Map<String, Value>) -> Recordable {
        if self.mode == ArgumentRecording::Hash {
            return Recordable::default();
        }
        let kept = self.members(known, args, &mut Vec::new());
        let is_whole = self.mode == ArgumentRecording::Full && kept == *args;
        Recordable { args: Some(kept), secrets: is_whole.then(|| Arc::clone(&self.patterns)) }
    }

    fn members<'a>(
        &self,
        known: &KnownNames<'_>,
        members: &'a Map<String, Value>,
        at: &mut Vec<ArgumentStep<'a>>,
    ) -> Map<String, Value> {
        let mut kept = Map::new();
        for (name, value) in members {
            at.push(ArgumentStep::Key(name));
            let value = if secret::is_name(name) { masked() } else { self.value(known, value, at) };
            at.pop();
            let name = if self.hides_name(known, name) { MASKED } else { name };
            kept.insert(name.to_owned(), value);
        }
        kept
    }

    /// Returns whether a name is hidden: keys of a free-form map are data.
    fn hides_name(&self, known: &KnownNames<'_>, name: &str) -> bool {
        let is_word = || (known.declares)(name) || known.rules.iter().any(|place| place.names(name));
        (self.mode == ArgumentRecording::Redacted && !is_word()) || self.patterns.is_match(name)
    }

    fn value<'a>(&self, known: &KnownNames<'_>, value: &'a Value, at: &mut Vec<ArgumentStep<'a>>) -> Value {
        if self.secrets.iter().any(|place| place.is_at(at)) {
            return masked();
        }
        match value {
            Value::Object(members) => Value::Object(self.members(known, members, at)),
            Value::Array(items) => {
                let mut kept = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    at.push(ArgumentStep::Index(index));
                    kept.push(self.value(known, item, at));
                    at.pop();
                }
                Value::Array(kept)
            }
            Value::String(text) => {
                let is_hidden =
                    self.mode == ArgumentRecording::Redacted && !known.rules.iter().any(|place| place.is_at(at));
                // A text that looks like the placeholder cannot be distinguished from it.
                if is_hidden || self.patterns.is_match(text) { masked() } else { value.clone() }
            }
            Value::Number(_) | Value::Bool(_) | Value::Null => value.clone(),
        }
    }
}

impl Default for Recorder {
    fn default() -> Self {
        // The default mode matches no texts, so it needs no patterns.
        let empty =
            || Self { mode: ArgumentRecording::Hash, secrets: Vec::new(), patterns: Arc::new(RegexSet::empty()) };
        Self::new(ArgumentRecording::Hash, Vec::new(), &[]).unwrap_or_else(|_| empty())
    }
}

impl PartialEq for Recorder {
    fn eq(&self, other: &Self) -> bool {
        (self.mode, &self.secrets, self.patterns.patterns()) == (other.mode, &other.secrets, other.patterns.patterns())
    }
}

impl Eq for Recorder {}

/// Secrets with a recognizable form: cloud service keys, forge and chat tokens, private keys, signed tokens.
const KNOWN: [&str; 7] = [
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----",
    r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    r"\bgh[pousr]_[A-Za-z0-9]{20,}",
    r"\bsk-[A-Za-z0-9_-]{20,}",
    r"\bxox[abeprs]-[A-Za-z0-9-]{10,}",
    r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.",
    r"(?i)\bbearer\s+[a-z0-9._~+/-]{16,}",
];
/// Maximum size of the compiled patterns in bytes.
const MAX_SIZE: usize = 1 << 24;
