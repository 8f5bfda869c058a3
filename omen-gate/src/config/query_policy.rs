//! PG-0: the policy that screens queries.
//!
//! ```
//! use omen_gate::Policy;
//!
//! let policy = Policy::new([(r"(?i)\bdelete\s+everything\b", "destructive wishes")])?;
//! assert!(policy.screen("What is the weather?").is_ok());
//! let blocked = policy.screen("Please DELETE everything.").unwrap_err();
//! assert_eq!(blocked.to_string(), "PG-0: the policy does not allow this query: destructive wishes");
//! # Ok::<(), omen_gate::BadPolicy>(())
//! ```

use regex::{RegexBuilder, RegexSet, RegexSetBuilder};

use crate::base::{Blocked, GateCode, bounded};

/// Policy with patterns for queries to refuse before any server is contacted, each with a reason.
///
/// A pattern matches anywhere in the query, literally: case matters unless the pattern has `(?i)`, and look-alike
/// letters are different. Matching takes time linear in the length of the query.
#[derive(Clone, Debug)]
pub struct Policy {
    patterns: RegexSet,
    reasons: Vec<String>,
    /// Maximum length of a query in bytes.
    longest: usize,
}

/// Error for an unusable policy, with the index of the faulty pattern, starting from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadPolicy {
    /// A pattern is an invalid regular expression, or compiles to more than 1 MiB.
    #[error("pattern {index} of the policy cannot be used: {why}")]
    Pattern {
        /// Index of the pattern.
        index: usize,
        /// Reason, truncated to a bounded length.
        why: String,
    },
    /// A pattern matches the empty text and thus every query.
    #[error("pattern {index} of the policy matches every query")]
    All {
        /// Index of the pattern.
        index: usize,
    },
    /// A pattern has a blank reason, so its refusals would explain nothing.
    #[error("pattern {index} of the policy has no reason")]
    NoReason {
        /// Index of the pattern.
        index: usize,
    },
    /// The patterns are too large in total.
    #[error("the policy as a whole cannot be used: {why}")]
    Whole {
        /// Reason, truncated to a bounded length.
        why: String,
    },
}

impl Policy {
    /// Default maximum length of a query in bytes; [`Policy::longest`] sets another limit.
    pub const MAX_QUERY: usize = 64 * 1024;
    /// Maximum number of patterns.
    pub const MAX_PATTERNS: usize = 1024;

    /// Compiles pairs of a pattern and a reason. A policy without patterns refuses only queries that are too long.
    ///
    /// # Errors
    /// If any pattern is unusable.
    pub fn new<P: AsRef<str>, R: Into<String>>(patterns: impl IntoIterator<Item = (P, R)>) -> Result<Self, BadPolicy> {
        let (mut texts, mut reasons) = (Vec::new(), Vec::new());
        for (index, (pattern, reason)) in patterns.into_iter().enumerate() {
            if index >= Self::MAX_PATTERNS {
                return Err(BadPolicy::Whole { why: format!("it has more than {} patterns", Self::MAX_PATTERNS) });
            }
            let regex = RegexBuilder::new(pattern.as_ref()).size_limit(PATTERN_SIZE).build();
            let regex = regex.map_err(|error| BadPolicy::Pattern { index, why: bounded(&error.to_string()) })?;
            if regex.is_match("") {
                return Err(BadPolicy::All { index });
            }
            let reason = reason.into();
            if reason.trim().is_empty() {
                return Err(BadPolicy::NoReason { index });
            }
            texts.push(pattern);
            reasons.push(bounded(&reason));
        }
        let patterns = RegexSetBuilder::new(texts).size_limit(SET_SIZE).build();
        let patterns = patterns.map_err(|error| BadPolicy::Whole { why: bounded(&error.to_string()) })?;
        Ok(Self { patterns, reasons, longest: Self::MAX_QUERY })
    }

    /// Sets the maximum length of a query in bytes.
    #[must_use]
    pub fn longest(self, bytes: usize) -> Self {
        Self { longest: bytes, ..self }
    }

    /// Accepts a query that matches no pattern. A refusal contains the reasons of the matching patterns, but does not
    /// quote the query.
    ///
    /// # Errors
    /// PG-0 if a pattern matches, or if the query is too long.
    pub fn screen(&self, query: &str) -> Result<(), Blocked> {
        self.within(query.len())?;
        self.allows([query])
    }

    /// Returns the patterns with their reasons.
    pub(crate) fn to_pairs(&self) -> Vec<(String, String)> {
        self.patterns.patterns().iter().cloned().zip(self.reasons.iter().cloned()).collect()
    }

    pub(crate) fn has_patterns(&self) -> bool {
        !self.patterns.is_empty()
    }

    /// Checks the length of a query in bytes.
    pub(crate) fn within(&self, bytes: usize) -> Result<(), Blocked> {
        if bytes > self.longest {
            let message = format!("the query exceeds {} bytes ({bytes} bytes)", self.longest);
            return Err(Blocked::new(
                GateCode::Pg0,
                message,
                "shorten the query, and refer to large data instead of including it",
            ));
        }
        Ok(())
    }

    /// Accepts the parts of a query if no pattern matches any of them.
    pub(crate) fn allows<'q>(&self, parts: impl IntoIterator<Item = &'q str>) -> Result<(), Blocked> {
        let mut reasons: Vec<&str> = Vec::new();
        for part in parts {
            for reason in self.patterns.matches(part).iter().filter_map(|index| self.reasons.get(index)) {
                if !reasons.contains(&reason.as_str()) {
                    reasons.push(reason);
                }
            }
        }
        if reasons.is_empty() {
            return Ok(());
        }
        let message = format!("the policy does not allow this query: {}", bounded(&reasons.join("; ")));
        Err(Blocked::new(GateCode::Pg0, message, "ask for something else, or ask the operator to narrow the pattern"))
    }
}

/// Maximum size of one compiled pattern in bytes.
const PATTERN_SIZE: usize = 1 << 20;
/// Maximum size of all compiled patterns together in bytes.
const SET_SIZE: usize = 1 << 24;
