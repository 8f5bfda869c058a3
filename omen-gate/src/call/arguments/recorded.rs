//! What of a call's arguments the audit log has.

use std::fmt;
use std::sync::Arc;

use regex::{RegexSet, RegexSetBuilder};
use serde_json::{Map, Value};

use super::mask::{MASKED, Step, masked};
use super::place::Place;
use super::rules::ArgumentRules;
use crate::base::secret;

/// How much of the arguments is recorded. Secrets are not, whatever it says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recorded {
    /// All of them.
    Full,
    /// Their structure with numbers and booleans, those names of members that the tool's schema or a rule has, and those texts that
    /// a rule of the tool is about.
    Redacted,
    /// Nothing but the hash of the call.
    #[default]
    Hash,
}

/// Writes down what is recorded of arguments.
#[derive(Clone, Debug)]
pub struct Recorder {
    mode: Recorded,
    /// Members that are secrets.
    secrets: Vec<Place>,
    /// Texts that are secrets.
    patterns: Arc<RegexSet>,
}

/// What may be written down of a call: of its arguments, and of a text that may quote them.
#[derive(Clone, Debug, Default)]
pub struct Recordable {
    args: Option<Map<String, Value>>,
    /// There if texts may be quoted that match none of these.
    secrets: Option<Arc<RegexSet>>,
}

impl Recordable {
    /// The arguments as they are recorded; none if their hash is all there is.
    #[must_use]
    pub fn arguments(&self) -> Option<&Map<String, Value>> {
        self.args.as_ref()
    }

    pub(crate) fn take_arguments(&mut self) -> Option<Map<String, Value>> {
        self.args.take()
    }

    /// Whether a text may be written down that may quote the call, such as the reason of a refusal or an answer: only if all
    /// arguments are, with nothing secret among them, and nothing in the text looks like a secret.
    #[must_use]
    pub fn may_quote(&self, text: &str) -> bool {
        self.secrets.as_ref().is_some_and(|secrets| !secrets.is_match(text))
    }

    /// The same for a value, by each name and text in it.
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

/// What a tool's call may have: the rules on it, and the names that its schema has.
pub(crate) struct Known<'k> {
    rules: Vec<&'k Place>,
    declares: &'k dyn Fn(&str) -> bool,
}

impl<'k> Known<'k> {
    pub(crate) fn new(rules: Option<&'k ArgumentRules>, declares: &'k dyn Fn(&str) -> bool) -> Self {
        Self { rules: rules.map(ArgumentRules::places).unwrap_or_default(), declares }
    }
}

impl fmt::Debug for Known<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Known").field("rules", &self.rules).finish_non_exhaustive()
    }
}

/// A set of patterns that is too large when it is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLarge;

impl Recorder {
    pub(crate) fn new(mode: Recorded, secrets: Vec<Place>, patterns: &[String]) -> Result<Self, TooLarge> {
        let all = KNOWN.iter().copied().chain(patterns.iter().map(String::as_str));
        let patterns = RegexSetBuilder::new(all).size_limit(MAX_SIZE).build().map_err(|_| TooLarge)?;
        Ok(Self { mode, secrets, patterns: Arc::new(patterns) })
    }

    /// Whether what is recorded depends on the schema of the tool.
    pub(crate) fn asks_for_names(&self) -> bool {
        self.mode == Recorded::Redacted
    }

    /// What is recorded of a call.
    pub(crate) fn record(&self, known: &Known<'_>, args: &Map<String, Value>) -> Recordable {
        if self.mode == Recorded::Hash {
            return Recordable::default();
        }
        let kept = self.members(known, args, &mut Vec::new());
        let is_whole = self.mode == Recorded::Full && kept == *args;
        Recordable { args: Some(kept), secrets: is_whole.then(|| Arc::clone(&self.patterns)) }
    }

    fn members<'a>(
        &self,
        known: &Known<'_>,
        members: &'a Map<String, Value>,
        at: &mut Vec<Step<'a>>,
    ) -> Map<String, Value> {
        let mut kept = Map::new();
        for (name, value) in members {
            at.push(Step::Key(name));
            let value = if secret::is_name(name) { masked() } else { self.value(known, value, at) };
            at.pop();
            let name = if self.hides_name(known, name) { MASKED } else { name };
            kept.insert(name.to_owned(), value);
        }
        kept
    }

    /// The names in a free map are data.
    fn hides_name(&self, known: &Known<'_>, name: &str) -> bool {
        let is_word = || (known.declares)(name) || known.rules.iter().any(|place| place.names(name));
        (self.mode == Recorded::Redacted && !is_word()) || self.patterns.is_match(name)
    }

    fn value<'a>(&self, known: &Known<'_>, value: &'a Value, at: &mut Vec<Step<'a>>) -> Value {
        if self.secrets.iter().any(|place| place.is_at(at)) {
            return masked();
        }
        match value {
            Value::Object(members) => Value::Object(self.members(known, members, at)),
            Value::Array(items) => {
                let mut kept = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    at.push(Step::Index(index));
                    kept.push(self.value(known, item, at));
                    at.pop();
                }
                Value::Array(kept)
            }
            Value::String(text) => {
                let is_hidden = self.mode == Recorded::Redacted && !known.rules.iter().any(|place| place.is_at(at));
                // A text that looks like the mark is one that nobody can tell from it.
                if is_hidden || self.patterns.is_match(text) { masked() } else { value.clone() }
            }
            Value::Number(_) | Value::Bool(_) | Value::Null => value.clone(),
        }
    }
}

impl Default for Recorder {
    fn default() -> Self {
        // What is recorded by default has no texts to compare.
        let empty = || Self { mode: Recorded::Hash, secrets: Vec::new(), patterns: Arc::new(RegexSet::empty()) };
        Self::new(Recorded::Hash, Vec::new(), &[]).unwrap_or_else(|_| empty())
    }
}

impl PartialEq for Recorder {
    fn eq(&self, other: &Self) -> bool {
        (self.mode, &self.secrets, self.patterns.patterns()) == (other.mode, &other.secrets, other.patterns.patterns())
    }
}

impl Eq for Recorder {}

/// Secrets that are known by their form: keys of cloud services, tokens of forges and chats, private keys, signed tokens.
const KNOWN: [&str; 7] = [
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----",
    r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    r"\bgh[pousr]_[A-Za-z0-9]{20,}",
    r"\bsk-[A-Za-z0-9_-]{20,}",
    r"\bxox[abeprs]-[A-Za-z0-9-]{10,}",
    r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.",
    r"(?i)\bbearer\s+[a-z0-9._~+/-]{16,}",
];
/// How large all patterns may get.
const MAX_SIZE: usize = 1 << 24;
