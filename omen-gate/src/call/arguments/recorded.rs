//! What of a call's arguments the audit log has.

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
    /// Their structure with numbers and booleans, and those texts that a rule of the tool is about.
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
    patterns: RegexSet,
}

/// A set of patterns that is too large when it is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLarge;

impl Recorder {
    pub(crate) fn new(mode: Recorded, secrets: Vec<Place>, patterns: &[String]) -> Result<Self, TooLarge> {
        let all = KNOWN.iter().copied().chain(patterns.iter().map(String::as_str));
        let patterns = RegexSetBuilder::new(all).size_limit(MAX_SIZE).build().map_err(|_| TooLarge)?;
        Ok(Self { mode, secrets, patterns })
    }

    /// What is recorded of the arguments of a call, if anything is.
    pub(crate) fn record(
        &self,
        rules: Option<&ArgumentRules>,
        args: &Map<String, Value>,
    ) -> Option<Map<String, Value>> {
        if self.mode == Recorded::Hash {
            return None;
        }
        let ruled: Vec<&Place> = match self.mode {
            Recorded::Redacted => rules.map(ArgumentRules::places).unwrap_or_default(),
            Recorded::Full | Recorded::Hash => Vec::new(),
        };
        Some(self.members(&ruled, args, &mut Vec::new()))
    }

    fn members<'a>(
        &self,
        ruled: &[&Place],
        members: &'a Map<String, Value>,
        at: &mut Vec<Step<'a>>,
    ) -> Map<String, Value> {
        let mut kept = Map::new();
        for (name, value) in members {
            at.push(Step::Key(name));
            let value = if secret::is_name(name) { masked() } else { self.value(ruled, value, at) };
            at.pop();
            let name = if self.patterns.is_match(name) { MASKED } else { name };
            kept.insert(name.to_owned(), value);
        }
        kept
    }

    fn value<'a>(&self, ruled: &[&Place], value: &'a Value, at: &mut Vec<Step<'a>>) -> Value {
        if self.secrets.iter().any(|place| place.is_at(at)) {
            return masked();
        }
        match value {
            Value::Object(members) => Value::Object(self.members(ruled, members, at)),
            Value::Array(items) => {
                let mut kept = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    at.push(Step::Index(index));
                    kept.push(self.value(ruled, item, at));
                    at.pop();
                }
                Value::Array(kept)
            }
            Value::String(text) => {
                let is_hidden = self.mode == Recorded::Redacted && !ruled.iter().any(|place| place.is_at(at));
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
        let empty = || Self { mode: Recorded::Hash, secrets: Vec::new(), patterns: RegexSet::empty() };
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
