//! Diagnostic type for all findings about a log. Renderers are in other crates.

use std::fmt;
use std::ops::Range;

use crate::code::Code;

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The finding is reported, and the packet is accepted.
    Warning,
    /// The packet is rejected.
    Error,
}

impl Severity {
    /// Returns `error` or `warning`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Problem with one packet, or with the end of an episode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Code of the most specific rule that is violated (D37).
    pub code: Code,
    /// Codes of the other rules that the same problem violates.
    pub also: Vec<Code>,
    /// Severity of the problem.
    pub severity: Severity,
    /// JSON pointer (RFC 6901) into the packet.
    pub pointer: Option<String>,
    /// Position in the packet's line, in bytes, if known.
    pub span: Option<Range<usize>>,
    /// Description of the problem, with the figures needed to check it.
    pub message: String,
    /// Label of a few words for the position.
    pub label: Option<String>,
    /// Way to fix the problem.
    pub help: Option<String>,
    /// Machine-applicable replacement for the text at `span`, as described by `help`.
    pub edit: Option<Edit>,
    /// Notes with facts from elsewhere in the log.
    pub notes: Vec<String>,
}

/// Replacement for the text at the span of a diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Edit {
    /// New text; empty to remove the old one.
    pub text: String,
    /// Whether the edit changes only the notation and not what the log states. Other edits need a person's consent.
    pub is_safe: bool,
}

impl Edit {
    /// Creates an edit that does not change what the log states.
    #[must_use]
    pub fn safe(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_safe: true }
    }

    /// Creates an edit that makes the log state something new, which is probably what was meant.
    #[must_use]
    pub fn needs_consent(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_safe: false }
    }
}

impl Diagnostic {
    /// Creates an error with only a code and a message.
    #[cold]
    #[must_use]
    pub fn error(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            also: Vec::new(),
            severity: Severity::Error,
            pointer: None,
            span: None,
            message: message.into(),
            label: None,
            help: None,
            edit: None,
            notes: Vec::new(),
        }
    }

    /// Creates a warning with only a code and a message.
    #[cold]
    #[must_use]
    pub fn warning(code: Code, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, message) }
    }

    /// Returns the line and column of the problem in its text, both starting at 1, with columns in characters. `None`
    /// if the position is unknown.
    #[must_use]
    pub fn position(&self, text: &str) -> Option<(u64, u64)> {
        let before = text.get(..self.span.as_ref()?.start)?;
        let line = before.matches('\n').count() as u64 + 1;
        let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) as u64 + 1;
        Some((line, column))
    }

    /// Sets the position, as a JSON pointer into the packet.
    #[must_use]
    pub fn at(mut self, pointer: impl Into<String>) -> Self {
        self.pointer = Some(pointer.into());
        self
    }

    /// Adds the codes of other rules that the same problem violates.
    #[must_use]
    pub fn also(mut self, codes: &[Code]) -> Self {
        self.also.extend_from_slice(codes);
        self
    }

    /// Sets the label of a few words for the position.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Sets the help.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Sets the replacement for the text at the span.
    #[must_use]
    pub fn edit(mut self, edit: Edit) -> Self {
        self.edit = Some(edit);
        self
    }

    /// Adds a note with a fact from elsewhere in the log.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]", self.severity, self.code)?;
        if let Some(pointer) = &self.pointer {
            write!(f, " at `{pointer}`")?;
        }
        write!(f, ": {}", self.message)?;
        if let Some(help) = &self.help {
            write!(f, "; help: {help}")?;
        }
        Ok(())
    }
}
